/** The sessions of the signed-in user, and the accounts at sign-in providers that are linked to the user. */
import { notFound } from "../../domain/errors";
import { listOidcIdentities, type StoredIdentity } from "../../store/oidc-identities";
import { deleteSession, endOtherSessions, listSessions, type Session } from "../../store/sessions";
import { recordAudit } from "../../work/access/audit";
import { formatProviderName, removeIdentity as unlinkIdentity } from "../../work/identity/oidc-accounts";
import type { Call } from "../call";
import { offsetListRoute } from "../list-route";
import { respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";
import { toAccountOwner, toCallActor } from "./sign-in-client";

const showSession = ({ principal }: Call, session: Session): Resource<"SessionItem"> =>
  showRow(SCHEMAS.SessionItem, session, { is_current: session.id === principal.credential.id });

export const list = offsetListRoute({
  summary: "List your sessions, last used first",
  access: { credential: "session", target: "account" },
  item: "SessionItem",
  description: "A page of sessions",
  read: ({ services, principal }, page) =>
    listSessions(services.store.read, principal.user.id, { now: services.now(), ...page }),
  show: showSession,
});

export const removeOthers = route({
  summary: "End all of your sessions except the one that makes this request",
  access: { credential: "session", target: "account" },
  responses: { 204: respondsWithNothing("The other sessions have ended") },
  handle: async (call) => {
    const { services, principal } = call;
    await services.store.write(async (tx) => {
      for (const id of await endOtherSessions(tx, principal.user.id, principal.credential.id)) {
        await recordAudit(tx, toCallActor(call), { action: "session.ended", target: id }, services.now());
      }
    });
  },
});

export const remove = route({
  summary: "End a session",
  access: { credential: "session", target: "account" },
  responses: { 204: respondsWithNothing("The session has ended") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const id = params.session_id!;
    const isEnded = await services.store.write(async (tx) => {
      if (!(await deleteSession(tx, principal.user.id, id))) return false;
      await recordAudit(tx, toCallActor(call), { action: "session.ended", target: id }, services.now());
      return true;
    });
    if (!isEnded) throw notFound("Session");
  },
});

const showIdentity = ({ services }: Call, identity: StoredIdentity): Resource<"Identity"> =>
  showRow(SCHEMAS.Identity, identity, { provider: formatProviderName(services.config, identity.issuer) });

export const listIdentities = offsetListRoute({
  summary: "List the accounts at sign-in providers that sign you in",
  access: { credential: "session", target: "account" },
  item: "Identity",
  description: "A page of identities",
  read: async ({ services, principal }, { limit, offset }) => {
    const all = await listOidcIdentities(services.store.read, principal.user.id);
    return { rows: all.slice(offset, offset + limit), total: all.length };
  },
  show: showIdentity,
});

export const removeIdentity = route({
  summary: "Remove an account at a sign-in provider. All other sessions end",
  access: { credential: "fresh-session", target: "account" },
  errors: ["conflict"],
  responses: { 204: respondsWithNothing("The provider no longer signs you in") },
  handle: (call) => unlinkIdentity(call.services, toAccountOwner(call), call.params.identity_id!),
});
