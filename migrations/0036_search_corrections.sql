CREATE TABLE `corrected_passages` (
	`passage_id` integer NOT NULL,
	`cut_id` text NOT NULL,
	`start` integer NOT NULL,
	`text` text NOT NULL,
	`own_length` integer NOT NULL,
	`words` blob NOT NULL,
	PRIMARY KEY(`passage_id`, `cut_id`),
	FOREIGN KEY (`passage_id`) REFERENCES `passages`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`cut_id`) REFERENCES `cuts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `corrected_passages_by_cut` ON `corrected_passages` (`cut_id`);--> statement-breakpoint
CREATE TRIGGER `search_passages_correct` AFTER UPDATE OF `text` ON `passages` WHEN NEW.`text` IS NOT OLD.`text`
BEGIN
  INSERT INTO `passage_words` (`passage_words`, `rowid`, `text`, `project_id`) VALUES ('delete', OLD.`id`, OLD.`text`, OLD.`project_id`);
  INSERT INTO `passage_words` (`rowid`, `text`, `project_id`) VALUES (NEW.`id`, NEW.`text`, NEW.`project_id`);
  INSERT INTO `passage_trigrams` (`passage_trigrams`, `rowid`, `text`) SELECT 'delete', OLD.`id`, OLD.`text` WHERE OLD.`is_unspaced`;
  INSERT INTO `passage_trigrams` (`rowid`, `text`) SELECT NEW.`id`, NEW.`text` WHERE NEW.`is_unspaced`;
END;--> statement-breakpoint
-- The text of the transcript, and those of the newest cuts that correct it: no more, so that a change takes the same time beside many cuts. The separator has a character that no word has, so that no phrase is found across it.
CREATE TRIGGER `corrected_passages_insert` AFTER INSERT ON `corrected_passages`
BEGIN
  UPDATE `passages` SET (`text`, `is_unspaced`) = (
    SELECT whole.`text`, instr(whole.`text` || char(10), '  ' || char(10)) > 0 FROM (
      SELECT substr(`passages`.`text`, 1, instr(`passages`.`text` || char(10, 57344, 10), char(10, 57344, 10)) - 1) || coalesce((
        SELECT group_concat(char(10, 57344, 10) || variants.`text`, '') FROM (
          SELECT c.`text`, max(c.`cut_id`) AS newest FROM (
            SELECT `text`, `cut_id` FROM `corrected_passages` WHERE `passage_id` = NEW.`passage_id` ORDER BY `cut_id` DESC LIMIT 8
          ) AS c GROUP BY c.`text` ORDER BY newest DESC
        ) AS variants
      ), '') AS `text`
    ) AS whole
  ) WHERE `id` = NEW.`passage_id`;
END;--> statement-breakpoint
CREATE TRIGGER `corrected_passages_delete` AFTER DELETE ON `corrected_passages`
BEGIN
  UPDATE `passages` SET (`text`, `is_unspaced`) = (
    SELECT whole.`text`, instr(whole.`text` || char(10), '  ' || char(10)) > 0 FROM (
      SELECT substr(`passages`.`text`, 1, instr(`passages`.`text` || char(10, 57344, 10), char(10, 57344, 10)) - 1) || coalesce((
        SELECT group_concat(char(10, 57344, 10) || variants.`text`, '') FROM (
          SELECT c.`text`, max(c.`cut_id`) AS newest FROM (
            SELECT `text`, `cut_id` FROM `corrected_passages` WHERE `passage_id` = OLD.`passage_id` ORDER BY `cut_id` DESC LIMIT 8
          ) AS c GROUP BY c.`text` ORDER BY newest DESC
        ) AS variants
      ), '') AS `text`
    ) AS whole
  ) WHERE `id` = OLD.`passage_id`;
END;--> statement-breakpoint
INSERT OR IGNORE INTO `search_backlog` (`asset_id`) SELECT s.`asset_id` FROM `cut_summaries` AS s JOIN `cuts` AS c ON c.`id` = s.`cut_id`
  WHERE c.`edited_from` IS NOT NULL OR c.`keep_edits_of` IS NOT NULL;
