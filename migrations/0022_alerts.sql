CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`problem` text NOT NULL,
	`severity` text NOT NULL,
	`title` text NOT NULL,
	`detail` text NOT NULL,
	`found_at` integer NOT NULL,
	`reported_at` integer,
	`resolved_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_one_open` ON `alerts` (`problem`) WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX `alerts_by_report` ON `alerts` (`problem`,`reported_at`);--> statement-breakpoint
CREATE INDEX `alerts_by_end` ON `alerts` (`resolved_at`);--> statement-breakpoint
CREATE TABLE `disk_samples` (
	`taken_at` integer PRIMARY KEY NOT NULL,
	`free_bytes` integer NOT NULL
);
