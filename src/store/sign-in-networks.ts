/** Networks from which users have signed in. */
import { and, eq, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { deleteRows, exists } from "./rows";
import { signInNetworks, users } from "./schema-accounts";

const MAX_NETWORKS_PER_USER = 50;

/** Returns whether there was a sign-in to the account with this address from the network. */
export const hasSignedInFrom = (db: Queries, email: string, network: string): Promise<boolean> =>
  exists(
    db
      .select({ id: users.id })
      .from(users)
      .innerJoin(signInNetworks, and(eq(signInNetworks.user_id, users.id), eq(signInNetworks.network, network)))
      .where(eq(users.email, email))
      .limit(1),
  );

/** Records a sign-in from a network. Deletes the least recently used networks above the limit. */
export async function recordSignInNetwork(tx: Queries, userId: string, network: string, now: number): Promise<void> {
  const row = { user_id: userId, network, last_sign_in_at: now };
  await tx
    .insert(signInNetworks)
    .values(row)
    .onConflictDoUpdate({
      target: [signInNetworks.user_id, signInNetworks.network],
      set: { last_sign_in_at: now },
    });
  await tx.delete(signInNetworks).where(
    and(
      eq(signInNetworks.user_id, userId),
      sql`${signInNetworks.network} NOT IN (SELECT network FROM sign_in_networks WHERE user_id = ${userId}
          ORDER BY last_sign_in_at DESC LIMIT ${MAX_NETWORKS_PER_USER})`,
    ),
  );
}

export const deleteSignInNetworksOf = (tx: Queries, userId: string): Promise<void> =>
  deleteRows(tx, signInNetworks, eq(signInNetworks.user_id, userId));
