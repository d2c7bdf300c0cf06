ALTER TABLE `assets` ADD `derived_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `steps` ADD `unclean_starts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `steps` ADD `kernel_kills` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `disabled_at` integer;--> statement-breakpoint
CREATE INDEX `assets_storage` ON `assets` (`user_id`,`upload_length`,`derived_bytes`);--> statement-breakpoint
CREATE INDEX `renders_storage` ON `renders` (`user_id`,`size_bytes`);--> statement-breakpoint
UPDATE `idempotency` SET `body` = json_set(`body`, '$.secret', NULL) WHERE json_valid(`body`) AND json_extract(`body`, '$.secret') IS NOT NULL;--> statement-breakpoint
UPDATE `assets` SET `derived_bytes` = 1 WHERE `state` = 'failed';--> statement-breakpoint
CREATE INDEX `deliveries_waiting_by_user` ON `deliveries` (`user_id`,`due_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_waiting_by_endpoint` ON `deliveries` (`endpoint_id`,`due_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_waiting_tests` ON `deliveries` (`user_id`,`due_at`) WHERE state = 'pending' and type = 'webhook.test';