-- Previews are hidden pipelines: their changes are no live events, and events of their recordings belong to the pipeline that prepared it.
ALTER TABLE `pipelines` ADD `is_hidden` integer DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE `pipelines` SET `is_hidden` = true WHERE EXISTS (SELECT 1 FROM `steps` WHERE `pipeline_id` = `pipelines`.`id` AND `processor_name` = 'preview');--> statement-breakpoint
DROP TRIGGER `live_pipelines_insert`;--> statement-breakpoint
CREATE TRIGGER `live_pipelines_insert` AFTER INSERT ON `pipelines`
	WHEN NOT NEW.`is_hidden`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'pipeline.updated', NEW.`id`, NEW.`state`, NEW.`id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
DROP TRIGGER `live_pipelines_update`;--> statement-breakpoint
CREATE TRIGGER `live_pipelines_update` AFTER UPDATE OF `state`, `input_asset_deleted` ON `pipelines`
	WHEN NOT NEW.`is_hidden` AND (NEW.`state` IS NOT OLD.`state` OR NEW.`input_asset_deleted` IS NOT OLD.`input_asset_deleted`)
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'pipeline.updated', NEW.`id`, NEW.`state`, NEW.`id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
DROP TRIGGER `live_pipelines_delete`;--> statement-breakpoint
CREATE TRIGGER `live_pipelines_delete` AFTER DELETE ON `pipelines`
	WHEN NOT OLD.`is_hidden`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'pipeline.updated', OLD.`id`, 'deleted', OLD.`id`, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
DROP TRIGGER `live_assets_insert`;--> statement-breakpoint
CREATE TRIGGER `live_assets_insert` AFTER INSERT ON `assets`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'asset.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(NEW.`render_id`, NEW.`cut_id`, NEW.`id`) AND `processor_name` <> 'preview' ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
DROP TRIGGER `live_assets_update`;--> statement-breakpoint
CREATE TRIGGER `live_assets_update` AFTER UPDATE OF `state`, `type`, `extension`, `content_type`, `filename`, `duration`, `payment`, `audio_prepared`, `has_transcript`, `has_poster`, `has_preview`, `has_waveform` ON `assets`
	WHEN NEW.`state` IS NOT OLD.`state` OR NEW.`type` IS NOT OLD.`type` OR NEW.`extension` IS NOT OLD.`extension` OR NEW.`content_type` IS NOT OLD.`content_type` OR NEW.`filename` IS NOT OLD.`filename` OR NEW.`duration` IS NOT OLD.`duration` OR NEW.`payment` IS NOT OLD.`payment` OR NEW.`audio_prepared` IS NOT OLD.`audio_prepared` OR NEW.`has_transcript` IS NOT OLD.`has_transcript` OR NEW.`has_poster` IS NOT OLD.`has_poster` OR NEW.`has_preview` IS NOT OLD.`has_preview` OR NEW.`has_waveform` IS NOT OLD.`has_waveform`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (NEW.`workspace_id`, 'asset.updated', NEW.`id`, NEW.`state`, (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(NEW.`render_id`, NEW.`cut_id`, NEW.`id`) AND `processor_name` <> 'preview' ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;--> statement-breakpoint
DROP TRIGGER `live_assets_delete`;--> statement-breakpoint
CREATE TRIGGER `live_assets_delete` AFTER DELETE ON `assets`
BEGIN
	INSERT INTO `live_events` (`workspace_id`, `type`, `entity_id`, `state`, `pipeline_id`, `created_at`)
	VALUES (OLD.`workspace_id`, 'asset.updated', OLD.`id`, 'deleted', (SELECT `pipeline_id` FROM `steps` WHERE `subject_id` = coalesce(OLD.`render_id`, OLD.`cut_id`, OLD.`id`) AND `processor_name` <> 'preview' ORDER BY `id` DESC LIMIT 1), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;