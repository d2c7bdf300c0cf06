CREATE TABLE `render_shares` (
	`id` text PRIMARY KEY NOT NULL,
	`render_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`render_id`) REFERENCES `renders`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `render_shares_by_render` ON `render_shares` (`render_id`,`id`);--> statement-breakpoint
CREATE INDEX `render_shares_by_creator` ON `render_shares` (`created_by`);--> statement-breakpoint
CREATE INDEX `render_shares_by_expiry` ON `render_shares` (`expires_at`);