/** Invitations to a workspace that wait for their recipients. */

import { formatUserName } from "../../store/users";
import { listInvitations, type WorkspaceInvitation } from "../../store/workspace-invitations";
import { revokeInvitation } from "../../work/workspaces/workspaces";
import { noContent } from "../call";
import { offsetListRoute } from "../offset-list-route";
import { respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS } from "../schemas";
import { showRow } from "../show-row";
import { toCallActor } from "./sign-in-client";

const showInvitation = ({ token, inviter, role }: WorkspaceInvitation): Resource<"WorkspaceInvitation"> =>
  showRow(SCHEMAS.WorkspaceInvitation, token, {
    email: token.email ?? "",
    role,
    invited_by: inviter && { id: inviter.id, name: formatUserName(inviter) },
  });

export const list = offsetListRoute({
  summary: "List the pending invitations to a workspace, newest first. Their links are not shown again",
  access: { credential: "session", ownersOnly: true },
  item: "WorkspaceInvitation",
  description: "A page of invitations",
  read: ({ services, principal }, { limit, offset }) =>
    listInvitations(services.store.read, principal.workspace.id, { now: services.now(), limit, offset }),
  show: (_, invitation) => showInvitation(invitation),
});

export const remove = route({
  summary: "Revoke an invitation to a workspace. Its link no longer works",
  access: { credential: "session", ownersOnly: true },
  responses: { 204: respondsWithNothing("Revoked") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const request = { workspaceId: principal.workspace.id, id: params.invitation_id!, now: services.now() };
    await services.store.write((tx) => revokeInvitation(tx, toCallActor(call), request));
    return noContent();
  },
});
