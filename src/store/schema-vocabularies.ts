/** The table of vocabularies. Times are in milliseconds since 1970. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { VocabularyEntry } from "../domain/vocabulary/entries";
import { projects } from "./schema";
import { users, workspaces } from "./schema-accounts";
import { belongsTo, id, time } from "./schema-columns";

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
    updated_by: text().references(() => users.id, { onDelete: "set null" }),
    updated_at: time().notNull(),
  },
  (t) => [
    index("vocabularies_by_workspace").on(t.workspace_id),
    index("vocabularies_by_project").on(t.project_id),
    index("vocabularies_by_user").on(t.updated_by),
  ],
);
