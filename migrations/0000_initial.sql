CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`user_id` text NOT NULL,
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
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`state`,`due_at`);--> statement-breakpoint
CREATE INDEX `deliveries_by_endpoint` ON `deliveries` (`endpoint_id`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_once` ON `deliveries` (`endpoint_id`,`event_id`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`type` text NOT NULL,
	`entity_id` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_once` ON `events` (`entity_id`,`type`);--> statement-breakpoint
CREATE INDEX `events_by_user` ON `events` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `idempotency` (
	`user_id` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`headers` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `key`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `idempotency_by_age` ON `idempotency` (`created_at`);--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`url` text NOT NULL,
	`event_types` text NOT NULL,
	`state` text NOT NULL,
	`secret` text NOT NULL,
	`old_secret` text,
	`old_secret_until` integer,
	`last_success_at` integer,
	`failing_since` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_user` ON `webhook_endpoints` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_by_user` ON `api_keys` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `assets` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
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
	`payment` text NOT NULL,
	`error_code` text,
	`error_message` text,
	`created_at` integer NOT NULL,
	`prepared_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `assets_by_user` ON `assets` (`user_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `assets_by_project` ON `assets` (`project_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `assets_by_state` ON `assets` (`user_id`,`state`,`id`);--> statement-breakpoint
CREATE TABLE `cuts` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`asset_id` text NOT NULL,
	`state` text NOT NULL,
	`script` text NOT NULL,
	`options` text NOT NULL,
	`request_hash` text,
	`edited_from` text,
	`plan` text,
	`error_code` text,
	`error_message` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `cuts_by_user` ON `cuts` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `cuts_by_asset` ON `cuts` (`asset_id`,`id`);--> statement-breakpoint
CREATE INDEX `cuts_by_request` ON `cuts` (`request_hash`);--> statement-breakpoint
CREATE TABLE `holds` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`asset_id` text,
	`amount` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `holds_by_user` ON `holds` (`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `holds_by_asset` ON `holds` (`asset_id`);--> statement-breakpoint
CREATE TABLE `ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`type` text NOT NULL,
	`delta` integer NOT NULL,
	`asset_id` text,
	`payment_invoice_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `ledger_by_user` ON `ledger` (`user_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_charge` ON `ledger` (`asset_id`) WHERE type = 'consume_asset';--> statement-breakpoint
CREATE TABLE `pipelines` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`state` text NOT NULL,
	`input_asset_id` text,
	`input_asset_deleted` integer DEFAULT false NOT NULL,
	`total_credits_reserved` integer DEFAULT 0 NOT NULL,
	`total_credits_consumed` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `pipelines_by_user` ON `pipelines` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `pipelines_by_asset` ON `pipelines` (`input_asset_id`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`archived_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_activity_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `projects_by_activity` ON `projects` (`user_id`,`state`,`last_activity_at`,`id`);--> statement-breakpoint
CREATE TABLE `renders` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`asset_id` text NOT NULL,
	`cut_id` text,
	`state` text NOT NULL,
	`output` text NOT NULL,
	`resolved` text NOT NULL,
	`request_hash` text NOT NULL,
	`size_bytes` integer,
	`strategy` text,
	`warnings` text DEFAULT '[]' NOT NULL,
	`error_code` text,
	`error_message` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`cut_id`) REFERENCES `cuts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `renders_by_user` ON `renders` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `renders_by_asset` ON `renders` (`asset_id`,`id`);--> statement-breakpoint
CREATE INDEX `renders_by_cut` ON `renders` (`cut_id`,`id`);--> statement-breakpoint
CREATE INDEX `renders_by_request` ON `renders` (`request_hash`);--> statement-breakpoint
CREATE TABLE `steps` (
	`id` text PRIMARY KEY NOT NULL,
	`pipeline_id` text NOT NULL,
	`user_id` text NOT NULL,
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
	`run_after` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`progress` real,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `steps_to_run` ON `steps` (`state`,`processor_name`,`run_after`);--> statement-breakpoint
CREATE INDEX `steps_by_pipeline` ON `steps` (`pipeline_id`,`step_order`);--> statement-breakpoint
CREATE INDEX `steps_by_subject` ON `steps` (`subject_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`password_hash` text,
	`first_name` text,
	`last_name` text,
	`is_admin` integer DEFAULT false NOT NULL,
	`email_verified_at` integer,
	`deleted_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);