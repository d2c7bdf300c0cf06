/** The tables of review decisions, and what lists show of cuts. Times are in milliseconds since 1970. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { REVIEW_DECISIONS } from "../domain/review";
import { assets, cuts } from "./schema";
import { users } from "./schema-accounts";
import { belongsTo, id, time } from "./schema-columns";

/** What users have decided about the items of a cut's review. An item without a row is open. */
export const reviewDecisions = sqliteTable(
  "review_decisions",
  {
    cut_id: belongsTo(() => cuts.id),
    item_id: text().notNull(),
    workspace_id: text().notNull(),
    decision: text({ enum: REVIEW_DECISIONS }).notNull(),
    reviewed_by: text().references(() => users.id, { onDelete: "set null" }),
    reviewed_at: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.cut_id, t.item_id] }), index("review_decisions_by_user").on(t.reviewed_by)],
);

/** The reviews in which somebody has decided something. A change of the revision is a live event. */
export const reviews = sqliteTable("reviews", {
  cut_id: id().references(() => cuts.id, { onDelete: "cascade" }),
  workspace_id: text().notNull(),
  /** Starts at 1 and increases with each change. */
  revision: integer().notNull(),
});

/** What lists show of each completed cut that is not superseded, without reading its plan. */
export const cutSummaries = sqliteTable(
  "cut_summaries",
  {
    cut_id: id().references(() => cuts.id, { onDelete: "cascade" }),
    asset_id: belongsTo(() => assets.id),
    /** Duration that the cut keeps, in ticks. Null for cuts of an older version until they have been counted after the start. */
    kept: integer(),
    /** Marks and unsure removals about which nothing was decided. */
    open_marks: integer(),
  },
  (t) => [
    index("cut_summaries_by_asset").on(t.asset_id, t.cut_id, t.kept, t.open_marks),
    index("cut_summaries_uncounted").on(t.cut_id).where(sql`kept is null`),
  ],
);
