/** Documentation of successful responses: a description and the schema of the body. */
import type { SchemaName } from "./schemas";

export type ResponseBodyDoc =
  | { kind: "resource" | "page" | "offset_page"; name: SchemaName }
  | { kind: "file" }
  | { kind: "events" }
  | null;
export type ResponseDoc = { description: string; body: ResponseBodyDoc };

/** Documents a response with one resource. */
export const respondsWith = (name: SchemaName, description: string): ResponseDoc => ({
  description,
  body: { kind: "resource", name },
});
/** Documents a response with a page of resources: `items`, `limit`, `next_cursor`. */
export const respondsWithPage = (name: SchemaName, description: string): ResponseDoc => ({
  description,
  body: { kind: "page", name },
});
/** Documents a response with a page of resources: `items`, `total`, `limit`, `offset`. */
export const respondsWithOffsetPage = (name: SchemaName, description: string): ResponseDoc => ({
  description,
  body: { kind: "offset_page", name },
});
/** Documents a response with a file, which has its own content type. */
export const respondsWithFile = (description: string): ResponseDoc => ({ description, body: { kind: "file" } });
/** Documents a response that is a stream of server-sent events. */
export const respondsWithEvents = (description: string): ResponseDoc => ({ description, body: { kind: "events" } });
/** Documents a response without a body. */
export const respondsWithNothing = (description: string): ResponseDoc => ({ description, body: null });
