/** Accounts at OpenID Connect providers that sign in users of this server. */
import { and, asc, eq } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteRows, first, updateRows } from "./rows";
import { oidcIdentities, users } from "./schema-accounts";
import type { User } from "./users";

export type StoredIdentity = typeof oidcIdentities.$inferSelect;

/** Returns the identity of a subject at an issuer with its user, or null. */
export const findOidcIdentity = (
  db: Queries,
  { issuer, subject }: Pick<StoredIdentity, "issuer" | "subject">,
): Promise<{ identity: StoredIdentity; user: User } | null> =>
  first(
    db
      .select({ identity: oidcIdentities, user: users })
      .from(oidcIdentities)
      .innerJoin(users, eq(users.id, oidcIdentities.user_id))
      .where(and(eq(oidcIdentities.issuer, issuer), eq(oidcIdentities.subject, subject)))
      .limit(1),
  );

/** Lists the identities of a user, first linked first. There is at most one per issuer. */
export const listOidcIdentities = (db: Queries, userId: string): Promise<StoredIdentity[]> =>
  db.select().from(oidcIdentities).where(eq(oidcIdentities.user_id, userId)).orderBy(asc(oidcIdentities.id));

export const deleteOidcIdentity = (tx: Queries, id: string): Promise<void> =>
  deleteRows(tx, oidcIdentities, eq(oidcIdentities.id, id));

export const deleteOidcIdentitiesOf = (tx: Queries, userId: string): Promise<void> =>
  deleteRows(tx, oidcIdentities, eq(oidcIdentities.user_id, userId));

export async function insertOidcIdentity(tx: Queries, identity: typeof oidcIdentities.$inferInsert): Promise<void> {
  await tx.insert(oidcIdentities).values(identity);
}

/** Records a sign-in, with the provider's current address of the user. */
export const touchOidcIdentity = (
  tx: Queries,
  id: string,
  use: { email: string | null; now: number },
): Promise<boolean> =>
  updateRows(tx, oidcIdentities, { email: use.email, last_sign_in_at: use.now }, eq(oidcIdentities.id, id));
