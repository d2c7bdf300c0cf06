-- Each change that a page shows becomes a row of live_events, in the transaction of the change.
-- Steps of chains only: a pipeline of one step has the state of its step.
CREATE TRIGGER `live_projects_insert` AFTER INSERT ON `projects`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `created_at`)
	VALUES (NEW.`workspace_id`, 'project.updated', NEW.`id`, NEW.`state`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_projects_update` AFTER UPDATE OF `state`, `name` ON `projects`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`name` IS NOT OLD.`name`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `created_at`)
	VALUES (NEW.`workspace_id`, 'project.updated', NEW.`id`, NEW.`state`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_projects_delete` AFTER DELETE ON `projects`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `created_at`)
	VALUES (OLD.`workspace_id`, 'project.updated', OLD.`id`, 'deleted', CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_assets_insert` AFTER INSERT ON `assets`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'asset.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(NEW.`render_id`, NEW.`cut_id`, NEW.`id`) ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_assets_update` AFTER UPDATE OF `state`, `type`, `extension`, `content_type`, `filename`, `duration`, `payment`, `audio_prepared`, `has_transcript`, `has_poster`, `has_preview`, `has_waveform` ON `assets`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`type` IS NOT OLD.`type` OR NEW.`extension` IS NOT OLD.`extension` OR NEW.`content_type` IS NOT OLD.`content_type` OR NEW.`filename` IS NOT OLD.`filename` OR NEW.`duration` IS NOT OLD.`duration` OR NEW.`payment` IS NOT OLD.`payment` OR NEW.`audio_prepared` IS NOT OLD.`audio_prepared` OR NEW.`has_transcript` IS NOT OLD.`has_transcript` OR NEW.`has_poster` IS NOT OLD.`has_poster` OR NEW.`has_preview` IS NOT OLD.`has_preview` OR NEW.`has_waveform` IS NOT OLD.`has_waveform`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'asset.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(NEW.`render_id`, NEW.`cut_id`, NEW.`id`) ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_assets_delete` AFTER DELETE ON `assets`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'asset.updated', OLD.`id`, 'deleted', (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(OLD.`render_id`, OLD.`cut_id`, OLD.`id`) ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_cuts_insert` AFTER INSERT ON `cuts`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'cut.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = NEW.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_cuts_update` AFTER UPDATE OF `state` ON `cuts`
	WHEN NEW.`state` IS NOT OLD.`state`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'cut.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = NEW.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_cuts_delete` AFTER DELETE ON `cuts`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'cut.updated', OLD.`id`, 'deleted', (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = OLD.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_renders_insert` AFTER INSERT ON `renders`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'render.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = NEW.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_renders_update` AFTER UPDATE OF `state` ON `renders`
	WHEN NEW.`state` IS NOT OLD.`state`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'render.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = NEW.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_renders_delete` AFTER DELETE ON `renders`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'render.updated', OLD.`id`, 'deleted', (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = OLD.`id` ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_pipelines_insert` AFTER INSERT ON `pipelines`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'pipeline.updated', NEW.`id`, NEW.`state`, NEW.`id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_pipelines_update` AFTER UPDATE OF `state`, `input_asset_deleted` ON `pipelines`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`input_asset_deleted` IS NOT OLD.`input_asset_deleted`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'pipeline.updated', NEW.`id`, NEW.`state`, NEW.`id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_pipelines_delete` AFTER DELETE ON `pipelines`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'pipeline.updated', OLD.`id`, 'deleted', OLD.`id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_steps_update` AFTER UPDATE OF `state`, `output_asset_deleted` ON `steps`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`output_asset_deleted` IS NOT OLD.`output_asset_deleted`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	SELECT `workspace_id`, 'pipeline.updated', `id`, `state`, `id`, CAST(unixepoch('subsec') * 1000 AS INTEGER)
	FROM `pipelines` WHERE `id` = NEW.`pipeline_id` AND `is_chain`;
END;--> statement-breakpoint
CREATE TRIGGER `live_ledger_insert` AFTER INSERT ON `ledger`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'credits.updated', NEW.`workspace_id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_holds_insert` AFTER INSERT ON `holds`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'credits.updated', NEW.`workspace_id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_holds_update` AFTER UPDATE OF `amount` ON `holds`
	WHEN NEW.`amount` IS NOT OLD.`amount`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'credits.updated', NEW.`workspace_id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_holds_delete` AFTER DELETE ON `holds`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'credits.updated', OLD.`workspace_id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_notifications_insert` AFTER INSERT ON `notifications`
	WHEN NOT NEW.`is_hidden`
BEGIN
	INSERT INTO `live_events` (`user_id`, `type`, `entity_id`, `state`, `created_at`)
	VALUES (NEW.`user_id`, 'notification.created', NEW.`id`, CASE NEW.`type` WHEN 'data_export_ready' THEN json_extract(NEW.`payload`, '$.status') END, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
CREATE TRIGGER `live_notifications_update` AFTER UPDATE OF `payload` ON `notifications`
	WHEN NOT NEW.`is_hidden` AND CASE NEW.`type` WHEN 'data_export_ready' THEN json_extract(NEW.`payload`, '$.status') END IS NOT CASE OLD.`type` WHEN 'data_export_ready' THEN json_extract(OLD.`payload`, '$.status') END
BEGIN
	INSERT INTO `live_events` (`user_id`, `type`, `entity_id`, `state`, `created_at`)
	VALUES (NEW.`user_id`, 'notification.created', NEW.`id`, CASE NEW.`type` WHEN 'data_export_ready' THEN json_extract(NEW.`payload`, '$.status') END, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
-- After the deletions that foreign keys cause, which are events too.
CREATE TRIGGER `live_workspaces_delete` AFTER DELETE ON `workspaces`
BEGIN
	DELETE FROM `live_events` WHERE `workspace_id` = OLD.`id`;
END;--> statement-breakpoint
CREATE TRIGGER `live_users_delete` AFTER DELETE ON `users`
BEGIN
	DELETE FROM `live_events` WHERE `user_id` = OLD.`id`;
END;