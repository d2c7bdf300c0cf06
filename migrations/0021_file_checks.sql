CREATE TABLE `file_checks` (
	`id` text PRIMARY KEY NOT NULL,
	`path` text NOT NULL,
	`bytes` integer NOT NULL,
	`modified_at` integer NOT NULL,
	`sha256` text,
	`checked_at` integer,
	`decoded_at` integer,
	`problem` text,
	`detail` text,
	`found` text,
	`found_at` integer,
	`accepted_at` integer,
	`restore_error` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `file_checks_by_path` ON `file_checks` (`path`);--> statement-breakpoint
CREATE INDEX `file_checks_open` ON `file_checks` (`found_at`,`id`) WHERE problem is not null and accepted_at is null;--> statement-breakpoint
CREATE INDEX `file_checks_by_time` ON `file_checks` (`checked_at`);--> statement-breakpoint
CREATE INDEX `file_checks_by_creation` ON `file_checks` (`created_at`);--> statement-breakpoint
CREATE TRIGGER `file_checks_of_asset` AFTER DELETE ON `assets` BEGIN
	DELETE FROM `file_checks` WHERE `path` > 'media/' || OLD.`id` || '/' AND `path` < 'media/' || OLD.`id` || '0';
END;--> statement-breakpoint
CREATE TRIGGER `file_checks_of_render` AFTER DELETE ON `renders` BEGIN
	DELETE FROM `file_checks` WHERE `path` > 'renders/' || OLD.`id` || '/' AND `path` < 'renders/' || OLD.`id` || '0';
END;
