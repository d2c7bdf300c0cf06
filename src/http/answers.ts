/** What a call may answer, for the documentation: a description, and the schema of the body. */
import type { SchemaName } from "./public/schemas";

export type AnswerBody = { kind: "resource" | "page"; name: SchemaName } | { kind: "file" } | null;
export type Answer = { description: string; body: AnswerBody };

/** One resource. */
export const shows = (name: SchemaName, description: string): Answer => ({
  description,
  body: { kind: "resource", name },
});
/** A page of resources: `items`, `limit`, `next_cursor`. */
export const pageOf = (name: SchemaName, description: string): Answer => ({
  description,
  body: { kind: "page", name },
});
/** A file of its own content type. */
export const sends = (description: string): Answer => ({ description, body: { kind: "file" } });
/** No body. */
export const nothing = (description: string): Answer => ({ description, body: null });
