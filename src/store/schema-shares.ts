/** The table of links for people without an account. Times are in milliseconds since 1970. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { renders } from "./schema";
import { users } from "./schema-accounts";
import { belongsTo } from "./schema-columns";

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
