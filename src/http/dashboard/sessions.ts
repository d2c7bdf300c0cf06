/** The sessions of the signed-in user. */
import { notFound } from "../../domain/errors";
import { deleteSession, endOtherSessions, listSessions, type Session } from "../../store/sessions";
import { recordAudit } from "../../work/access/audit";
import type { Call } from "../call";
import { offsetListRoute } from "../list-route";
import { respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS } from "../schemas";
import { showRow } from "../show-row";
import { toCallActor } from "./sign-in-client";

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
        const target = { kind: "session", id };
        await recordAudit(tx, toCallActor(call), { action: "session.ended", target }, services.now());
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
      await recordAudit(
        tx,
        toCallActor(call),
        { action: "session.ended", target: { kind: "session", id } },
        services.now(),
      );
      return true;
    });
    if (!isEnded) throw notFound("Session");
  },
});
