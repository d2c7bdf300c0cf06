DROP INDEX `cut_summaries_by_asset`;--> statement-breakpoint
ALTER TABLE `cut_summaries` ADD `is_set_aside` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `cut_summaries_by_asset` ON `cut_summaries` (`asset_id`,`is_set_aside`,cut_id desc,`kept`,`open_marks`);--> statement-breakpoint
ALTER TABLE `cuts` ADD `is_set_aside` integer DEFAULT false NOT NULL;--> statement-breakpoint
-- A cut that is set aside counts only if all cuts of the recording are.
DROP TRIGGER `totals_assets_insert`;--> statement-breakpoint
CREATE TRIGGER `totals_assets_insert` AFTER INSERT ON `assets`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT n.`cut_id` FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id` ORDER BY n.`is_set_aside`, n.`cut_id` DESC LIMIT 1)
	WHERE a.`id` = NEW.`id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
DROP TRIGGER `totals_assets_update`;--> statement-breakpoint
CREATE TRIGGER `totals_assets_update` AFTER UPDATE OF `project_id`, `kind`, `state`, `duration` ON `assets`
	WHEN NEW.`project_id` IS NOT OLD.`project_id` OR NEW.`kind` IS NOT OLD.`kind` OR NEW.`state` IS NOT OLD.`state` OR NEW.`duration` IS NOT OLD.`duration`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT n.`cut_id` FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id` ORDER BY n.`is_set_aside`, n.`cut_id` DESC LIMIT 1)
	WHERE a.`id` = NEW.`id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
DROP TRIGGER `totals_cuts_insert`;--> statement-breakpoint
CREATE TRIGGER `totals_cuts_insert` AFTER INSERT ON `cut_summaries`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`asset_id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT n.`cut_id` FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id` ORDER BY n.`is_set_aside`, n.`cut_id` DESC LIMIT 1)
	WHERE a.`id` = NEW.`asset_id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
DROP TRIGGER `totals_cuts_update`;--> statement-breakpoint
CREATE TRIGGER `totals_cuts_update` AFTER UPDATE OF `kept`, `open_marks` ON `cut_summaries`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`asset_id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT n.`cut_id` FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id` ORDER BY n.`is_set_aside`, n.`cut_id` DESC LIMIT 1)
	WHERE a.`id` = NEW.`asset_id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
DROP TRIGGER `totals_cuts_delete`;--> statement-breakpoint
CREATE TRIGGER `totals_cuts_delete` AFTER DELETE ON `cut_summaries`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = OLD.`asset_id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT n.`cut_id` FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id` ORDER BY n.`is_set_aside`, n.`cut_id` DESC LIMIT 1)
	WHERE a.`id` = OLD.`asset_id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;
