/** Workspaces: creation, members and deletion. `access.ts` decides who may call these. */
import type { WorkspaceRole } from "../../domain/access";
import type { AuditAction } from "../../domain/audit-actions";
import { conflict, requireFound } from "../../domain/errors";
import { hasEverGotCredits, insertLedgerEntry } from "../../store/credits";
import type { Queries } from "../../store/db";
import { closeOrders } from "../../store/orders";
import { deleteWorkspace, listProjectIds } from "../../store/purge";
import { takeWorkspaceGrant, type User } from "../../store/users";
import { closeInvitation, countInvitations } from "../../store/workspace-invitations";
import {
  countCreatedWorkspaces,
  countMembers,
  countOtherOwners,
  deleteMember,
  findMember,
  isMemberAddress,
  type Member,
  removeOtherAccess,
  revokeInvitationsBy,
  revokeInvitationsOf,
  setRole,
} from "../../store/workspace-members";
import {
  findRole,
  findWorkspaceById,
  insertMember,
  insertWorkspace,
  renameWorkspace,
  type Workspace,
} from "../../store/workspaces";
import { requireRole } from "../access/access";
import { type AuditActor, recordAudit } from "../access/audit";
import { removeWorkspaceContent } from "../assets/deletion";
import { requireNoRenewal } from "../billing/subscriptions";
import type { AccountLink } from "../identity/account-links";
import { createInvitation } from "../identity/invitations";
import { requireEmailAddress } from "../identity/sign-up";
import type { MailNeeds } from "../mail/mails";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";

/** Each workspace has its own share of the machine, so their number is limited. */
const MAX_CREATED_WORKSPACES = 50;
/** Minimum time between two workspaces with credits for a user. */
const GRANT_INTERVAL_MS = 24 * 3600 * 1000;
const MAX_MEMBERS = 500;

/**
 * Creates a workspace with one owner. It starts with the sign-up credits, unless another one of the user did within a
 * day, or the account itself started without credits. Throws `AppError` `conflict` when the user has created too many.
 */
export async function createWorkspace(
  { config }: CoreNeeds,
  tx: Queries,
  actor: AuditActor,
  request: { userId: string; name: string; now: number },
): Promise<Workspace> {
  const { userId, name, now } = request;
  if ((await countCreatedWorkspaces(tx, userId)) >= MAX_CREATED_WORKSPACES)
    throw conflict(`Limit of ${MAX_CREATED_WORKSPACES} workspaces reached. Delete one first.`);
  const workspace = await insertWorkspace(tx, { name, created_by: userId, created_at: now });
  await insertMember(tx, { workspace_id: workspace.id, user_id: userId, role: "owner", created_at: now });
  const delta = config.signupCredits;
  // Otherwise, members could invite any number of accounts, each of which creates workspaces with credits.
  const mayGrant = delta > 0 && (await hasEverGotCredits(tx, userId));
  if (mayGrant && (await takeWorkspaceGrant(tx, userId, now, GRANT_INTERVAL_MS)))
    await insertLedgerEntry(tx, { workspace_id: workspace.id, type: "grant", delta, created_at: now });
  await recordOnWorkspace(tx, actor, "workspace.created", workspace.id, now);
  return workspace;
}

/** Renames a workspace. Throws `AppError` `not_found`. */
export async function changeWorkspaceName(
  tx: Queries,
  actor: AuditActor,
  request: { workspaceId: string; name: string; now: number },
): Promise<Workspace> {
  const { workspaceId, name, now } = request;
  const workspace = requireFound(await renameWorkspace(tx, workspaceId, name), "Workspace");
  await recordOnWorkspace(tx, actor, "workspace.renamed", workspaceId, now);
  return workspace;
}

/**
 * Invites an address, with or without an account, to a workspace. Replaces its earlier invitations. Throws `AppError`
 * `validation_error` for an invalid address, `conflict` for a member, a personal workspace and a full one.
 */
export async function inviteMember(
  services: MailNeeds,
  tx: Queries,
  actor: AuditActor,
  request: { workspaceId: string; email: string; role: WorkspaceRole; invitedBy: User },
): Promise<AccountLink> {
  const { workspaceId, role, invitedBy } = request;
  const email = requireEmailAddress(request.email);
  await requireShared(tx, workspaceId, "has one member");
  // An owner removed since the authorization must not leave an invitation as a way back.
  const inviterRole = requireFound(await findRole(tx, workspaceId, invitedBy.id), "Workspace");
  requireRole(inviterRole, { target: "workspace", ownersOnly: true }, false);
  if (await isMemberAddress(tx, workspaceId, email)) throw conflict(`${email} is already a member.`);
  const now = services.now();
  await revokeInvitationsOf(tx, workspaceId, email, now);
  const taken = (await countMembers(tx, workspaceId)) + (await countInvitations(tx, workspaceId, now));
  if (taken >= MAX_MEMBERS)
    throw conflict(`Limit of ${MAX_MEMBERS} members reached. Remove one or revoke an invitation first.`);
  const invitation = { email, userId: null, workspace: { id: workspaceId, role }, invitedBy };
  const link = await createInvitation(services, tx, invitation);
  await recordOnWorkspace(tx, actor, "workspace.member_invited", workspaceId, now, { role });
  return link;
}

