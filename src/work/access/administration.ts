/** Account administration, in a browser or in a shell. Each function writes to the audit log in its transaction. */
import type { AccountRole } from "../../domain/access";
import { conflict, notFound, requireFound } from "../../domain/errors";
import { insertLedgerEntry, type LedgerEntry, readBalance } from "../../store/credits";
import type { Queries } from "../../store/db";
import type { ListedJob } from "../../store/job-list";
import { findUserById, type User } from "../../store/users";
import { findRole, setQuotaOverride } from "../../store/workspaces";
import { settleWaiting } from "../billing/charge";
import { restoreAccount, startAccountDeletion } from "../identity/account-deletion";
import type { AccountLink } from "../identity/account-links";
import { changeAccountState, requireActingAdmin, requireAnotherAdmin } from "../identity/administrators";
import { createInvitation } from "../identity/invitations";
import { insertAccount } from "../identity/new-account";
import { createPasswordResetLink } from "../identity/password-reset";
import { requireEmailAddress } from "../identity/sign-up";
import type { MailNeeds } from "../mail/mails";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { cancelPipeline } from "../pipelines/requests";
import { type AuditActor, recordAudit } from "./audit";

/**
 * Absent fields stay unchanged. `storage_quota_bytes`: of the personal workspace; null uses the configured quota, 0
 * disables it.
 */
export type AccountChange = { role?: AccountRole; disabled?: boolean; storage_quota_bytes?: number | null };

/** Changes an account. Errors: `not_found`, `forbidden`; `conflict` for the last administrator. */
export function changeAccount({ store, now }: CoreNeeds, actor: AuditActor, userId: string, change: AccountChange) {
  return store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    const time = now();
    let user = await getAccount(tx, userId);
    const isAdmin = change.role === undefined ? user.is_admin : change.role === "admin";
    if (isAdmin !== user.is_admin) {
      if (!isAdmin) await requireAnotherAdmin(tx, user);
      user = await changeAccountState(tx, userId, { is_admin: isAdmin }, time);
      const details = { role: isAdmin ? "admin" : "member" };
      await recordAudit(tx, actor, { action: "user.role_changed", target: userId, details }, time);
    }
    const isDisabled = change.disabled ?? user.disabled_at !== null;
    if (isDisabled !== (user.disabled_at !== null)) {
      if (isDisabled) await requireAnotherAdmin(tx, user);
      user = await changeAccountState(tx, userId, { disabled_at: isDisabled ? time : null }, time);
      await recordAudit(tx, actor, { action: isDisabled ? "user.disabled" : "user.enabled", target: userId }, time);
    }
    const { storage_quota_bytes: quota } = change;
    if (quota !== undefined && (await setQuotaOverride(tx, userId, quota))) {
      const details = { storage_quota_bytes: quota };
      await recordAudit(
        tx,
        actor,
        { action: "user.quota_changed", target: userId, workspaceId: userId, details },
        time,
      );
    }
    return user;
  });
}

type CreditChange = { userId: string; delta: number; note: string | null; workspaceId: string | null };

/**
 * Adds or removes credits of an account's personal workspace, or of another one that it is a member of. Assets that are
 * waiting for credits become ready. Errors: `not_found`, `forbidden`; `conflict` if the balance is too low.
 */
export async function changeCredits(
  tx: Queries,
  actor: AuditActor,
  change: CreditChange,
  now: number,
): Promise<LedgerEntry> {
  const { userId, delta, note } = change;
  await requireActingAdmin(tx, actor);
  const { id } = await getAccount(tx, userId);
  const workspaceId = change.workspaceId ?? id;
  if ((await findRole(tx, workspaceId, id)) === null) throw notFound("Workspace");
  const balance = await readBalance(tx, workspaceId);
  if (delta < 0 && balance + delta < 0) throw conflict(`Balance is ${balance} credits: ${-delta} cannot be removed.`);
  const entry = await insertLedgerEntry(tx, {
    workspace_id: workspaceId,
    type: delta > 0 ? "grant" : "adjustment",
    delta,
    created_at: now,
  });
  const details = note === null ? { delta } : { delta, note };
  await recordAudit(tx, actor, { action: "user.credits_changed", target: id, workspaceId, details }, now);
  if (delta > 0) await settleWaiting(tx, workspaceId, now);
  return entry;
}

/** `credits` null: the sign-up grant. */
export type InvitedAccount = { email: string; isAdmin: boolean; credits: number | null };

/**
 * Creates an account without a password, and the link with which its owner chooses one, which is also mailed. Part of a
 * transaction. Throws `AppError` `validation_error` on `body.email`; `conflict` when the address has an account;
 * `forbidden`.
 */
export async function inviteUser(
  tx: Queries,
  services: MailNeeds,
  { actor, admin }: ActingAdmin,
  account: InvitedAccount,
): Promise<AccountLink & { user: User }> {
  const email = requireEmailAddress(account.email);
  await requireActingAdmin(tx, actor);
  const now = services.now();
  const user = await insertAccount(tx, {
    email,
    passwordHash: null,
    isAdmin: account.isAdmin,
    emailVerifiedAt: null,
    credits: account.credits ?? services.config.signupCredits,
    invitedBy: admin.id,
    now,
  });
  const invitation = { email, userId: user.id, workspace: null, invitedBy: admin };
  const link = await createInvitation(services, tx, invitation);
  const details = { role: account.isAdmin ? "admin" : "member" };
  await recordAudit(tx, actor, { action: "user.invited", target: user.id, details }, now);
  return { user, ...link };
}

/** An administrator who acts through the API. */
export type ActingAdmin = { actor: AuditActor; admin: User };

/** Creates a link with which the owner of an account chooses a new password. Errors: `not_found`, `forbidden`. */
export function createResetLink(services: MailNeeds, { actor, admin }: ActingAdmin, userId: string) {
  return services.store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    const user = await getAccount(tx, userId);
    await recordAudit(tx, actor, { action: "user.reset_link_created", target: user.id }, services.now());
    return createPasswordResetLink(services, tx, user, admin.id);
  });
}

/** Starts the grace period of an account. Errors: those of `startAccountDeletion`, and `forbidden`. */
export function deleteAccount({ store, now }: CoreNeeds, actor: AuditActor, userId: string): Promise<User> {
  return store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    return startAccountDeletion(tx, actor, userId, now());
  });
}

/** Ends the grace period of an account. Errors: those of `restoreAccount`, and `forbidden`. */
export function restoreDeletedAccount({ store, now }: CoreNeeds, actor: AuditActor, userId: string): Promise<User> {
  return store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    return restoreAccount(tx, actor, userId, now());
  });
}

/**
 * Cancels the pipeline of a job that waits or runs, in any workspace. Errors: those of `cancelPipeline`, and
 * `forbidden`.
 */
export async function cancelJob(services: PipelineNeeds, actor: AuditActor, { step }: ListedJob): Promise<void> {
  const { id, pipeline_id: pipelineId, workspace_id: workspaceId, processor_name: name } = step;
  await cancelPipeline(services, workspaceId, pipelineId, async (tx, open) => {
    await requireActingAdmin(tx, actor);
    // The pipeline may have advanced to its next step.
    if (open.id !== id) throw conflict("Job has already ended.");
    const target = { kind: "pipeline", id: pipelineId };
    await recordAudit(tx, actor, { action: "job.cancelled", target, workspaceId, details: { name } }, services.now());
  });
}

async function getAccount(tx: Queries, id: string): Promise<User> {
  return requireFound(await findUserById(tx, id), "User");
}
