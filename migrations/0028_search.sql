CREATE TABLE `passages` (
	`id` integer PRIMARY KEY NOT NULL,
	`asset_id` text NOT NULL,
	`project_id` text NOT NULL,
	`start` integer NOT NULL,
	`end` integer NOT NULL,
	`text` text NOT NULL,
	`own_length` integer NOT NULL,
	`words` blob NOT NULL,
	`is_unspaced` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `passages_by_asset` ON `passages` (`asset_id`);--> statement-breakpoint
CREATE TABLE `search_backlog` (
	`asset_id` text PRIMARY KEY NOT NULL,
	FOREIGN KEY (`asset_id`) REFERENCES `assets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `search_workspaces` (
	`number` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `search_workspaces_workspace_id_unique` ON `search_workspaces` (`workspace_id`);--> statement-breakpoint
CREATE VIRTUAL TABLE `passage_words` USING fts5(`text`, `project_id`, content=`passages`, content_rowid=`id`, prefix='3', tokenize='unicode61 remove_diacritics 2');--> statement-breakpoint
-- Of scripts without spaces between words.
CREATE VIRTUAL TABLE `passage_trigrams` USING fts5(`text`, content=`passages`, content_rowid=`id`, tokenize='trigram remove_diacritics 1');--> statement-breakpoint
CREATE VIRTUAL TABLE `passage_trigram_terms` USING fts5vocab('passage_trigrams', 'row');--> statement-breakpoint
CREATE TRIGGER `search_passages_insert` AFTER INSERT ON `passages`
BEGIN
  INSERT INTO `passage_words` (`rowid`, `text`, `project_id`) VALUES (NEW.`id`, NEW.`text`, NEW.`project_id`);
END;--> statement-breakpoint
CREATE TRIGGER `search_trigrams_insert` AFTER INSERT ON `passages` WHEN NEW.`is_unspaced`
BEGIN
  INSERT INTO `passage_trigrams` (`rowid`, `text`) VALUES (NEW.`id`, NEW.`text`);
END;--> statement-breakpoint
CREATE TRIGGER `search_passages_delete` AFTER DELETE ON `passages`
BEGIN
  INSERT INTO `passage_words` (`passage_words`, `rowid`, `text`, `project_id`) VALUES ('delete', OLD.`id`, OLD.`text`, OLD.`project_id`);
END;--> statement-breakpoint
CREATE TRIGGER `search_trigrams_delete` AFTER DELETE ON `passages` WHEN OLD.`is_unspaced`
BEGIN
  INSERT INTO `passage_trigrams` (`passage_trigrams`, `rowid`, `text`) VALUES ('delete', OLD.`id`, OLD.`text`);
END;--> statement-breakpoint
CREATE TRIGGER `search_passages_move` AFTER UPDATE OF `project_id` ON `passages` WHEN NEW.`project_id` IS NOT OLD.`project_id`
BEGIN
  INSERT INTO `passage_words` (`passage_words`, `rowid`, `text`, `project_id`) VALUES ('delete', OLD.`id`, OLD.`text`, OLD.`project_id`);
  INSERT INTO `passage_words` (`rowid`, `text`, `project_id`) VALUES (NEW.`id`, NEW.`text`, NEW.`project_id`);
END;--> statement-breakpoint
CREATE TRIGGER `search_assets_move` AFTER UPDATE OF `project_id` ON `assets` WHEN NEW.`project_id` IS NOT OLD.`project_id`
BEGIN
  UPDATE `passages` SET `project_id` = replace(NEW.`project_id`, '-', '') WHERE `asset_id` = NEW.`id`;
END;--> statement-breakpoint
-- Its files are removed.
CREATE TRIGGER `search_assets_fail` AFTER UPDATE OF `state` ON `assets` WHEN NEW.`state` = 'failed' AND OLD.`state` IS NOT 'failed'
BEGIN
  DELETE FROM `passages` WHERE `asset_id` = NEW.`id`;
END;--> statement-breakpoint
INSERT INTO `search_backlog` (`asset_id`) SELECT `id` FROM `assets` WHERE `has_transcript` AND `state` <> 'failed';
