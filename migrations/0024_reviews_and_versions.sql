CREATE TABLE `review_decisions` (
	`cut_id` text NOT NULL,
	`item_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`decision` text NOT NULL,
	`reviewed_by` text,
	`reviewed_at` integer NOT NULL,
	PRIMARY KEY(`cut_id`, `item_id`),
	FOREIGN KEY (`cut_id`) REFERENCES `cuts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`reviewed_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `review_decisions_by_user` ON `review_decisions` (`reviewed_by`);--> statement-breakpoint
CREATE TABLE `reviews` (
	`cut_id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`revision` integer NOT NULL,
	FOREIGN KEY (`cut_id`) REFERENCES `cuts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `assets` ADD `name` text;--> statement-breakpoint
ALTER TABLE `assets` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `assets` ADD `note` text;--> statement-breakpoint
ALTER TABLE `cuts` ADD `name` text;--> statement-breakpoint
ALTER TABLE `cuts` ADD `note` text;--> statement-breakpoint
ALTER TABLE `cuts` ADD `superseded_by` text;--> statement-breakpoint
ALTER TABLE `cuts` ADD `superseded_at` integer;--> statement-breakpoint
ALTER TABLE `cuts` ADD `review_items` text;--> statement-breakpoint
CREATE INDEX `cuts_superseded` ON `cuts` (`superseded_at`) WHERE superseded_at is not null;--> statement-breakpoint
ALTER TABLE `live_events` ADD `revision` integer;--> statement-breakpoint
-- Names, notes and items of the review count like plans.
DROP TRIGGER `text_cuts_insert`;--> statement-breakpoint
DROP TRIGGER `text_cuts_update`;--> statement-breakpoint
DROP TRIGGER `text_cuts_delete`;--> statement-breakpoint
CREATE TRIGGER `text_cuts_insert` AFTER INSERT ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + octet_length(NEW.`script`) + octet_length(NEW.`options`) + coalesce(octet_length(NEW.`plan`), 0) + coalesce(octet_length(NEW.`review_items`), 0) + coalesce(octet_length(NEW.`name`), 0) + coalesce(octet_length(NEW.`note`), 0) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_cuts_update` AFTER UPDATE OF `script`, `options`, `plan`, `review_items`, `name`, `note` ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + (octet_length(NEW.`script`) + octet_length(NEW.`options`) + coalesce(octet_length(NEW.`plan`), 0) + coalesce(octet_length(NEW.`review_items`), 0) + coalesce(octet_length(NEW.`name`), 0) + coalesce(octet_length(NEW.`note`), 0)) - (octet_length(OLD.`script`) + octet_length(OLD.`options`) + coalesce(octet_length(OLD.`plan`), 0) + coalesce(octet_length(OLD.`review_items`), 0) + coalesce(octet_length(OLD.`name`), 0) + coalesce(octet_length(OLD.`note`), 0)) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_cuts_delete` AFTER DELETE ON `cuts`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - (octet_length(OLD.`script`) + octet_length(OLD.`options`) + coalesce(octet_length(OLD.`plan`), 0) + coalesce(octet_length(OLD.`review_items`), 0) + coalesce(octet_length(OLD.`name`), 0) + coalesce(octet_length(OLD.`note`), 0)) WHERE `id` = OLD.`workspace_id`;
END;--> statement-breakpoint
-- An asset is inserted without them. The brackets of its tags are not counted.
CREATE TRIGGER `text_assets_update` AFTER UPDATE OF `name`, `note`, `tags` ON `assets`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` + (coalesce(octet_length(NEW.`name`), 0) + coalesce(octet_length(NEW.`note`), 0) + octet_length(NEW.`tags`) - 2) - (coalesce(octet_length(OLD.`name`), 0) + coalesce(octet_length(OLD.`note`), 0) + octet_length(OLD.`tags`) - 2) WHERE `id` = NEW.`workspace_id`;
END;--> statement-breakpoint
CREATE TRIGGER `text_assets_delete` AFTER DELETE ON `assets`
BEGIN
  UPDATE `workspaces` SET `text_bytes` = `text_bytes` - (coalesce(octet_length(OLD.`name`), 0) + coalesce(octet_length(OLD.`note`), 0) + octet_length(OLD.`tags`) - 2) WHERE `id` = OLD.`workspace_id`;
END;--> statement-breakpoint
DROP TRIGGER `live_assets_update`;--> statement-breakpoint
CREATE TRIGGER `live_assets_update` AFTER UPDATE OF `state`, `type`, `extension`, `content_type`, `filename`, `name`, `tags`, `note`, `project_id`, `duration`, `payment`, `audio_prepared`, `has_transcript`, `has_poster`, `has_preview`, `has_waveform` ON `assets`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`type` IS NOT OLD.`type` OR NEW.`extension` IS NOT OLD.`extension` OR NEW.`content_type` IS NOT OLD.`content_type` OR NEW.`filename` IS NOT OLD.`filename` OR NEW.`name` IS NOT OLD.`name` OR NEW.`tags` IS NOT OLD.`tags` OR NEW.`note` IS NOT OLD.`note` OR NEW.`project_id` IS NOT OLD.`project_id` OR NEW.`duration` IS NOT OLD.`duration` OR NEW.`payment` IS NOT OLD.`payment` OR NEW.`audio_prepared` IS NOT OLD.`audio_prepared` OR NEW.`has_transcript` IS NOT OLD.`has_transcript` OR NEW.`has_poster` IS NOT OLD.`has_poster` OR NEW.`has_preview` IS NOT OLD.`has_preview` OR NEW.`has_waveform` IS NOT OLD.`has_waveform`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'asset.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(NEW.`render_id`, NEW.`cut_id`, NEW.`id`) AND `processor_name` <> 'preview' ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
DROP TRIGGER `live_cuts_update`;--> statement-breakpoint
CREATE TRIGGER `live_cuts_update` AFTER UPDATE OF `state`, `name`, `note`, `superseded_by` ON `cuts`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`name` IS NOT OLD.`name` OR NEW.`note` IS NOT OLD.`note` OR NEW.`superseded_by` IS NOT OLD.`superseded_by`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'cut.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = NEW.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_drafts_insert` AFTER INSERT ON `drafts`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `revision`, `created_at`)
	VALUES (NEW.`workspace_id`, 'draft.updated', NEW.`cut_id`, 'saved', NEW.`revision`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_drafts_update` AFTER UPDATE OF `revision` ON `drafts`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `revision`, `created_at`)
	VALUES (NEW.`workspace_id`, 'draft.updated', NEW.`cut_id`, 'saved', NEW.`revision`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_drafts_delete` AFTER DELETE ON `drafts`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `revision`, `created_at`)
	VALUES (OLD.`workspace_id`, 'draft.updated', OLD.`cut_id`, 'deleted', OLD.`revision`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_reviews_insert` AFTER INSERT ON `reviews`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `revision`, `created_at`)
	VALUES (NEW.`workspace_id`, 'review.updated', NEW.`cut_id`, NULL, NEW.`revision`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_reviews_update` AFTER UPDATE OF `revision` ON `reviews`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `revision`, `created_at`)
	VALUES (NEW.`workspace_id`, 'review.updated', NEW.`cut_id`, NULL, NEW.`revision`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;