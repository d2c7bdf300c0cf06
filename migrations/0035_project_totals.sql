CREATE TABLE `project_totals` (
	`project_id` text PRIMARY KEY NOT NULL,
	`recordings` integer NOT NULL,
	`duration` integer NOT NULL,
	`cut_duration` integer NOT NULL,
	`kept` integer NOT NULL,
	`without_cut` integer NOT NULL,
	`to_review` integer NOT NULL,
	`open_marks` integer NOT NULL,
	`uncounted` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `recording_totals` (
	`asset_id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`duration` integer NOT NULL,
	`cut_duration` integer NOT NULL,
	`kept` integer NOT NULL,
	`without_cut` integer NOT NULL,
	`to_review` integer NOT NULL,
	`open_marks` integer NOT NULL,
	`uncounted` integer NOT NULL,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
-- Sums change with the rows that they are of.
CREATE TRIGGER `recording_totals_insert` AFTER INSERT ON `recording_totals`
BEGIN
	INSERT INTO `project_totals` (`project_id`, `recordings`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	VALUES (NEW.`project_id`, 1, NEW.`duration`, NEW.`cut_duration`, NEW.`kept`, NEW.`without_cut`, NEW.`to_review`, NEW.`open_marks`, NEW.`uncounted`)
	ON CONFLICT (`project_id`) DO UPDATE SET `recordings` = `recordings` + 1, `duration` = `duration` + excluded.`duration`, `cut_duration` = `cut_duration` + excluded.`cut_duration`, `kept` = `kept` + excluded.`kept`, `without_cut` = `without_cut` + excluded.`without_cut`, `to_review` = `to_review` + excluded.`to_review`, `open_marks` = `open_marks` + excluded.`open_marks`, `uncounted` = `uncounted` + excluded.`uncounted`;
END;--> statement-breakpoint
CREATE TRIGGER `recording_totals_delete` AFTER DELETE ON `recording_totals`
BEGIN
	UPDATE `project_totals` SET `recordings` = `recordings` - 1, `duration` = `duration` - OLD.`duration`, `cut_duration` = `cut_duration` - OLD.`cut_duration`, `kept` = `kept` - OLD.`kept`, `without_cut` = `without_cut` - OLD.`without_cut`, `to_review` = `to_review` - OLD.`to_review`, `open_marks` = `open_marks` - OLD.`open_marks`, `uncounted` = `uncounted` - OLD.`uncounted`
	WHERE `project_id` = OLD.`project_id`;
END;--> statement-breakpoint
-- A row is counted again when anything has changed of which it is made.
CREATE TRIGGER `totals_assets_insert` AFTER INSERT ON `assets`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT max(n.`cut_id`) FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id`)
	WHERE a.`id` = NEW.`id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
CREATE TRIGGER `totals_assets_update` AFTER UPDATE OF `project_id`, `kind`, `state`, `duration` ON `assets`
	WHEN NEW.`project_id` IS NOT OLD.`project_id` OR NEW.`kind` IS NOT OLD.`kind` OR NEW.`state` IS NOT OLD.`state` OR NEW.`duration` IS NOT OLD.`duration`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT max(n.`cut_id`) FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id`)
	WHERE a.`id` = NEW.`id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
CREATE TRIGGER `totals_cuts_insert` AFTER INSERT ON `cut_summaries`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`asset_id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT max(n.`cut_id`) FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id`)
	WHERE a.`id` = NEW.`asset_id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
CREATE TRIGGER `totals_cuts_update` AFTER UPDATE OF `kept`, `open_marks` ON `cut_summaries`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = NEW.`asset_id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT max(n.`cut_id`) FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id`)
	WHERE a.`id` = NEW.`asset_id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
CREATE TRIGGER `totals_cuts_delete` AFTER DELETE ON `cut_summaries`
BEGIN
	DELETE FROM `recording_totals` WHERE `asset_id` = OLD.`asset_id`;
	INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT max(n.`cut_id`) FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id`)
	WHERE a.`id` = OLD.`asset_id` AND a.`kind` = 'source' AND a.`state` <> 'pending_upload';
END;--> statement-breakpoint
INSERT INTO `recording_totals` (`asset_id`, `project_id`, `duration`, `cut_duration`, `kept`, `without_cut`, `to_review`, `open_marks`, `uncounted`)
	SELECT a.`id`, a.`project_id`, coalesce(a.`duration`, 0), iif(s.`kept` IS NULL, 0, coalesce(a.`duration`, 0)), coalesce(s.`kept`, 0),
		s.`cut_id` IS NULL, coalesce(s.`open_marks` > 0, 0), coalesce(s.`open_marks`, 0), s.`cut_id` IS NOT NULL AND s.`open_marks` IS NULL
	FROM `assets` AS a LEFT JOIN `cut_summaries` AS s ON s.`asset_id` = a.`id`
		AND s.`cut_id` = (SELECT max(n.`cut_id`) FROM `cut_summaries` AS n WHERE n.`asset_id` = a.`id`)
	WHERE a.`kind` = 'source' AND a.`state` <> 'pending_upload';
