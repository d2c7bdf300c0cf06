/** Live updates as server-sent events, and who has a cut open. */
import { type Static, Type } from "@sinclair/typebox";
import { strictObject, uuidField } from "../../domain/schema-parts";
import { hasCut } from "../../store/cuts";
import { formatUserName } from "../../store/users";
import { ok } from "../call";
import { eventStream } from "../event-stream";
import { respondsWith, respondsWithEvents, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import type { Resource } from "../schemas";
import { pipelineLoader } from "./pipelines";

const query = strictObject({
  workspace_id: Type.Optional(
    uuidField("The workspace, in place of the header Offcut-Workspace, which an EventSource cannot send"),
  ),
  last_event_id: Type.Optional(
    Type.String({ maxLength: 64, description: "The ID after which to resume, if there is no header Last-Event-ID" }),
  ),
});

const headers = {
  "Last-Event-ID": "The ID of the last event that was received: the stream resumes after it. 0: all stored events",
};

/** An `EventSource` sends the header when it reconnects, to its original URL. */
const readLastEventId = ({ headers }: Request, { last_event_id: inQuery }: Static<typeof query>): string | null =>
  headers.get("last-event-id") || inQuery || null;

const access = { rateLimited: false };

export const list = route({
  summary:
    "Follow the changes in a workspace and your notifications. With an API key of a shared workspace, a device or one scope, only the changes",
  access,
  query,
  headers,
  responses: { 200: respondsWithEvents("A stream of events, which does not end by itself") },
  handle: (call, { query }) => {
    const { user, workspace, credential } = call.principal;
    const filter = { workspaceId: workspace.id, userId: credential.isForAccount ? user.id : null };
    return eventStream(call, filter, readLastEventId(call.request, query));
  },
});

export const listOfPipeline = route({
  summary: "Follow the changes of a pipeline and of its cuts, renders and assets",
  access,
  query,
  headers,
  load: pipelineLoader,
  responses: {
    200: respondsWithEvents("A stream of events, which does not end with the pipeline: a retry would continue it"),
  },
  handle: (call, { query, resource }) =>
    eventStream(call, { pipelineId: resource.id }, readLastEventId(call.request, query)),
});

const load = createOwnLoader("Cut", "cut_id", async (db, workspaceId, id) =>
  (await hasCut(db, workspaceId, id)) ? { workspaceId, cutId: id } : null,
);

export const enter = route({
  summary:
    "Report that you have a cut open. Repeat it every 10 seconds: after 30 seconds without a call, you count as gone",
  responses: { 200: respondsWith("CutPresence", "The users who have the cut open, including you") },
  load,
  handle: async ({ services, principal }, { resource }) => {
    const { user } = principal;
    const users = services.presence.enter(resource, { id: user.id, name: formatUserName(user) });
    return ok({ users } satisfies Resource<"CutPresence">);
  },
});

export const leave = route({
  summary: "Report that you have closed a cut",
  responses: { 204: respondsWithNothing("Recorded") },
  load,
  handle: async ({ services, principal }, { resource }) => services.presence.leave(resource, principal.user.id),
});
