CREATE INDEX `steps_waiting` ON `steps` (`processor_name`,`user_id`,`run_after`,`id`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `steps_by_input` ON `steps` (`input_asset_id`);--> statement-breakpoint
CREATE INDEX `steps_by_output` ON `steps` (`output_asset_id`) WHERE output_asset_id is not null;