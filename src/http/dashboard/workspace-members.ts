/** Members of a workspace, and invitations that wait for their recipients. */

import { Type } from "@sinclair/typebox";
import { WORKSPACE_ROLES } from "../../domain/access";
import { MAX_EMAIL_CHARACTERS } from "../../domain/field-limits";
import { oneOf, strictObject } from "../../domain/schema-parts";
import { formatUserName } from "../../store/users";
import { listInvitations, type WorkspaceInvitation } from "../../store/workspace-invitations";
import { listMembers, type Member } from "../../store/workspace-members";
import { requireRemoval } from "../../work/access/access";
import { changeRole, inviteMember, removeMember, revokeInvitation } from "../../work/workspaces/workspaces";
import { created, createOnce, ok } from "../call";
import { offsetListRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";
import { toCallActor } from "./sign-in-client";

const showMember = ({ user, role, since }: Member): Resource<"WorkspaceMember"> =>
  showRow(SCHEMAS.WorkspaceMember, user, {
    user_id: user.id,
    name: formatUserName(user),
    role,
    created_at: formatTime(since),
  });

const role = oneOf(...WORKSPACE_ROLES);

export const list = offsetListRoute({
  summary: "List the members of a workspace, earliest first",
  item: "WorkspaceMember",
  description: "A page of members",
  read: ({ services, principal }, page) => listMembers(services.store.read, principal.workspace.id, page),
  show: (_, member) => showMember(member),
});

export const add = route({
  summary:
    "Invite a member by email address. The invitation is valid for 7 days; an account can also accept it in its list of invitations",
  example: { email: "grace@studio.example", role: "editor" },
  access: { credential: "session", ownersOnly: true },
  errors: ["conflict"],
  body: strictObject({
    email: Type.String({ maxLength: MAX_EMAIL_CHARACTERS, errorText: "must be an email address" }),
    role,
  }),
  idempotent: true,
  responses: {
    201: respondsWith(
      "AddedMember",
      "The invitation link, which is shown only once: a replayed response has null. It is the same whether or not the address has an account",
    ),
  },
  handle: async (call, { body }) =>
    createOnce(call, async (tx) => {
      const { services, principal } = call;
      const workspaceId = principal.workspace.id;
      const request = { ...body, workspaceId, invitedBy: principal.user };
      const { url, expiresAt } = await inviteMember(services, tx, toCallActor(call), request);
      const shown: Resource<"AddedMember"> = {
        member: null,
        invitation_url: url,
        expires_at: formatTime(expiresAt),
      };
      return created(call.url(`/workspaces/${workspaceId}/members`), shown);
    }),
});

export const update = route({
  summary: "Change the role of a member",
  example: { role: "viewer" },
  access: { credential: "session", ownersOnly: true },
  errors: ["conflict"],
  body: strictObject({ role }),
  responses: { 200: respondsWith("WorkspaceMember", "The member") },
  handle: async (call, { body }) => {
    const { services, principal, params } = call;
    const request = { workspaceId: principal.workspace.id, userId: params.user_id!, ...body, now: services.now() };
    return ok(showMember(await services.store.write((tx) => changeRole(tx, toCallActor(call), request))));
  },
});

export const remove = route({
  summary: "Remove a member, or leave the workspace. The member's API keys for it are revoked",
  access: { credential: "session", target: "account" },
  errors: ["conflict"],
  responses: { 204: respondsWithNothing("Removed") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const userId = params.user_id!;
    requireRemoval(principal, userId);
    const request = { workspaceId: principal.workspace.id, userId, now: services.now() };
    await services.store.write((tx) => removeMember(tx, toCallActor(call), request));
  },
});

const showInvitation = ({ token, inviter, role }: WorkspaceInvitation): Resource<"WorkspaceInvitation"> =>
  showRow(SCHEMAS.WorkspaceInvitation, token, {
    email: token.email ?? "",
    role,
    invited_by: inviter && { id: inviter.id, name: formatUserName(inviter) },
  });

export const listPending = offsetListRoute({
  summary: "List the pending invitations to a workspace, newest first. Their links are not shown again",
  access: { credential: "session", ownersOnly: true },
  item: "WorkspaceInvitation",
  description: "A page of invitations",
  read: ({ services, principal }, { limit, offset }) =>
    listInvitations(services.store.read, principal.workspace.id, { now: services.now(), limit, offset }),
  show: (_, invitation) => showInvitation(invitation),
});

export const revokePending = route({
  summary: "Revoke an invitation to a workspace. Its link no longer works",
  access: { credential: "session", ownersOnly: true },
  responses: { 204: respondsWithNothing("Revoked") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const request = { workspaceId: principal.workspace.id, id: params.invitation_id!, now: services.now() };
    await services.store.write((tx) => revokeInvitation(tx, toCallActor(call), request));
  },
});
