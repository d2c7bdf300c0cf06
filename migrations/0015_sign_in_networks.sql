CREATE TABLE `sign_in_networks` (
	`user_id` text NOT NULL,
	`network` text NOT NULL,
	`last_sign_in_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `network`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `users` ADD `invited_by` text REFERENCES users(id) ON DELETE set null;