/** The signed-in user's pending invitations to workspaces, and the details of an invitation link. */

import { secretField, strictObject } from "../../domain/schema-parts";
import { formatUserName, type User } from "../../store/users";
import { listReceivedInvitations, type ReceivedInvitation } from "../../store/workspace-invitations";
import type { RouteAccess } from "../../work/access/access";
import { readInvitation } from "../../work/identity/invitations";
import {
  acceptReceivedInvitation,
  declineReceivedInvitation,
  type InvitationChoice,
} from "../../work/workspaces/received-invitations";
import { type Call, ok, type Reply } from "../call";
import { offsetListRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { openRoute, route } from "../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";
import { MAX_TOKEN_CHARACTERS } from "./auth";
import { toCallActor, toSignInClient } from "./sign-in-client";
import { showWorkspace } from "./workspaces";

const ACCESS = { credential: "session", target: "account" } satisfies Partial<RouteAccess>;

const showInviter = (inviter: User | null) =>
  inviter && { id: inviter.id, name: formatUserName(inviter), email: inviter.email };

const showReceived = ({ token, workspace, inviter, role }: ReceivedInvitation): Resource<"ReceivedInvitation"> =>
  showRow(SCHEMAS.ReceivedInvitation, token, {
    workspace: { id: workspace.id, name: workspace.name },
    role,
    invited_by: showInviter(inviter),
  });

export const list = offsetListRoute({
  summary: "List the invitations to workspaces that wait for you, newest first. None before your address is confirmed",
  access: ACCESS,
  item: "ReceivedInvitation",
  description: "A page of invitations",
  read: async ({ services, principal: { user } }, { limit, offset }) =>
    user.email_verified_at === null
      ? { rows: [], total: 0 }
      : listReceivedInvitations(services.store.read, user.email, { now: services.now(), limit, offset }),
  show: (_, invitation) => showReceived(invitation),
});

async function accept(call: Call, choice: InvitationChoice): Promise<Reply> {
  const { services, principal } = call;
  const joined = await services.store.write((tx) =>
    acceptReceivedInvitation(tx, toCallActor(call), principal.user, choice, services.now()),
  );
  return ok(showWorkspace(joined));
}

export const acceptListed = route({
  summary: "Accept an invitation to a workspace",
  access: ACCESS,
  responses: { 200: respondsWith("Workspace", "The workspace that you have joined") },
  handle: (call) => accept(call, { id: call.params.invitation_id! }),
});

export const decline = route({
  summary: "Decline an invitation to a workspace. Its link no longer works",
  access: ACCESS,
  responses: { 204: respondsWithNothing("Declined") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const choice = { id: params.invitation_id! };
    await services.store.write((tx) =>
      declineReceivedInvitation(tx, toCallActor(call), principal.user, choice, services.now()),
    );
  },
});

const body = strictObject({ token: secretField("The part of the link after the `#`", MAX_TOKEN_CHARACTERS) });
const example = { token: "…" };

export const acceptLink = route({
  summary: "Accept an invitation to a workspace with its link, which must be for the address of your account",
  access: ACCESS,
  errors: ["not_found"],
  example,
  body,
  responses: { 200: respondsWith("Workspace", "The workspace that you have joined") },
  handle: (call, { body: { token } }) => accept(call, { token }),
});

export const readLink = openRoute({
  summary: "Retrieve the details of an invitation by its link, without using it up",
  errors: ["not_found"],
  example,
  body,
  responses: { 200: respondsWith("InvitationLink", "The invitation") },
  handle: async (call, { body: { token } }) => {
    const found = await readInvitation(call.services, token, toSignInClient(call));
    return ok({
      email: found.email,
      workspace: found.workspace && { id: found.workspace.id, name: found.workspace.name },
      role: found.role,
      invited_by: showInviter(found.inviter),
      expires_at: formatTime(found.expiresAt),
    } satisfies Resource<"InvitationLink">);
  },
});
