ALTER TABLE `cuts` ADD `keep_edits_of` text;--> statement-breakpoint
ALTER TABLE `cuts` ADD `basis` text;--> statement-breakpoint
-- The basis counts as text that is stored.
DROP TRIGGER `text_cuts_insert`;--> statement-breakpoint
DROP TRIGGER `text_cuts_update`;--> statement-breakpoint
DROP TRIGGER `text_cuts_delete`;--> statement-breakpoint
CREATE TRIGGER `text_cuts_insert` AFTER INSERT ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`script`) + octet_length(NEW.`options`) + coalesce(octet_length(NEW.`plan`), 0) + coalesce(octet_length(NEW.`basis`), 0) + coalesce(octet_length(NEW.`review_items`), 0) + coalesce(octet_length(NEW.`name`), 0) + coalesce(octet_length(NEW.`note`), 0) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_cuts_update` AFTER UPDATE OF `script`, `options`, `plan`, `basis`, `review_items`, `name`, `note` ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + (octet_length(NEW.`script`) + octet_length(NEW.`options`) + coalesce(octet_length(NEW.`plan`), 0) + coalesce(octet_length(NEW.`basis`), 0) + coalesce(octet_length(NEW.`review_items`), 0) + coalesce(octet_length(NEW.`name`), 0) + coalesce(octet_length(NEW.`note`), 0)) - (octet_length(OLD.`script`) + octet_length(OLD.`options`) + coalesce(octet_length(OLD.`plan`), 0) + coalesce(octet_length(OLD.`basis`), 0) + coalesce(octet_length(OLD.`review_items`), 0) + coalesce(octet_length(OLD.`name`), 0) + coalesce(octet_length(OLD.`note`), 0)) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_cuts_delete` AFTER DELETE ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - (octet_length(OLD.`script`) + octet_length(OLD.`options`) + coalesce(octet_length(OLD.`plan`), 0) + coalesce(octet_length(OLD.`basis`), 0) + coalesce(octet_length(OLD.`review_items`), 0) + coalesce(octet_length(OLD.`name`), 0) + coalesce(octet_length(OLD.`note`), 0)) WHERE `id` = OLD.`workspace_id`;
END;
