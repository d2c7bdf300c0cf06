-- Words that existing cuts have from their scripts become searchable after the start.
INSERT OR IGNORE INTO `search_backlog` (`asset_id`) SELECT s.`asset_id` FROM `cut_summaries` AS s JOIN `cuts` AS c ON c.`id` = s.`cut_id`
  WHERE c.`script` <> '';
