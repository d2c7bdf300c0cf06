ALTER TABLE `users` ADD `two_factor_enabled` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `totp_secret` text;--> statement-breakpoint
ALTER TABLE `users` ADD `totp_pending_secret` text;--> statement-breakpoint
ALTER TABLE `users` ADD `totp_last_step` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `last_sign_in_at` integer;--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`is_personal` integer DEFAULT false NOT NULL,
	`created_by` text,
	`storage_quota_bytes` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
CREATE TABLE `workspace_members` (
	`workspace_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `user_id`),
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE INDEX `workspace_members_by_user` ON `workspace_members` (`user_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`authenticated_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`user_agent` text,
	`address` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `one_time_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`hash` text NOT NULL,
	`user_id` text,
	`email` text,
	`workspace_id` text,
	`data` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
CREATE UNIQUE INDEX `one_time_tokens_hash_unique` ON `one_time_tokens` (`hash`);--> statement-breakpoint
CREATE INDEX `one_time_tokens_by_user` ON `one_time_tokens` (`user_id`,`purpose`);--> statement-breakpoint
CREATE INDEX `one_time_tokens_by_workspace` ON `one_time_tokens` (`workspace_id`);--> statement-breakpoint
CREATE INDEX `one_time_tokens_by_expiry` ON `one_time_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`activated_at` integer,
	`used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE UNIQUE INDEX `recovery_codes_once` ON `recovery_codes` (`user_id`,`hash`);--> statement-breakpoint
CREATE TABLE `oidc_identities` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`email` text,
	`created_at` integer NOT NULL,
	`last_sign_in_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE UNIQUE INDEX `oidc_identities_once` ON `oidc_identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `oidc_identities_by_user` ON `oidc_identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `device_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`device_code_hash` text NOT NULL,
	`user_code_hash` text NOT NULL,
	`client_id` text NOT NULL,
	`scopes` text DEFAULT '["read","write"]' NOT NULL,
	`state` text NOT NULL,
	`user_id` text,
	`workspace_id` text,
	`address` text,
	`interval_seconds` integer NOT NULL,
	`last_polled_at` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE UNIQUE INDEX `device_codes_device_code_hash_unique` ON `device_codes` (`device_code_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `device_codes_user_code_hash_unique` ON `device_codes` (`user_code_hash`);--> statement-breakpoint
CREATE INDEX `device_codes_by_user` ON `device_codes` (`user_id`);--> statement-breakpoint
CREATE INDEX `device_codes_by_workspace` ON `device_codes` (`workspace_id`);--> statement-breakpoint
CREATE INDEX `device_codes_by_expiry` ON `device_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `mails` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`recipient` text NOT NULL,
	`template` text NOT NULL,
	`sealed_values` text,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`sent_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`state`,`due_at`);--> statement-breakpoint
CREATE INDEX `mails_by_user` ON `mails` (`user_id`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`actor_id` text,
	`actor_kind` text NOT NULL,
	`credential_id` text,
	`action` text NOT NULL,
	`target_kind` text,
	`target_id` text,
	`workspace_id` text,
	`address` text,
	`request_id` text,
	`details` text
);--> statement-breakpoint
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`actor_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_target` ON `audit_log` (`target_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_action` ON `audit_log` (`action`,`id`);--> statement-breakpoint
INSERT INTO `workspaces` (`id`, `name`, `is_personal`, `created_by`, `created_at`) SELECT `id`, 'Personal', true, `id`, `created_at` FROM `users`;--> statement-breakpoint
INSERT INTO `workspace_members` (`workspace_id`, `user_id`, `role`, `created_at`) SELECT `id`, `id`, 'owner', `created_at` FROM `users`;--> statement-breakpoint
-- The tables whose owner changes are rebuilt: copied with the parents first, dropped with the children first, so that foreign keys stay on and
-- no cascade deletes a row.
ALTER TABLE `api_keys` RENAME TO `__old_api_keys`;--> statement-breakpoint
ALTER TABLE `projects` RENAME TO `__old_projects`;--> statement-breakpoint
ALTER TABLE `assets` RENAME TO `__old_assets`;--> statement-breakpoint
ALTER TABLE `pipelines` RENAME TO `__old_pipelines`;--> statement-breakpoint
ALTER TABLE `steps` RENAME TO `__old_steps`;--> statement-breakpoint
ALTER TABLE `cuts` RENAME TO `__old_cuts`;--> statement-breakpoint
ALTER TABLE `renders` RENAME TO `__old_renders`;--> statement-breakpoint
ALTER TABLE `ledger` RENAME TO `__old_ledger`;--> statement-breakpoint
ALTER TABLE `holds` RENAME TO `__old_holds`;--> statement-breakpoint
ALTER TABLE `events` RENAME TO `__old_events`;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` RENAME TO `__old_webhook_endpoints`;--> statement-breakpoint
ALTER TABLE `deliveries` RENAME TO `__old_deliveries`;--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`scopes` text DEFAULT '["read","write"]' NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `api_keys` (`id`, `user_id`, `workspace_id`, `name`, `prefix`, `hash`, `created_at`, `last_used_at`, `expires_at`) SELECT `id`, `user_id`, `user_id`, `name`, `prefix`, `hash`, `created_at`, `last_used_at`, `expires_at` FROM `__old_api_keys`;--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`archived_at` integer,
	`created_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_activity_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
INSERT INTO `projects` (`id`, `workspace_id`, `name`, `state`, `archived_at`, `created_by`, `created_at`, `updated_at`, `last_activity_at`) SELECT `id`, `user_id`, `name`, `state`, `archived_at`, `user_id`, `created_at`, `updated_at`, `last_activity_at` FROM `__old_projects`;--> statement-breakpoint
CREATE TABLE `assets` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`project_id` text NOT NULL,
	`kind` text NOT NULL,
	`type` text,
	`state` text NOT NULL,
	`extension` text,
	`content_type` text,
	`demuxer` text,
	`upload_length` integer NOT NULL,
	`upload_active_at` integer NOT NULL,
	`upload_metadata` text,
	`filename` text,
	`external_id` text,
	`language` text,
	`duration` integer,
	`info` text,
	`audio_prepared` integer DEFAULT false NOT NULL,
	`video_prepared` integer DEFAULT false NOT NULL,
	`has_transcript` integer DEFAULT false NOT NULL,
	`has_poster` integer DEFAULT false NOT NULL,
	`has_preview` integer DEFAULT false NOT NULL,
	`has_waveform` integer DEFAULT false NOT NULL,
	`charge` integer,
	`derived_bytes` integer DEFAULT 0 NOT NULL,
	`payment` text NOT NULL,
	`error_code` text,
	`error_message` text,
	`created_by` text,
	`created_at` integer NOT NULL,
	`prepared_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
INSERT INTO `assets` (`id`, `workspace_id`, `project_id`, `kind`, `type`, `state`, `extension`, `content_type`, `demuxer`, `upload_length`, `upload_active_at`, `upload_metadata`, `filename`, `external_id`, `language`, `duration`, `info`, `audio_prepared`, `video_prepared`, `has_transcript`, `has_poster`, `has_preview`, `has_waveform`, `charge`, `derived_bytes`, `payment`, `error_code`, `error_message`, `created_by`, `created_at`, `prepared_at`) SELECT `id`, `user_id`, `project_id`, `kind`, `type`, `state`, `extension`, `content_type`, `demuxer`, `upload_length`, `upload_active_at`, `upload_metadata`, `filename`, `external_id`, `language`, `duration`, `info`, `audio_prepared`, `video_prepared`, `has_transcript`, `has_poster`, `has_preview`, `has_waveform`, `charge`, `derived_bytes`, `payment`, `error_code`, `error_message`, `user_id`, `created_at`, `prepared_at` FROM `__old_assets`;--> statement-breakpoint
CREATE TABLE `pipelines` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`state` text NOT NULL,
	`input_asset_id` text,
	`input_asset_deleted` integer DEFAULT false NOT NULL,
	`total_credits_reserved` integer DEFAULT 0 NOT NULL,
	`total_credits_consumed` integer DEFAULT 0 NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
INSERT INTO `pipelines` (`id`, `workspace_id`, `state`, `input_asset_id`, `input_asset_deleted`, `total_credits_reserved`, `total_credits_consumed`, `created_by`, `created_at`, `started_at`, `finished_at`) SELECT `id`, `user_id`, `state`, `input_asset_id`, `input_asset_deleted`, `total_credits_reserved`, `total_credits_consumed`, `user_id`, `created_at`, `started_at`, `finished_at` FROM `__old_pipelines`;--> statement-breakpoint
CREATE TABLE `steps` (
	`id` text PRIMARY KEY NOT NULL,
	`pipeline_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`step_order` integer NOT NULL,
	`processor_name` text NOT NULL,
	`state` text NOT NULL,
	`subject_id` text NOT NULL,
	`input_asset_id` text,
	`input_asset_deleted` integer DEFAULT false NOT NULL,
	`output_asset_id` text,
	`output_asset_deleted` integer DEFAULT false NOT NULL,
	`credits_cost` integer DEFAULT 0 NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`unclean_starts` integer DEFAULT 0 NOT NULL,
	`kernel_kills` integer DEFAULT 0 NOT NULL,
	`run_after` integer NOT NULL,
	`served_at` integer,
	`lease_owner` text,
	`lease_until` integer,
	`progress` real,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `steps` (`id`, `pipeline_id`, `workspace_id`, `step_order`, `processor_name`, `state`, `subject_id`, `input_asset_id`, `input_asset_deleted`, `output_asset_id`, `output_asset_deleted`, `credits_cost`, `attempts`, `failures`, `unclean_starts`, `kernel_kills`, `run_after`, `served_at`, `lease_owner`, `lease_until`, `progress`, `created_at`, `started_at`, `finished_at`) SELECT `id`, `pipeline_id`, `user_id`, `step_order`, `processor_name`, `state`, `subject_id`, `input_asset_id`, `input_asset_deleted`, `output_asset_id`, `output_asset_deleted`, `credits_cost`, `attempts`, `failures`, `unclean_starts`, `kernel_kills`, `run_after`, `served_at`, `lease_owner`, `lease_until`, `progress`, `created_at`, `started_at`, `finished_at` FROM `__old_steps`;--> statement-breakpoint
CREATE TABLE `cuts` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`asset_id` text NOT NULL,
	`state` text NOT NULL,
	`script` text NOT NULL,
	`options` text NOT NULL,
	`request_hash` text,
	`edited_from` text,
	`plan` text,
	`error_code` text,
	`error_message` text,
	`created_by` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
INSERT INTO `cuts` (`id`, `workspace_id`, `asset_id`, `state`, `script`, `options`, `request_hash`, `edited_from`, `plan`, `error_code`, `error_message`, `created_by`, `created_at`, `started_at`, `completed_at`) SELECT `id`, `user_id`, `asset_id`, `state`, `script`, `options`, `request_hash`, `edited_from`, `plan`, `error_code`, `error_message`, `user_id`, `created_at`, `started_at`, `completed_at` FROM `__old_cuts`;--> statement-breakpoint
CREATE TABLE `renders` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`asset_id` text NOT NULL,
	`cut_id` text,
	`state` text NOT NULL,
	`output` text NOT NULL,
	`resolved` text NOT NULL,
	`request_hash` text NOT NULL,
	`size_bytes` integer,
	`strategy` text,
	`encoded_share` real,
	`strategy_reasons` text DEFAULT '[]' NOT NULL,
	`warnings` text DEFAULT '[]' NOT NULL,
	`error_code` text,
	`error_message` text,
	`created_by` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`cut_id`) REFERENCES `cuts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
INSERT INTO `renders` (`id`, `workspace_id`, `asset_id`, `cut_id`, `state`, `output`, `resolved`, `request_hash`, `size_bytes`, `strategy`, `encoded_share`, `strategy_reasons`, `warnings`, `error_code`, `error_message`, `created_by`, `created_at`, `started_at`, `completed_at`) SELECT `id`, `user_id`, `asset_id`, `cut_id`, `state`, `output`, `resolved`, `request_hash`, `size_bytes`, `strategy`, `encoded_share`, `strategy_reasons`, `warnings`, `error_code`, `error_message`, `user_id`, `created_at`, `started_at`, `completed_at` FROM `__old_renders`;--> statement-breakpoint
CREATE TABLE `ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`delta` integer NOT NULL,
	`asset_id` text,
	`payment_invoice_id` text,
	`created_at` integer NOT NULL
);--> statement-breakpoint
INSERT INTO `ledger` (`id`, `workspace_id`, `type`, `delta`, `asset_id`, `payment_invoice_id`, `created_at`) SELECT `id`, `user_id`, `type`, `delta`, `asset_id`, `payment_invoice_id`, `created_at` FROM `__old_ledger`;--> statement-breakpoint
CREATE TABLE `holds` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`asset_id` text,
	`amount` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `holds` (`id`, `workspace_id`, `pipeline_id`, `asset_id`, `amount`, `created_at`) SELECT `id`, `user_id`, `pipeline_id`, `asset_id`, `amount`, `created_at` FROM `__old_holds`;--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`entity_id` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `events` (`id`, `workspace_id`, `type`, `entity_id`, `data`, `created_at`) SELECT `id`, `user_id`, `type`, `entity_id`, `data`, `created_at` FROM `__old_events`;--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`url` text NOT NULL,
	`event_types` text NOT NULL,
	`state` text NOT NULL,
	`secret` text NOT NULL,
	`old_secret` text,
	`old_secret_until` integer,
	`last_success_at` integer,
	`failing_since` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `webhook_endpoints` (`id`, `workspace_id`, `url`, `event_types`, `state`, `secret`, `old_secret`, `old_secret_until`, `last_success_at`, `failing_since`, `created_at`) SELECT `id`, `user_id`, `url`, `event_types`, `state`, `secret`, `old_secret`, `old_secret_until`, `last_success_at`, `failing_since`, `created_at` FROM `__old_webhook_endpoints`;--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`body` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`last_attempt_at` integer,
	`last_status` integer,
	`last_error` text,
	`last_milliseconds` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`endpoint_id`) REFERENCES `webhook_endpoints`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `deliveries` (`id`, `endpoint_id`, `workspace_id`, `event_id`, `type`, `body`, `state`, `attempts`, `due_at`, `last_attempt_at`, `last_status`, `last_error`, `last_milliseconds`, `created_at`) SELECT `id`, `endpoint_id`, `user_id`, `event_id`, `type`, `body`, `state`, `attempts`, `due_at`, `last_attempt_at`, `last_status`, `last_error`, `last_milliseconds`, `created_at` FROM `__old_deliveries`;--> statement-breakpoint
DROP TABLE `__old_deliveries`;--> statement-breakpoint
DROP TABLE `__old_webhook_endpoints`;--> statement-breakpoint
DROP TABLE `__old_events`;--> statement-breakpoint
DROP TABLE `__old_holds`;--> statement-breakpoint
DROP TABLE `__old_ledger`;--> statement-breakpoint
DROP TABLE `__old_renders`;--> statement-breakpoint
DROP TABLE `__old_cuts`;--> statement-breakpoint
DROP TABLE `__old_steps`;--> statement-breakpoint
DROP TABLE `__old_pipelines`;--> statement-breakpoint
DROP TABLE `__old_assets`;--> statement-breakpoint
DROP TABLE `__old_projects`;--> statement-breakpoint
DROP TABLE `__old_api_keys`;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_by_user` ON `api_keys` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_workspace` ON `api_keys` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `projects_by_activity` ON `projects` (`workspace_id`,`state`,`last_activity_at`,`id`);--> statement-breakpoint
CREATE INDEX `assets_by_workspace` ON `assets` (`workspace_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `assets_by_project` ON `assets` (`project_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `assets_by_state` ON `assets` (`workspace_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `assets_storage` ON `assets` (`workspace_id`,`upload_length`,`derived_bytes`);--> statement-breakpoint
CREATE INDEX `pipelines_by_workspace` ON `pipelines` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `pipelines_by_asset` ON `pipelines` (`input_asset_id`);--> statement-breakpoint
CREATE INDEX `steps_to_run` ON `steps` (`state`,`processor_name`,`run_after`);--> statement-breakpoint
CREATE INDEX `steps_by_pipeline` ON `steps` (`pipeline_id`,`step_order`);--> statement-breakpoint
CREATE INDEX `steps_by_subject` ON `steps` (`subject_id`);--> statement-breakpoint
CREATE INDEX `steps_by_workspace` ON `steps` (`workspace_id`,`processor_name`,`served_at`);--> statement-breakpoint
CREATE INDEX `steps_waiting` ON `steps` (`processor_name`,`workspace_id`,`run_after`,`id`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `steps_by_input` ON `steps` (`input_asset_id`);--> statement-breakpoint
CREATE INDEX `steps_by_output` ON `steps` (`output_asset_id`) WHERE output_asset_id is not null;--> statement-breakpoint
CREATE INDEX `cuts_by_workspace` ON `cuts` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `cuts_by_asset` ON `cuts` (`asset_id`,`id`);--> statement-breakpoint
CREATE INDEX `cuts_by_request` ON `cuts` (`request_hash`);--> statement-breakpoint
CREATE INDEX `renders_by_workspace` ON `renders` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `renders_by_asset` ON `renders` (`asset_id`,`id`);--> statement-breakpoint
CREATE INDEX `renders_by_cut` ON `renders` (`cut_id`,`id`);--> statement-breakpoint
CREATE INDEX `renders_by_request` ON `renders` (`request_hash`);--> statement-breakpoint
CREATE INDEX `renders_storage` ON `renders` (`workspace_id`,`size_bytes`);--> statement-breakpoint
CREATE INDEX `ledger_by_workspace` ON `ledger` (`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_charge` ON `ledger` (`asset_id`) WHERE type = 'consume_asset';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_refund` ON `ledger` (`asset_id`) WHERE type = 'refund';--> statement-breakpoint
CREATE INDEX `holds_by_workspace` ON `holds` (`workspace_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `holds_by_asset` ON `holds` (`asset_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `events_once` ON `events` (`entity_id`,`type`);--> statement-breakpoint
CREATE INDEX `events_by_workspace` ON `events` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_workspace` ON `webhook_endpoints` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`state`,`due_at`);--> statement-breakpoint
CREATE INDEX `deliveries_by_endpoint` ON `deliveries` (`endpoint_id`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_once` ON `deliveries` (`endpoint_id`,`event_id`);--> statement-breakpoint
CREATE INDEX `deliveries_waiting_by_workspace` ON `deliveries` (`workspace_id`,`due_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_waiting_by_endpoint` ON `deliveries` (`endpoint_id`,`due_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_waiting_tests` ON `deliveries` (`workspace_id`,`due_at`) WHERE state = 'pending' and type = 'webhook.test';--> statement-breakpoint
CREATE TRIGGER `audit_log_is_never_deleted` BEFORE DELETE ON `audit_log` BEGIN SELECT RAISE(ABORT, 'audit entries cannot be deleted'); END;--> statement-breakpoint
CREATE TRIGGER `audit_log_is_never_changed` BEFORE UPDATE OF `id`, `created_at`, `actor_kind`, `action`, `target_kind` ON `audit_log` BEGIN SELECT RAISE(ABORT, 'audit entries cannot be changed'); END;