/** Revokes an invitation, whose link no longer works. Throws `AppError` `not_found`. */
export async function revokeInvitation(
  tx: Queries,
  actor: AuditActor,
  request: { workspaceId: string; id: string; now: number },
): Promise<void> {
  const { workspaceId, id, now } = request;
  requireFound(await closeInvitation(tx, workspaceId, id, now), "Invitation");
  await recordOnWorkspace(tx, actor, "workspace.invitation_revoked", workspaceId, now);
}

/** Changes the role of a member. Throws `AppError` `not_found`, and `conflict` for the last owner. */
export async function changeRole(
  tx: Queries,
  actor: AuditActor,
  request: { workspaceId: string; userId: string; role: WorkspaceRole; now: number },
): Promise<Member> {
  const { workspaceId, userId, role, now } = request;
  const member = await getMember(tx, workspaceId, userId);
  if (member.role === role) return member;
  if (member.role === "owner") {
    await requireOtherOwner(tx, workspaceId, userId);
    // A member who can no longer invite must not leave invitations as a way back.
    await revokeInvitationsBy(tx, workspaceId, userId, now);
  }
  await setRole(tx, workspaceId, userId, role);
  await recordOnWorkspace(tx, actor, "workspace.member_changed", workspaceId, now, { user_id: userId, role });
  return { ...member, role };
}

/**
 * Removes a member and revokes their keys for the workspace. Throws `AppError` `not_found`, and `conflict` for the last
 * owner.
 */
export async function removeMember(
  tx: Queries,
  actor: AuditActor,
  request: { workspaceId: string; userId: string; now: number },
): Promise<void> {
  const { workspaceId, userId, now } = request;
  const member = await getMember(tx, workspaceId, userId);
  if (member.role === "owner") await requireOtherOwner(tx, workspaceId, userId);
  await deleteMember(tx, workspaceId, userId, now);
  await recordOnWorkspace(tx, actor, "workspace.member_removed", workspaceId, now, { user_id: userId });
}

/**
 * Deletes a workspace with everything in it. Its ledger entries stay. The other members and all keys are removed first,
 * so that nothing is added; after a crash in between the owner can delete it again. Throws `AppError` `conflict` for a
 * personal workspace, and while a subscription renews.
 */
export async function removeWorkspace(
  services: PipelineNeeds,
  actor: AuditActor,
  request: { workspaceId: string; ownerId: string },
): Promise<void> {
  const { workspaceId, ownerId } = request;
  const { store, now } = services;
  await services.folders.guard.confirmOnline();
  await store.write(async (tx) => {
    await requireShared(tx, workspaceId, "is deleted with its account");
    await requireNoRenewal(tx, workspaceId);
    await removeOtherAccess(tx, workspaceId, ownerId, now());
  });
  const { signal } = new AbortController();
  const deleteEmpty = () =>
    store.write(async (tx) => {
      // A request of the owner may have created a project in the meantime.
      if ((await listProjectIds(tx, workspaceId)).length > 0) return false;
      // A checkout may have been paid in the meantime.
      await requireNoRenewal(tx, workspaceId);
      await closeOrders(tx, workspaceId, now());
      // Invitations that the owner sent meanwhile still count toward the owner's limit.
      await removeOtherAccess(tx, workspaceId, ownerId, now());
      if (await deleteWorkspace(tx, workspaceId))
        await recordOnWorkspace(tx, actor, "workspace.deleted", workspaceId, now());
      return true;
    });
  do await removeWorkspaceContent(services, workspaceId, signal);
  while (!(await deleteEmpty()));
}

async function getMember(tx: Queries, workspaceId: string, userId: string): Promise<Member> {
  return requireFound(await findMember(tx, workspaceId, userId), "Member");
}

async function requireShared(tx: Queries, workspaceId: string, rule: string): Promise<void> {
  const workspace = requireFound(await findWorkspaceById(tx, workspaceId), "Workspace");
  if (workspace.is_personal) throw conflict(`A personal workspace ${rule}.`);
}

async function requireOtherOwner(tx: Queries, workspaceId: string, userId: string): Promise<void> {
  if ((await countOtherOwners(tx, workspaceId, userId)) === 0)
    throw conflict("This is the last owner of the workspace. Make another member an owner first.");
}

/** Writes an action on a workspace to the audit log. */
export const recordOnWorkspace = (
  tx: Queries,
  actor: AuditActor,
  action: AuditAction,
  id: string,
  now: number,
  details: Record<string, unknown> = {},
): Promise<void> => recordAudit(tx, actor, { action, target: id, workspaceId: id, details }, now);
