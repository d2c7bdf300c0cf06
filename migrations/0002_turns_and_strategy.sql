ALTER TABLE `renders` ADD `encoded_share` real;--> statement-breakpoint
ALTER TABLE `renders` ADD `strategy_reasons` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `steps` ADD `served_at` integer;--> statement-breakpoint
CREATE INDEX `steps_by_user` ON `steps` (`user_id`,`processor_name`,`served_at`);