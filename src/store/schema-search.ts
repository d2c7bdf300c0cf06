/**
 * The tables of the search. Their full-text indexes are in `migrations/0028_search.sql`, and triggers keep them
 * current, also those of `migrations/0036_search_corrections.sql`. Times are in milliseconds.
 */
import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { assets, cuts } from "./schema";
import { workspaces } from "./schema-accounts";
import { belongsTo, flag, idOf } from "./schema-columns";

/** The number of a workspace in the IDs of its passages. */
export const searchWorkspaces = sqliteTable("search_workspaces", {
  number: integer().primaryKey(),
  workspace_id: belongsTo(() => workspaces.id).unique(),
});

/**
 * Passages of transcripts, as `Passage` in `domain/search/passages.ts`. A page of results has the newest recordings
 * first, in the order of their IDs.
 */
export const passages = sqliteTable(
  "passages",
  {
    /**
     * 2^32 times the number of the workspace, and a number that is higher for later recordings and, in a recording, for
     * earlier passages.
     */
    id: integer().primaryKey(),
    asset_id: belongsTo(() => assets.id),
    /**
     * The project of the asset, without hyphens: one word in the index, which is found much faster than a phrase of
     * five.
     */
    project_id: text().notNull(),
    start: integer().notNull(),
    end: integer().notNull(),
    /**
     * As in the transcript; then, after a separator each, the different texts of the newest rows of
     * `corrected_passages`, those of the newest cuts first.
     */
    text: text().notNull(),
    own_length: integer().notNull(),
    words: blob({ mode: "buffer" }).notNull(),
    is_unspaced: flag(),
  },
  (t) => [index("passages_by_asset").on(t.asset_id)],
);

/** Passages with the texts that users have corrected in a cut. Superseded cuts have none. */
export const correctedPassages = sqliteTable(
  "corrected_passages",
  {
    passage_id: integer()
      .notNull()
      .references(() => passages.id, { onDelete: "cascade" }),
    cut_id: belongsTo(() => cuts.id),
    start: integer().notNull(),
    text: text().notNull(),
    own_length: integer().notNull(),
    words: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.passage_id, t.cut_id] }), index("corrected_passages_by_cut").on(t.cut_id)],
);

/**
 * Assets to index at the next start: an older version stored their texts, or a failed deletion removed their passages.
 */
export const searchBacklog = sqliteTable("search_backlog", {
  asset_id: idOf(() => assets.id),
});
