/** Streams of server-sent events in the OpenAPI documents, which have no form for them: the schema is that of an event's data. */
import type { SchemaName } from "./schemas";

/** The data of events. */
export const EVENT_SCHEMAS: SchemaName[] = ["LiveChange", "LiveProgress"];

/** The description of the content of a stream. */
export const EVENT_STREAM_DESCRIPTION = `
Server-sent events, with a comment every 15 seconds. This is the schema of an event's \`data\`:

- \`asset.updated\`, \`cut.updated\`, \`render.updated\`, \`pipeline.updated\`, \`project.updated\`, \`credits.updated\` and \`notification.created\`:
  \`LiveChange\`. Their IDs grow. Those of the last 7 days are stored, and a stream resumes after \`Last-Event-ID\`.
- \`progress\`: \`LiveProgress\`, without an ID.
- \`reset\`: \`{}\`. Events after \`Last-Event-ID\` are not stored any more: read again what you show.

For example:

    id: 42
    event: render.updated
    data: {"entity_id":"01941f29-7c00-7000-8000-000000000000","state":"completed"}
`.trim();
