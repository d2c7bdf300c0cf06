CREATE TABLE `cut_summaries` (
	`cut_id` text PRIMARY KEY NOT NULL,
	`asset_id` text NOT NULL,
	`kept` integer,
	`open_marks` integer,
	FOREIGN KEY (`cut_id`) REFERENCES `cuts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `cut_summaries_by_asset` ON `cut_summaries` (`asset_id`,`cut_id`,`kept`,`open_marks`);--> statement-breakpoint
CREATE INDEX `cut_summaries_uncounted` ON `cut_summaries` (`cut_id`) WHERE kept is null;--> statement-breakpoint
INSERT INTO `cut_summaries` (`cut_id`, `asset_id`) SELECT `id`, `asset_id` FROM `cuts` WHERE `state` = 'completed' AND `superseded_by` IS NULL;
