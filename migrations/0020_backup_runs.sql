CREATE TABLE `backup_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`path` text NOT NULL,
	`figures` text,
	`error` text,
	`started_at` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
CREATE INDEX `backup_runs_by_kind` ON `backup_runs` (`kind`,`state`,`id`);--> statement-breakpoint
ALTER TABLE `renders` ADD `made_with` text;