/** Responses and parameters as OpenAPI documents describe them. `JSON.stringify` leaves out undefined properties. */
import { HTTP_STATUS, type HttpCode } from "../domain/errors";
import { EVENT_STREAM_TYPE } from "./event-stream";
import type { SchemaName } from "./schemas";

export type JsonObject = Record<string, unknown>;

export const schemaRef = (name: SchemaName | "Error"): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Describes a parameter. By default it is text, and optional outside of a path. */
export const describeParameter = (place: "path" | "query" | "header", name: string, rest: JsonObject = {}) => ({
  name,
  in: place,
  required: place === "path",
  description: undefined,
  schema: { type: "string" },
  ...rest,
});

const WAITING_CODES: HttpCode[] = ["rate_limited", "asset_processing", "upstream_unavailable"];

export const describeErrors = (codes: HttpCode[]): JsonObject =>
  Object.fromEntries(
    [...Map.groupBy(new Set(codes), (code) => HTTP_STATUS[code])].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\``).join(", "),
        headers: group.some((code) => WAITING_CODES.includes(code))
          ? { "Retry-After": { schema: { type: "integer" } } }
          : undefined,
        content: { "application/json": { schema: schemaRef("Error") } },
      },
    ]),
  );

/** A response without `content` has no body. `headers`: those that only this response has. */
export type ResponseDoc = {
  description: string;
  headers?: Record<string, { description: string; schema: JsonObject }>;
  content?: Record<string, { schema: JsonObject }>;
};

const describe = (description: string, schema: JsonObject, type = "application/json"): ResponseDoc => ({
  description,
  content: { [type]: { schema } },
});

const createPageSchema = (name: SchemaName, properties: JsonObject): JsonObject => ({
  type: "object",
  required: ["items", ...Object.keys(properties)],
  properties: { items: { type: "array", items: schemaRef(name) }, ...properties },
});
const integer = { type: "integer" };
const total = { ...integer, description: "the items of all pages" };
const nextCursor = { type: ["string", "null"], description: "null on the last page" };

export const respondsWith = (name: SchemaName, description: string) => describe(description, schemaRef(name));
/** Documents a response with a page of resources: `items`, `limit`, `next_cursor`. */
export const respondsWithPage = (name: SchemaName, description: string) =>
  describe(description, createPageSchema(name, { limit: integer, next_cursor: nextCursor }));
/** Documents a response with a page of resources: `items`, `total`, `limit`, `offset`. */
export const respondsWithOffsetPage = (name: SchemaName, description: string) =>
  describe(description, createPageSchema(name, { total, limit: integer, offset: integer }));
export const respondsWithFile = (description: string) => describe(description, { type: "string" }, "*/*");
/** Documents a response without a body. */
export const respondsWithNothing = (description: string): ResponseDoc => ({ description });

const EVENTS_DESCRIPTION = `
Server-sent events, with a comment every 15 seconds. This is the schema of an event's \`data\`:

- \`asset.updated\`, \`cut.updated\`, \`draft.updated\`, \`review.updated\`, \`render.updated\`, \`pipeline.updated\`, \`project.updated\`, \`credits.updated\`
  and \`notification.created\`:
  \`LiveChange\`. Their IDs grow. Those of the last 7 days are stored, and a stream resumes after \`Last-Event-ID\`.
- \`presence\`: \`LiveChange\` with \`users\`, without an ID.
- \`progress\`: \`LiveProgress\`, without an ID.
- \`reset\`: \`{}\`. Events after \`Last-Event-ID\` are no longer stored, so reload your data.

For example:

    id: 42
    event: render.updated
    data: {"entity_id":"01941f29-7c00-7000-8000-000000000000","state":"completed"}
`.trim();

/** Documents a stream of server-sent events. OpenAPI has no form for them, so the schema is that of an event's data. */
export const respondsWithEvents = (description: string) => {
  const anyOf = [schemaRef("LiveChange"), schemaRef("LiveProgress"), { type: "object", additionalProperties: false }];
  return describe(description, { description: EVENTS_DESCRIPTION, anyOf }, EVENT_STREAM_TYPE);
};
