/**
 * The tables of planned cuts, review decisions, cut summaries, render links, and vocabularies. Times are in
 * milliseconds since 1970.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { CUT_MODE_NAMES } from "../domain/plan";
import { REVIEW_DECISIONS } from "../domain/review";
import type { VocabularyEntry } from "../domain/vocabulary/entries";
import { assets, cuts, projects, renders } from "./schema";
import { formerUser, users, workspaces } from "./schema-accounts";
import { belongsTo, flag, id, idOf, time } from "./schema-columns";

/** Decisions of users about the items of a cut's review. An item without a row is open. */
export const reviewDecisions = sqliteTable(
  "review_decisions",
  {
    cut_id: belongsTo(() => cuts.id),
    item_id: text().notNull(),
    workspace_id: text().notNull(),
    decision: text({ enum: REVIEW_DECISIONS }).notNull(),
    reviewed_by: formerUser(),
    reviewed_at: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.cut_id, t.item_id] }), index("review_decisions_by_user").on(t.reviewed_by)],
);

/** The reviews in which somebody has decided something. A change of the revision is a live event. */
export const reviews = sqliteTable("reviews", {
  cut_id: idOf(() => cuts.id),
  workspace_id: text().notNull(),
  /** Starts at 1 and increases with each change. */
  revision: integer().notNull(),
});

/** Data that lists show of each completed cut that is not superseded, so that they need not read its plan. */
export const cutSummaries = sqliteTable(
  "cut_summaries",
  {
    cut_id: idOf(() => cuts.id),
    asset_id: belongsTo(() => assets.id),
    /**
     * Duration that the cut keeps, in ticks. Null for cuts of an older version until they have been counted after the
     * start.
     */
    kept: integer(),
    /** Marks and unsure removals about which nothing was decided. */
    open_marks: integer(),
    /** As in `cuts`. */
    is_set_aside: flag(),
  },
  (t) => [
    index("cut_summaries_by_asset").on(t.asset_id, t.is_set_aside, sql`cut_id desc`, t.kept, t.open_marks),
    index("cut_summaries_uncounted").on(t.cut_id).where(sql`kept is null`),
  ],
);

/**
 * Contribution of a recording to the totals of its project. Triggers keep it current; recordings that are not listed
 * have no row.
 */
const totals = {
  duration: integer().notNull(),
  /** The duration of the recording if a cut has been counted, and in `kept` the duration that the newest cut keeps. */
  cut_duration: integer().notNull(),
  kept: integer().notNull(),
  without_cut: integer().notNull(),
  to_review: integer().notNull(),
  open_marks: integer().notNull(),
  /** Whether the newest cut has not been counted yet, because an older version made it. */
  uncounted: integer().notNull(),
};

export const recordingTotals = sqliteTable("recording_totals", {
  asset_id: idOf(() => assets.id),
  project_id: text().notNull(),
  ...totals,
});

/** The sums of `recording_totals`. A project without recordings may have no row. */
export const projectTotals = sqliteTable("project_totals", {
  project_id: idOf(() => projects.id),
  recordings: integer().notNull(),
  ...totals,
});

/**
 * The cut that is made of a recording as soon as it can be cut. The row is deleted in the transaction that creates the
 * cut.
 */
export const plannedCuts = sqliteTable(
  "planned_cuts",
  {
    asset_id: idOf(() => assets.id),
    workspace_id: text().notNull(),
    mode: text({ enum: CUT_MODE_NAMES }).notNull(),
    /** "" for a cut without one. */
    script: text().notNull(),
    created_by: formerUser(),
    /** Why the cut could not start, and when it is tried again. */
    error_message: text(),
    retry_at: time(),
  },
  (t) => [index("planned_cuts_by_creator").on(t.created_by)],
);

/** Public download links of renders. The signed link itself, which names the row, is not stored. */
export const renderShares = sqliteTable(
  "render_shares",
  {
    id: text().primaryKey(),
    render_id: belongsTo(() => renders.id),
    workspace_id: text().notNull(),
    /** Null if the link works without a password. */
    password_hash: text(),
    created_by: belongsTo(() => users.id),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
  },
  (t) => [
    index("render_shares_by_render").on(t.render_id, t.id),
    index("render_shares_by_creator").on(t.created_by),
    index("render_shares_by_expiry").on(t.expires_at),
  ],
);

/** Names and terms of a workspace or a project, whose ID is that of the row. */
export const vocabularies = sqliteTable(
  "vocabularies",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    /** Null for the vocabulary of the workspace. */
    project_id: text().references(() => projects.id, { onDelete: "cascade" }),
    entries: text({ mode: "json" }).$type<VocabularyEntry[]>().notNull(),
    /** Starts at 1 and increases with each change. */
    revision: integer().notNull(),
    updated_by: formerUser(),
    updated_at: time().notNull(),
  },
  (t) => [
    index("vocabularies_by_workspace").on(t.workspace_id),
    index("vocabularies_by_project").on(t.project_id),
    index("vocabularies_by_user").on(t.updated_by),
  ],
);
