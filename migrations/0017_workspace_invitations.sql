ALTER TABLE `api_keys` ADD `is_device` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `one_time_tokens` ADD `notified_at` integer;--> statement-breakpoint
CREATE INDEX `one_time_tokens_by_email` ON `one_time_tokens` (`email`,`purpose`);--> statement-breakpoint
ALTER TABLE `users` ADD `workspace_grant_at` integer;
--> statement-breakpoint
-- The audit log says which keys devices have got.
UPDATE `api_keys` SET `is_device` = 1 WHERE `id` IN (
	SELECT `created`.`target_id` FROM `audit_log` `created` JOIN `audit_log` `approved` ON `approved`.`target_id` = `created`.`credential_id`
	WHERE `created`.`action` = 'api_key.created' AND `approved`.`action` = 'device.approved'
);
