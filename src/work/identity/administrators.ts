/**
 * Rules about administrators, checked in the transaction of the change so that concurrent changes cannot break them.
 */
import { AppError } from "../../domain/errors";
import type { Queries } from "../../store/db";
import { countOtherAdmins, findUserById, type User } from "../../store/users";
import type { AuditActor } from "../access/audit";

/** Returns whether the user can administer the server now. */
export const isActiveAdmin = (user: User): boolean =>
  user.is_admin && user.disabled_at === null && user.deleted_at === null;

/** Throws `AppError` `conflict` if the server would have no administrator without this user. */
export async function requireAnotherAdmin(tx: Queries, user: User): Promise<void> {
  if (isActiveAdmin(user) && (await countOtherAdmins(tx, user.id)) === 0)
    throw new AppError("conflict", `${user.email} is the last administrator. Create another one first.`);
}

/** Throws `AppError` `forbidden` if the acting user is no longer an administrator since authentication. */
export async function requireActingAdmin(tx: Queries, actor: AuditActor): Promise<void> {
  if (actor.kind !== "user") return;
  const user = actor.userId === null ? null : await findUserById(tx, actor.userId);
  if (!user || !isActiveAdmin(user)) throw new AppError("forbidden", "Only an administrator may do this.");
}
