CREATE TABLE `worker_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`worker_id` text NOT NULL,
	`kind` text NOT NULL,
	`step_id` text NOT NULL,
	`subject_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`outcome` text NOT NULL,
	`media_seconds` real,
	FOREIGN KEY (`worker_id`) REFERENCES `workers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `worker_runs_by_worker` ON `worker_runs` (`worker_id`,`ended_at`,`id`);--> statement-breakpoint
CREATE INDEX `worker_runs_by_end` ON `worker_runs` (`ended_at`);--> statement-breakpoint
CREATE TABLE `worker_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `worker_tokens_hash_unique` ON `worker_tokens` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `worker_tokens_valid_name` ON `worker_tokens` (`name`) WHERE revoked_at is null;--> statement-breakpoint
CREATE TABLE `workers` (
	`id` text PRIMARY KEY NOT NULL,
	`token_id` text NOT NULL,
	`name` text NOT NULL,
	`version` text NOT NULL,
	`protocol` integer NOT NULL,
	`jobs` text NOT NULL,
	`slots` integer NOT NULL,
	`encoding` text NOT NULL,
	`sandbox` text NOT NULL,
	`languages` text NOT NULL,
	`free_bytes` integer NOT NULL,
	`is_draining` integer DEFAULT false NOT NULL,
	`speed` real,
	`last_seen_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`token_id`) REFERENCES `worker_tokens`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workers_token_id_unique` ON `workers` (`token_id`);