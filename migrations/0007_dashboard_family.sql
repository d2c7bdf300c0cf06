CREATE TABLE `invoices` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`order_id` text,
	`subscription_id` text,
	`payment_invoice_id` text NOT NULL,
	`state` text NOT NULL,
	`price_id` text,
	`description` text,
	`credits` integer NOT NULL,
	`amount` integer NOT NULL,
	`amount_refunded` integer DEFAULT 0 NOT NULL,
	`currency` text NOT NULL,
	`url` text,
	`created_at` integer NOT NULL,
	`paid_at` integer
);--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_payment_invoice_id_unique` ON `invoices` (`payment_invoice_id`);--> statement-breakpoint
CREATE INDEX `invoices_by_workspace` ON `invoices` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_order` ON `invoices` (`order_id`);--> statement-breakpoint
CREATE TABLE `orders` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`user_id` text,
	`provider` text NOT NULL,
	`state` text NOT NULL,
	`price_id` text NOT NULL,
	`price_name` text NOT NULL,
	`price_kind` text NOT NULL,
	`credits` integer NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`interval` text,
	`provider_checkout_id` text,
	`decided_by` text,
	`created_at` integer NOT NULL,
	`decided_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
CREATE INDEX `orders_by_workspace` ON `orders` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_state` ON `orders` (`state`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_user` ON `orders` (`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_by_checkout` ON `orders` (`provider_checkout_id`);--> statement-breakpoint
CREATE TABLE `payment_customers` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`provider_customer_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE UNIQUE INDEX `payment_customers_provider_customer_id_unique` ON `payment_customers` (`provider_customer_id`);--> statement-breakpoint
CREATE TABLE `payment_events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`occurred_at` integer NOT NULL,
	`received_at` integer NOT NULL
);--> statement-breakpoint
CREATE INDEX `payment_events_by_age` ON `payment_events` (`received_at`);--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`user_id` text,
	`provider` text NOT NULL,
	`provider_subscription_id` text NOT NULL,
	`state` text NOT NULL,
	`price_id` text NOT NULL,
	`current_period_end` integer,
	`is_ending` integer DEFAULT false NOT NULL,
	`provider_updated_at` integer,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_provider_subscription_id_unique` ON `subscriptions` (`provider_subscription_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_by_workspace` ON `subscriptions` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `subscriptions_by_user` ON `subscriptions` (`user_id`);--> statement-breakpoint
CREATE TABLE `data_exports` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`notification_id` text NOT NULL,
	`state` text NOT NULL,
	`has_media` integer DEFAULT false NOT NULL,
	`size_bytes` integer,
	`error_message` text,
	`failures` integer DEFAULT 0 NOT NULL,
	`requested_at` integer NOT NULL,
	`finished_at` integer,
	`expires_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`notification_id`) REFERENCES `notifications`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE UNIQUE INDEX `data_exports_one_pending` ON `data_exports` (`user_id`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `data_exports_by_user` ON `data_exports` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `data_exports_by_notification` ON `data_exports` (`notification_id`);--> statement-breakpoint
CREATE INDEX `data_exports_by_state` ON `data_exports` (`state`,`expires_at`);--> statement-breakpoint
CREATE TABLE `live_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`workspace_id` text,
	`user_id` text,
	`type` text NOT NULL,
	`entity_id` text NOT NULL,
	`state` text,
	`pipeline_id` text,
	`created_at` integer NOT NULL
);--> statement-breakpoint
CREATE INDEX `live_events_by_workspace` ON `live_events` (`workspace_id`,`id`) WHERE workspace_id is not null;--> statement-breakpoint
CREATE INDEX `live_events_by_user` ON `live_events` (`user_id`,`id`) WHERE user_id is not null;--> statement-breakpoint
CREATE INDEX `live_events_by_pipeline` ON `live_events` (`pipeline_id`,`id`) WHERE pipeline_id is not null;--> statement-breakpoint
CREATE INDEX `live_events_by_age` ON `live_events` (`created_at`);--> statement-breakpoint
CREATE TABLE `notification_preferences` (
	`user_id` text NOT NULL,
	`type` text NOT NULL,
	`channel` text NOT NULL,
	`enabled` integer NOT NULL,
	PRIMARY KEY(`user_id`, `type`, `channel`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE TABLE `notifications` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`workspace_id` text,
	`type` text NOT NULL,
	`payload` text NOT NULL,
	`cause` text NOT NULL,
	`is_hidden` integer DEFAULT false NOT NULL,
	`mail_state` text NOT NULL,
	`mailed_at` integer,
	`read_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
CREATE INDEX `notifications_by_user` ON `notifications` (`user_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_once` ON `notifications` (`user_id`,`type`,`cause`);--> statement-breakpoint
CREATE INDEX `notifications_unread` ON `notifications` (`user_id`,`id`) WHERE read_at is null;--> statement-breakpoint
CREATE INDEX `notifications_to_mail` ON `notifications` (`user_id`,`type`,`created_at`) WHERE mail_state = 'waiting';--> statement-breakpoint
CREATE INDEX `notifications_mailed` ON `notifications` (`user_id`,`type`,`mailed_at`) WHERE mailed_at is not null;--> statement-breakpoint
ALTER TABLE `steps` RENAME TO `__old_steps`;--> statement-breakpoint
CREATE TABLE `steps` (
	`id` text PRIMARY KEY NOT NULL,
	`pipeline_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`step_order` integer NOT NULL,
	`processor_name` text NOT NULL,
	`state` text NOT NULL,
	`params` text,
	`subject_id` text,
	`input_asset_id` text,
	`input_asset_deleted` integer DEFAULT false NOT NULL,
	`output_asset_id` text,
	`output_asset_deleted` integer DEFAULT false NOT NULL,
	`credits_cost` integer DEFAULT 0 NOT NULL,
	`error_code` text,
	`error_message` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`unclean_starts` integer DEFAULT 0 NOT NULL,
	`kernel_kills` integer DEFAULT 0 NOT NULL,
	`run_after` integer,
	`served_at` integer,
	`lease_owner` text,
	`lease_until` integer,
	`progress` real,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `steps` (`id`, `pipeline_id`, `workspace_id`, `step_order`, `processor_name`, `state`, `subject_id`, `input_asset_id`, `input_asset_deleted`, `output_asset_id`, `output_asset_deleted`, `credits_cost`, `attempts`, `failures`, `unclean_starts`, `kernel_kills`, `run_after`, `served_at`, `lease_owner`, `lease_until`, `progress`, `created_at`, `started_at`, `finished_at`)
	SELECT `id`, `pipeline_id`, `workspace_id`, `step_order`, `processor_name`, `state`, `subject_id`, `input_asset_id`, `input_asset_deleted`, `output_asset_id`, `output_asset_deleted`, `credits_cost`, `attempts`, `failures`, `unclean_starts`, `kernel_kills`, `run_after`, `served_at`, `lease_owner`, `lease_until`, `progress`, `created_at`, `started_at`, `finished_at` FROM `__old_steps`;--> statement-breakpoint
DROP TABLE `__old_steps`;--> statement-breakpoint
CREATE INDEX `steps_to_run` ON `steps` (`state`,`processor_name`,`run_after`);--> statement-breakpoint
CREATE INDEX `steps_by_pipeline` ON `steps` (`pipeline_id`,`step_order`);--> statement-breakpoint
CREATE INDEX `steps_by_subject` ON `steps` (`subject_id`);--> statement-breakpoint
CREATE INDEX `steps_by_workspace` ON `steps` (`workspace_id`,`processor_name`,`served_at`);--> statement-breakpoint
CREATE INDEX `steps_waiting` ON `steps` (`processor_name`,`workspace_id`,`run_after`,`id`) WHERE state = 'pending' and run_after is not null;--> statement-breakpoint
CREATE INDEX `steps_by_input` ON `steps` (`input_asset_id`);--> statement-breakpoint
CREATE INDEX `steps_by_output` ON `steps` (`output_asset_id`) WHERE output_asset_id is not null;--> statement-breakpoint
ALTER TABLE `assets` ADD `is_length_deferred` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `assets` ADD `put_until` integer;--> statement-breakpoint
ALTER TABLE `assets` ADD `cut_id` text;--> statement-breakpoint
ALTER TABLE `assets` ADD `render_id` text;--> statement-breakpoint
DROP INDEX `assets_storage`;--> statement-breakpoint
CREATE INDEX `assets_storage` ON `assets` (`workspace_id`,`upload_length`,`derived_bytes`) WHERE cut_id is null and render_id is null;--> statement-breakpoint
CREATE UNIQUE INDEX `assets_by_cut` ON `assets` (`cut_id`) WHERE cut_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `assets_by_render` ON `assets` (`render_id`) WHERE render_id is not null;--> statement-breakpoint
ALTER TABLE `ledger` ADD `step_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_step_charge` ON `ledger` (`step_id`) WHERE type = 'consume_step';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_topup` ON `ledger` (`payment_invoice_id`) WHERE type = 'topup';--> statement-breakpoint
CREATE INDEX `ledger_by_invoice` ON `ledger` (`payment_invoice_id`) WHERE payment_invoice_id is not null;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `is_chain` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `holds_of_steps` ON `holds` (`pipeline_id`) WHERE asset_id is null;
