/** The creator of a resource, a field that the dashboard family adds to the public resources. */
import type { Queries } from "../store/db";
import { findUserById, formatUserName, type User } from "../store/users";

/** The field, or nothing in a family that does not show it. `created_by` is null if the account was deleted. */
export type Authorship = { created_by?: { id: string; name: string | null } | null };

/** Returns the field for the creator of a resource; null if that account was deleted. */
export type ReadAuthorship = (userId: string | null) => Promise<Authorship>;

export const hideAuthors: ReadAuthorship = async () => ({});

/** Creates the reader of a call. The caller, and users that were already read, are not read again. */
export function createAuthorReader(db: Queries, caller: User): ReadAuthorship {
  const show = (user: User | null): Authorship => ({
    created_by: user && { id: user.id, name: formatUserName(user) },
  });
  const known = new Map([[caller.id, Promise.resolve(show(caller))]]);
  return (userId) => {
    if (userId === null) return Promise.resolve(show(null));
    const found = known.get(userId) ?? findUserById(db, userId).then(show);
    known.set(userId, found);
    return found;
  };
}
