/** Live updates as server-sent events. */
import { type Static, Type } from "@sinclair/typebox";
import { eventStream } from "../event-stream";
import { strictObject, uuidField } from "../fields";
import { respondsWithEvents } from "../response-docs";
import { route } from "../route";
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
