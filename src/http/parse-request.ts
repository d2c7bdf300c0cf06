/** Reading what a client sent: JSON bodies, query strings, path ids, each failing with the contract's code. */
import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../domain/errors";
import { isUuid } from "../lib/ids";
import { truncateInput, validate } from "./validation";

/** The largest JSON body of a route that says nothing else. */
export const MAX_BODY_BYTES = 64 * 1024;
/** The largest JSON body of routes that take scripts and lists of segments. */
export const MAX_LARGE_BODY_BYTES = 1024 * 1024;
/** How deep lists and objects may be nested in a body. */
const MAX_NESTING_LEVELS = 64;
const MAX_NAME_CHARACTERS = 1024;
/** No body has objects of so many properties, and objects of very many are slow to build. */
const MAX_PROPERTIES = 1024;

/** A body that did not arrive in time: its connection is of no more use. */
export class BodyTimeoutError extends AppError<"bad_request"> {}

/** The rest of a refused body that is not longer is read and dropped, so that the client gets to read the answer. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

/** Whether the connection must be closed after a refusal: the rest of the body has no known end, or a distant one. */
export const mustCloseConnection = (request: Request): boolean =>
  request.headers.has("transfer-encoding") || Number(request.headers.get("content-length") ?? 0) > MAX_DISCARDED_BYTES;

export type BodyLimits = { maxBytes: number; timeoutMs: number };

/**
 * Returns the text of a JSON body. Errors: `unsupported_media_type`, `payload_too_large` as soon as the limit is passed, `bad_request` when
 * it does not arrive whole and in time.
 */
export async function readBodyText(request: Request, limits: BodyLimits): Promise<string> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  if (type !== undefined && type !== "application/json") throw wrongType();
  const bytes = await readLimited(request, limits).catch((error) => {
    if (error instanceof AppError) throw error;
    // A client that goes away is no failure of the server.
    throw new AppError("bad_request", "Request body ended before Content-Length bytes were received.", {
      cause: error,
    });
  });
  if (type === undefined && bytes.byteLength > 0) throw wrongType();
  return decode(bytes);
}

/** Bytes that are no UTF-8 are refused: read all the same, names and scripts would be stored with holes in them. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError("bad_request", "Request body is not valid UTF-8.", { cause: error });
  }
}

/** Counts the bytes as they come, and waits for them no longer than the limit. */
async function readLimited(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const timer = setTimeout(() => {
    const seconds = limits.timeoutMs / 1000;
    late.reject(new BodyTimeoutError("bad_request", `Request body was not received within ${seconds} s.`));
  }, limits.timeoutMs);
  try {
    // With a Content-Length the server reads no more than was announced; without, the body is counted as it comes.
    const reading = request.headers.has("content-length") ? request.bytes() : readCounted(request, limits.maxBytes);
    return await Promise.race([reading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readCounted(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  // Not `for await`: left early, that waits until the rest of the body has come.
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
const wrongType = () => new AppError("unsupported_media_type", "Request body must be sent as application/json.");

/** Long enough for several requests to be accepted, read and answered; on a busy machine as long as the turn before took. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;

let lastTask: Promise<unknown> = Promise.resolve();
let lastTaskMs = 0;

/**
 * Runs `work` on the text of a body. Large ones take turns, and other requests are answered between two of them: each keeps the process busy
 * for a while, and many may arrive at once.
 */
export function runLargeTasksSerially<Result>(text: string, work: () => Result): Result | Promise<Result> {
  if (text.length <= MAX_BODY_BYTES) return work();
  const turn = lastTask
    .then(() => Bun.sleep(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, lastTaskMs))))
    .then(() => {
      const started = performance.now();
      try {
        return work();
      } finally {
        lastTaskMs = performance.now() - started;
      }
    });
  lastTask = turn.catch(() => {});
  return turn;
}

/** The body's value. `optional`: an empty body counts as `{}`. Errors: `bad_request`, `validation_error`. */
export function parseBody<S extends TSchema>(schema: S, text: string, optional = false): Static<S> {
  const refusal = findShapeError(text);
  if (refusal) throw new AppError("bad_request", refusal);
  let value: unknown;
  try {
    value = optional && text === "" ? {} : JSON.parse(text);
  } catch {
    throw new AppError("bad_request", "Request body is not valid JSON.");
  }
  if (hasNulEscape(text)) {
    throw new AppError("validation_error", "Request body contains the character U+0000.", {
      fields: [{ field: "body", message: "must not hold the character U+0000", type: "value_error", input: null }],
    });
  }
  return validate(schema, value, "body");
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns why a JSON text is refused before it is parsed: lists and objects nested too deep, objects with very many properties, or a property with a
 * very long name, which would be costly to name in an error. Null: it may be parsed. One pass; what is in strings does not count.
 */
export function findShapeError(text: string): string | null {
  /** Properties so far of the object that is open at each level. */
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
      // Before a colon stands a name.
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

/** Where the string that begins at `start` ends: at its closing quote, or with the text. */
function findStringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length;
}

const NUL_ESCAPE = "\\u0000";

/** Whether a JSON text has `\u0000` that is not itself behind a backslash: the database would lose the text from there on. */
function hasNulEscape(text: string): boolean {
  for (let at = text.indexOf(NUL_ESCAPE); at >= 0; at = text.indexOf(NUL_ESCAPE, at + 1)) {
    let before = at;
    while (before > 0 && text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return true;
  }
  return false;
}

/** Not `1e1` or `0x10`, which are numbers to the language and to nobody else. */
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** The query's values: numbers are read where the schema has them. Errors: `validation_error`. */
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

/** Throws unless every path parameter is a UUID. Gives them in lower case. */
export function parsePathIds(params: Record<string, string>): Record<string, string> {
  const fields = Object.entries(params)
    .filter(([, value]) => !isUuid(value))
    .map(([name, value]) => ({
      field: `path.${name}`,
      message: "must be a UUID",
      type: "uuid_parsing",
      input: truncateInput(value),
    }));
  if (fields.length > 0) throw new AppError("validation_error", "Path parameters must be UUIDs.", { fields });
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.toLowerCase()]));
}
