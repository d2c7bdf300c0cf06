CREATE TABLE `accounts_revision` (
	`revision` integer NOT NULL
);--> statement-breakpoint
INSERT INTO `accounts_revision` (`revision`) VALUES (0);--> statement-breakpoint
-- Each change that caches of credentials and of access depend on counts. The last use of a key, the last use of a session, the last
-- sign-in and the size of texts are in no cache, and neither is a new session.
CREATE TRIGGER `revision_users_insert` AFTER INSERT ON `users`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_users_update` AFTER UPDATE OF `id`, `email`, `password_hash`, `first_name`, `last_name`, `is_admin`, `email_verified_at`, `deleted_at`, `created_at`, `disabled_at`, `two_factor_enabled`, `totp_secret`, `totp_pending_secret`, `totp_last_step`, `invited_by`, `workspace_grant_at` ON `users`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_users_delete` AFTER DELETE ON `users`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_api_keys_insert` AFTER INSERT ON `api_keys`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_api_keys_update` AFTER UPDATE OF `id`, `user_id`, `workspace_id`, `name`, `prefix`, `hash`, `scopes`, `created_at`, `expires_at`, `is_device` ON `api_keys`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_api_keys_delete` AFTER DELETE ON `api_keys`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_sessions_update` AFTER UPDATE OF `id`, `user_id`, `created_at`, `authenticated_at`, `user_agent`, `address` ON `sessions`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
-- A use of a session makes it end later.
CREATE TRIGGER `revision_sessions_shorten` AFTER UPDATE OF `expires_at` ON `sessions`
	WHEN NEW.`expires_at` < OLD.`expires_at`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_sessions_delete` AFTER DELETE ON `sessions`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_workspaces_insert` AFTER INSERT ON `workspaces`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_workspaces_update` AFTER UPDATE OF `id`, `name`, `is_personal`, `created_by`, `storage_quota_bytes`, `created_at` ON `workspaces`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_workspaces_delete` AFTER DELETE ON `workspaces`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_workspace_members_insert` AFTER INSERT ON `workspace_members`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_workspace_members_update` AFTER UPDATE OF `workspace_id`, `user_id`, `role`, `created_at` ON `workspace_members`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `revision_workspace_members_delete` AFTER DELETE ON `workspace_members`
BEGIN
	UPDATE `accounts_revision` SET `revision` = `revision` + 1;
END;
