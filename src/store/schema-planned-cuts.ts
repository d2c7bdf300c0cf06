/** The table of cuts that wait for their recording. Times are in milliseconds since 1970. */
import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { CUT_MODE_NAMES } from "../domain/plan";
import { assets } from "./schema";
import { users } from "./schema-accounts";
import { id, time } from "./schema-columns";

/** The cut that is made of a recording as soon as it can be cut. The row is deleted in the transaction that creates the cut. */
export const plannedCuts = sqliteTable(
  "planned_cuts",
  {
    asset_id: id().references(() => assets.id, { onDelete: "cascade" }),
    workspace_id: text().notNull(),
    mode: text({ enum: CUT_MODE_NAMES }).notNull(),
    /** "" for a cut without one. */
    script: text().notNull(),
    created_by: text().references(() => users.id, { onDelete: "set null" }),
    /** Why the cut could not start, and when it is tried again. */
    error_message: text(),
    retry_at: time(),
  },
  (t) => [index("planned_cuts_by_creator").on(t.created_by)],
);
