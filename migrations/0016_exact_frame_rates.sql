-- The fraction is that of the source where frames keep their times; a rate that was requested was a whole number.
UPDATE `renders` SET `output` = json_set(`output`, '$.exact_frame_rate', json('null'));--> statement-breakpoint
UPDATE `renders` SET `output` = json_set(`output`, '$.exact_frame_rate', json((
  SELECT json_extract(`assets`.`info`, '$.video.frameRate') FROM `assets` WHERE `assets`.`id` = `renders`.`asset_id`
))) WHERE json_type(`resolved`, '$.video') = 'object' AND json_type(`resolved`, '$.video.frameRate') = 'null';
