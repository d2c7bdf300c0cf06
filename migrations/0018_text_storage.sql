ALTER TABLE `workspaces` ADD `text_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- The parameters of a completed step are not needed again, nor are those of an asset that was deleted.
UPDATE `steps` SET `params` = NULL WHERE `params` IS NOT NULL AND (`state` = 'completed' OR `input_asset_deleted`);--> statement-breakpoint
UPDATE `workspaces` SET `text_bytes` = coalesce((SELECT sum(octet_length(t.`script`) + octet_length(t.`options`) + coalesce(octet_length(t.`plan`), 0)) FROM `cuts` AS t WHERE t.`workspace_id` = `workspaces`.`id`), 0)
  + coalesce((SELECT sum(octet_length(t.`segments`) + octet_length(t.`texts`)) FROM `drafts` AS t WHERE t.`workspace_id` = `workspaces`.`id`), 0)
  + coalesce((SELECT sum(coalesce(octet_length(t.`params`), 0)) FROM `steps` AS t WHERE t.`workspace_id` = `workspaces`.`id`), 0);--> statement-breakpoint
CREATE TRIGGER `text_cuts_insert` AFTER INSERT ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`script`) + octet_length(NEW.`options`) + coalesce(octet_length(NEW.`plan`), 0) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_cuts_update` AFTER UPDATE OF `script`, `options`, `plan` ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + (octet_length(NEW.`script`) + octet_length(NEW.`options`) + coalesce(octet_length(NEW.`plan`), 0)) - (octet_length(OLD.`script`) + octet_length(OLD.`options`) + coalesce(octet_length(OLD.`plan`), 0)) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_cuts_delete` AFTER DELETE ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - (octet_length(OLD.`script`) + octet_length(OLD.`options`) + coalesce(octet_length(OLD.`plan`), 0)) WHERE `id` = OLD.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_drafts_insert` AFTER INSERT ON `drafts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`segments`) + octet_length(NEW.`texts`) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_drafts_update` AFTER UPDATE OF `segments`, `texts` ON `drafts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + (octet_length(NEW.`segments`) + octet_length(NEW.`texts`)) - (octet_length(OLD.`segments`) + octet_length(OLD.`texts`)) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_drafts_delete` AFTER DELETE ON `drafts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - (octet_length(OLD.`segments`) + octet_length(OLD.`texts`)) WHERE `id` = OLD.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_steps_insert` AFTER INSERT ON `steps`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + coalesce(octet_length(NEW.`params`), 0) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_steps_update` AFTER UPDATE OF `params` ON `steps`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + (coalesce(octet_length(NEW.`params`), 0)) - (coalesce(octet_length(OLD.`params`), 0)) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_steps_delete` AFTER DELETE ON `steps`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - (coalesce(octet_length(OLD.`params`), 0)) WHERE `id` = OLD.`workspace_id`;
END;
