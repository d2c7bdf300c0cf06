/** Reads and validates requests: JSON bodies, query strings and path parameters. */
import type { Static, TSchema } from "@sinclair/typebox";
import { AppError, badRequest } from "../domain/errors";
import { isUuid } from "../lib/ids";
import { requireNoNul, truncateInput, validate } from "./validation";

/** The default limit of a JSON body. */
export const MAX_BODY_BYTES = 64 * 1024;
/** The limit for routes with scripts and lists of segments. */
export const MAX_LARGE_BODY_BYTES = 1024 * 1024;
const MAX_NESTING_LEVELS = 64;
const MAX_NAME_CHARACTERS = 1024;
/** More than any schema has: very large objects are slow to build. */
const MAX_PROPERTIES = 1024;

/** Thrown when a body was not received in time. Its connection is closed, because more of it may follow. */
export class BodyTimeoutError extends AppError<"bad_request"> {}

/** The rest of a rejected body up to this size is read and discarded, so that the client can read the response. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

/** Returns whether to close the connection after a rejection: the rest of the body is long or of unknown length. */
export const mustCloseConnection = (request: Request): boolean =>
  request.headers.has("transfer-encoding") || Number(request.headers.get("content-length") ?? 0) > MAX_DISCARDED_BYTES;

/** The formats of request bodies, with their content types. */
export const BODY_TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;
export type BodyType = keyof typeof BODY_TYPES;

export type BodyLimits = { type: BodyType; maxBytes: number; timeoutMs: number };

/**
 * Reads the text of a body of this type. Throws `AppError`: `unsupported_media_type`, `payload_too_large` as soon as
 * the limit is exceeded, `bad_request` if the body is incomplete or late.
 */
export async function readBodyText(request: Request, limits: BodyLimits): Promise<string> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  const expected = BODY_TYPES[limits.type];
  if (type !== undefined && type !== expected) throw wrongType(expected);
  const bytes = await readLimited(request, limits).catch((error) => {
    if (error instanceof AppError) throw error;
    // A client that disconnects is not a failure of the server.
    throw new AppError("bad_request", "Request body ended before Content-Length bytes were received.", {
      cause: error,
    });
  });
  if (type === undefined && bytes.byteLength > 0) throw wrongType(expected);
  return decode(bytes);
}

/** Decodes UTF-8. Rejects invalid bytes, which would become replacement characters in names and scripts. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError("bad_request", "Request body is not valid UTF-8.", { cause: error });
  }
}

async function readLimited(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const timer = setTimeout(() => {
    const seconds = limits.timeoutMs / 1000;
    late.reject(new BodyTimeoutError("bad_request", `Request body was not received within ${seconds} s.`));
  }, limits.timeoutMs);
  try {
    // With a Content-Length, Bun reads no more than that. Without one, the bytes are counted as they arrive.
    const reading = request.headers.has("content-length") ? request.bytes() : readCounted(request, limits.maxBytes);
    return await Promise.race([reading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readCounted(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  // `for await` is not used, because leaving it early waits for the rest of the body.
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
}

const tooLarge = (maxBytes: number) =>
  new AppError("payload_too_large", `Request body must be at most ${maxBytes} bytes.`);
const wrongType = (expected: string) =>
  new AppError("unsupported_media_type", `Request body must be sent as ${expected}.`);

/** Parses and validates a JSON body. Throws `AppError` `bad_request` or `validation_error`. */
export function parseBody<S extends TSchema>(schema: S, text: string): Static<S> {
  const refusal = findShapeError(text);
  if (refusal) throw badRequest(refusal);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest("Request body is not valid JSON.");
  }
  if (text.includes(NUL_ESCAPE)) requireNoNul(value);
  return validate(schema, value, "body");
}

/** Parses and validates a form body. Throws `AppError` `bad_request` for duplicate parameters; `validation_error`. */
export function parseForm<S extends TSchema>(schema: S, text: string): Static<S> {
  const parameters = new URLSearchParams(text);
  if (parameters.size > MAX_PROPERTIES)
    throw badRequest(`Request body must have at most ${MAX_PROPERTIES} parameters.`);
  const values = Object.fromEntries(parameters);
  if (parameters.size !== Object.keys(values).length) throw badRequest("Request body contains a parameter twice.");
  return validate(schema, values, "body");
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns why a JSON text must not be parsed, or null: too deep nesting, an object with too many properties, or a
 * property with a name too long to be repeated in an error. Makes one pass and ignores the contents of strings.
 */
export function findShapeError(text: string): string | null {
  /** Number of properties so far, by nesting level of the open objects. */
  const properties = new Int32Array(MAX_NESTING_LEVELS + 1);
  let depth = 0;
  let lastString = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = findStringEnd(text, i);
      lastString = end - i;
      i = end;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth++;
      if (depth > MAX_NESTING_LEVELS)
        return `Request body must not be nested deeper than ${MAX_NESTING_LEVELS} levels.`;
      properties[depth] = 0;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
    else if (code === COLON) {
      // The string before a colon is a property name.
      if (lastString > MAX_NAME_CHARACTERS) {
        return `Property names in a request body must have at most ${MAX_NAME_CHARACTERS} characters.`;
      }
      const count = (properties[depth] ?? 0) + 1;
      properties[depth] = count;
      if (count > MAX_PROPERTIES) return `Objects in a request body must have at most ${MAX_PROPERTIES} properties.`;
    }
  }
  return null;
}

/** Returns the index of the closing quote of the string that starts at `start`, or the length of the text. */
function findStringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length;
}

const NUL_ESCAPE = "\\u0000";

/** Excludes forms such as `1e1` and `0x10`, which `Number` accepts. */
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** Parses and validates the query. Values become numbers where the schema has them. Throws `AppError`. */
export function parseQuery<S extends TSchema>(schema: S, url: URL): Static<S> {
  const properties = (schema as unknown as { properties: Record<string, TSchema> }).properties;
  const values = new Map<string, unknown>();
  for (const [name, property] of Object.entries(properties)) {
    if (property.default !== undefined) values.set(name, property.default);
  }
  for (const [name, text] of url.searchParams) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isNumber = property?.type === "integer" || property?.type === "number";
    values.set(name, isNumber && DECIMAL.test(text) ? Number(text) : text);
  }
  return validate(schema, Object.fromEntries(values), "query");
}

/** A path parameter that is not a UUID. `schema` is for the OpenAPI document, and its `errorText` for errors. */
export type PathParameter = { pattern: RegExp; schema: TSchema };

/**
 * Returns the path parameters: UUIDs in lower case, except for those in `others`, which must match their patterns.
 * Throws `AppError` `validation_error`.
 */
export function parsePath(
  params: Record<string, string>,
  others: Record<string, PathParameter> = {},
): Record<string, string> {
  const fields = Object.entries(params).flatMap(([name, value]) => {
    const other = others[name];
    if (other ? other.pattern.test(value) : isUuid(value)) return [];
    const message: string = other ? other.schema.errorText : "must be a UUID";
    const type = other ? "value_error" : "uuid_parsing";
    return [{ name, field: `path.${name}`, message, type, input: truncateInput(value) }];
  });
  if (fields.length > 0) {
    const described = fields.map(({ name, message }) => `\`${name}\` ${message}`).join(", ");
    const errors = fields.map(({ name: _, ...error }) => error);
    throw new AppError("validation_error", `Path parameter ${described}.`, { fields: errors });
  }
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, others[name] ? value : value.toLowerCase()]),
  );
}
