CREATE TABLE `planned_cuts` (
	`asset_id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`mode` text NOT NULL,
	`script` text NOT NULL,
	`created_by` text,
	`error_message` text,
	`retry_at` integer,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `planned_cuts_by_creator` ON `planned_cuts` (`created_by`);--> statement-breakpoint
ALTER TABLE `projects` ADD `cut_mode` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `cut_language` text;--> statement-breakpoint
-- The script counts as text that is stored.
CREATE TRIGGER `text_planned_cuts_insert` AFTER INSERT ON `planned_cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`script`) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_planned_cuts_delete` AFTER DELETE ON `planned_cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - octet_length(OLD.`script`) WHERE `id` = OLD.`workspace_id`;
END;--> statement-breakpoint
DROP TRIGGER `live_projects_update`;--> statement-breakpoint
CREATE TRIGGER `live_projects_update` AFTER UPDATE OF `state`, `name`, `cut_mode`, `cut_language` ON `projects`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`name` IS NOT OLD.`name`
		OR NEW.`cut_mode` IS NOT OLD.`cut_mode` OR NEW.`cut_language` IS NOT OLD.`cut_language`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `created_at`)
	VALUES (NEW.`workspace_id`, 'project.updated', NEW.`id`, NEW.`state`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
