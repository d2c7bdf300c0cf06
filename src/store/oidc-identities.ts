/** Accounts at OpenID Connect providers that sign in users of this server. */
import { and, asc, eq } from "drizzle-orm";
import type { Queries } from "./db";
import { first, rowsOf } from "./rows";
import { oidcIdentities, users } from "./schema-accounts";

const oidcIdentityRows = rowsOf(oidcIdentities);

export type StoredIdentity = typeof oidcIdentities.$inferSelect;

export const findOidcIdentity = (db: Queries, { issuer, subject }: Pick<StoredIdentity, "issuer" | "subject">) =>
  first(
    db
      .select({ identity: oidcIdentities, user: users })
      .from(oidcIdentities)
      .innerJoin(users, eq(users.id, oidcIdentities.user_id))
      .where(and(eq(oidcIdentities.issuer, issuer), eq(oidcIdentities.subject, subject)))
      .limit(1),
  );

/** Lists the identities of a user, first linked first. There is at most one per issuer. */
export const listOidcIdentities = (db: Queries, userId: string) =>
  oidcIdentityRows.list(db, { user_id: userId }, asc(oidcIdentities.id));

export const deleteOidcIdentity = oidcIdentityRows.deleteById;

export const deleteOidcIdentitiesOf = oidcIdentityRows.deleteBy(oidcIdentities.user_id);

export const insertOidcIdentity = oidcIdentityRows.add;

/** Records a sign-in, with the provider's current address of the user. */
export const touchOidcIdentity = (tx: Queries, id: string, use: { email: string | null; now: number }) =>
  oidcIdentityRows.updateAll(tx, { email: use.email, last_sign_in_at: use.now }, { id });
