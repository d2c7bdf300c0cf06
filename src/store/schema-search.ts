/** The tables of the search. Their full-text indexes are in `migrations/0028_search.sql`, and triggers keep them current. Times are in milliseconds. */
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { assets } from "./schema";
import { workspaces } from "./schema-accounts";
import { belongsTo, flag, id } from "./schema-columns";

/** The number of a workspace in the IDs of its passages. */
export const searchWorkspaces = sqliteTable("search_workspaces", {
  number: integer().primaryKey(),
  workspace_id: belongsTo(() => workspaces.id).unique(),
});

/** Passages of transcripts, as `Passage` in `domain/search/passages.ts`. A page of results has the newest recordings first, in the order of their IDs. */
export const passages = sqliteTable(
  "passages",
  {
    /** 2^32 times the number of the workspace, and a number that is higher for later recordings and, in a recording, for earlier passages. */
    id: integer().primaryKey(),
    asset_id: belongsTo(() => assets.id),
    /** The project of the asset, without hyphens: one word in the index, which is found much faster than a phrase of five. */
    project_id: text().notNull(),
    start: integer().notNull(),
    end: integer().notNull(),
    text: text().notNull(),
    own_length: integer().notNull(),
    words: blob({ mode: "buffer" }).notNull(),
    is_unspaced: flag(),
  },
  (t) => [index("passages_by_asset").on(t.asset_id)],
);

/** Assets with a transcript that is not searchable yet: an older version or a worker without a disk has stored it. */
export const searchBacklog = sqliteTable("search_backlog", {
  asset_id: id().references(() => assets.id, { onDelete: "cascade" }),
});
