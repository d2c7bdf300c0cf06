CREATE INDEX `audit_log_by_workspace` ON `audit_log` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `assets_by_creator` ON `assets` (`created_by`);--> statement-breakpoint
CREATE INDEX `cuts_by_creator` ON `cuts` (`created_by`);--> statement-breakpoint
CREATE INDEX `pipelines_by_creator` ON `pipelines` (`created_by`);--> statement-breakpoint
CREATE INDEX `projects_by_creator` ON `projects` (`created_by`);--> statement-breakpoint
CREATE INDEX `renders_by_creator` ON `renders` (`created_by`);--> statement-breakpoint
-- An entry of the audit log can lose personal data, and what belonged to a purged account can be given an ID that belongs to nobody. Nothing else changes.
DROP TRIGGER `audit_log_is_never_changed`;--> statement-breakpoint
CREATE TRIGGER `audit_log_is_never_changed` BEFORE UPDATE ON `audit_log` WHEN
	NEW.`id` IS NOT OLD.`id` OR NEW.`created_at` IS NOT OLD.`created_at` OR NEW.`actor_kind` IS NOT OLD.`actor_kind`
	OR NEW.`action` IS NOT OLD.`action` OR NEW.`target_kind` IS NOT OLD.`target_kind`
	OR (NEW.`credential_id` IS NOT OLD.`credential_id` AND NEW.`credential_id` IS NOT NULL)
	OR (NEW.`address` IS NOT OLD.`address` AND NEW.`address` IS NOT NULL)
	OR (NEW.`request_id` IS NOT OLD.`request_id` AND NEW.`request_id` IS NOT NULL)
	OR (NEW.`details` IS NOT OLD.`details` AND NEW.`details` IS NOT NULL)
	OR (NEW.`actor_id` IS NOT OLD.`actor_id` AND (NEW.`actor_id` IS NULL OR OLD.`actor_id` IS NULL OR EXISTS (SELECT 1 FROM `users` WHERE `id` = NEW.`actor_id`)))
	OR (NEW.`target_id` IS NOT OLD.`target_id` AND (NEW.`target_id` IS NULL OR OLD.`target_id` IS NULL OR EXISTS (SELECT 1 FROM `users` WHERE `id` = NEW.`target_id`)))
	OR (NEW.`workspace_id` IS NOT OLD.`workspace_id` AND (NEW.`workspace_id` IS NULL OR OLD.`workspace_id` IS NULL OR EXISTS (SELECT 1 FROM `workspaces` WHERE `id` = NEW.`workspace_id`)))
BEGIN SELECT RAISE(ABORT, 'audit entries cannot be changed'); END;--> statement-breakpoint
CREATE TRIGGER `audit_log_is_never_replaced` BEFORE INSERT ON `audit_log` WHEN EXISTS (SELECT 1 FROM `audit_log` WHERE `id` = NEW.`id`)
BEGIN SELECT RAISE(ABORT, 'audit entries cannot be replaced'); END;
