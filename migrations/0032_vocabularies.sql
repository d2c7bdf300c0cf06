CREATE TABLE `vocabularies` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`project_id` text,
	`entries` text NOT NULL,
	`revision` integer NOT NULL,
	`updated_by` text,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`updated_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `vocabularies_by_workspace` ON `vocabularies` (`workspace_id`);--> statement-breakpoint
CREATE INDEX `vocabularies_by_project` ON `vocabularies` (`project_id`);--> statement-breakpoint
CREATE INDEX `vocabularies_by_user` ON `vocabularies` (`updated_by`);--> statement-breakpoint
-- The entries count as text that is stored.
CREATE TRIGGER `text_vocabularies_insert` AFTER INSERT ON `vocabularies`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`entries`) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_vocabularies_update` AFTER UPDATE OF `entries` ON `vocabularies`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`entries`) - octet_length(OLD.`entries`) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_vocabularies_delete` AFTER DELETE ON `vocabularies`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - octet_length(OLD.`entries`) WHERE `id` = OLD.`workspace_id`;
END;
