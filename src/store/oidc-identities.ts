/** Accounts at OpenID Connect providers that sign in users of this server. */
import { and, eq } from "drizzle-orm";
import type { Queries } from "./db";
import { oidcIdentities, users } from "./schema-accounts";
import type { User } from "./users";

type StoredIdentity = typeof oidcIdentities.$inferSelect;

/** Returns the identity of a subject at an issuer with its user, or null. */
export async function findOidcIdentity(
  db: Queries,
  { issuer, subject }: Pick<StoredIdentity, "issuer" | "subject">,
): Promise<{ identity: StoredIdentity; user: User } | null> {
  const [row] = await db
    .select({ identity: oidcIdentities, user: users })
    .from(oidcIdentities)
    .innerJoin(users, eq(users.id, oidcIdentities.user_id))
    .where(and(eq(oidcIdentities.issuer, issuer), eq(oidcIdentities.subject, subject)))
    .limit(1);
  return row ?? null;
}

/** Lists the issuers at which the user has an identity. */
export async function listOidcIssuers(db: Queries, userId: string): Promise<string[]> {
  const rows = await db
    .select({ issuer: oidcIdentities.issuer })
    .from(oidcIdentities)
    .where(eq(oidcIdentities.user_id, userId));
  return rows.map(({ issuer }) => issuer);
}

export async function insertOidcIdentity(tx: Queries, identity: typeof oidcIdentities.$inferInsert): Promise<void> {
  await tx.insert(oidcIdentities).values(identity);
}

/** Records a sign-in with the address that the provider has now. */
export async function touchOidcIdentity(
  tx: Queries,
  id: string,
  use: { email: string | null; now: number },
): Promise<void> {
  await tx.update(oidcIdentities).set({ email: use.email, last_sign_in_at: use.now }).where(eq(oidcIdentities.id, id));
}
