ALTER TABLE `webhook_endpoints` ADD `disabled_at` integer;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `disabled_reason` text;--> statement-breakpoint
CREATE INDEX `deliveries_by_state` ON `deliveries` (`endpoint_id`,`state`,`created_at`,`id`);