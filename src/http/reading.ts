/** Reading what a client sent: JSON bodies, query strings, path ids, each failing with the contract's code. */
import { FormatRegistry, type Static, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { AppError, type FieldError } from "../domain/errors";
import { isUuid } from "../lib/ids";

FormatRegistry.Set("uuid", isUuid);

export const LARGEST_JSON_BYTES = 1024 * 1024;

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

function check<S extends TSchema>(schema: S): TypeCheck<S> {
  const known = compiled.get(schema) ?? TypeCompiler.Compile(schema);
  compiled.set(schema, known);
  return known as TypeCheck<S>;
}

/**
 * The text of a JSON body. Errors: `unsupported_media_type`, `payload_too_large`.
 */
export async function readBodyText(request: Request): Promise<string> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > LARGEST_JSON_BYTES) throw tooLarge();
  if (type !== undefined && type !== "application/json") throw wrongType();
  // With a Content-Length the server reads no more than was announced; without, the body is counted as it comes.
  const reading = request.headers.has("content-length") ? request.bytes() : readLimited(request);
  const bytes = await reading.catch((error) => {
    // A client that goes away is no failure of the server.
    throw error instanceof AppError ? error : new AppError("bad_request", "The body broke off.", { cause: error });
  });
  if (type === undefined && bytes.byteLength > 0) throw wrongType();
  return decode(bytes);
}

/** Bytes that are no UTF-8 are refused: read all the same, names and scripts would be stored with holes in them. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError("bad_request", "The body is not valid UTF-8.", { cause: error });
  }
}

async function readLimited(request: Request): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > LARGEST_JSON_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLarge = () => new AppError("payload_too_large", `The body must be at most ${LARGEST_JSON_BYTES} bytes.`);
const wrongType = () => new AppError("unsupported_media_type", "The body must be sent as application/json.");

/** The body's value. `optional`: an empty body counts as `{}`. Errors: `bad_request`, `validation_error`. */
export function parseBody<S extends TSchema>(schema: S, text: string, optional = false): Static<S> {
  let value: unknown;
  try {
    value = optional && text === "" ? {} : JSON.parse(text);
  } catch {
    throw new AppError("bad_request", "The body is not valid JSON.");
  }
  if (ZERO_CHARACTER.test(text)) {
    throw new AppError("validation_error", "The body holds a zero character.", {
      fields: [{ field: "body", message: "must not hold the character U+0000", type: "value_error", input: null }],
    });
  }
  return validate(schema, value, "body");
}

/** `\u0000` in JSON that is not itself behind a backslash: the database would lose the text from there on. */
const ZERO_CHARACTER = /(?<!\\)(?:\\\\)*\\u0000/;

/** Not `1e1` or `0x10`, which are numbers to the language and to nobody else. */
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** The query's values: numbers are read where the schema has them. Errors: `validation_error`. */
export function parseQuery<S extends TSchema>(schema: S, url: URL): Static<S> {
  const properties = (schema as unknown as { properties: Record<string, TSchema> }).properties;
  const value: Record<string, unknown> = {};
  for (const [name, text] of url.searchParams) {
    const isNumber = properties[name]?.type === "integer" || properties[name]?.type === "number";
    value[name] = isNumber && DECIMAL.test(text) ? Number(text) : text;
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!(name in value) && property.default !== undefined) value[name] = property.default;
  }
  return validate(schema, value, "query");
}

/** Throws unless every path parameter is a UUID. Gives them in lower case. */
export function parsePathIds(params: Record<string, string>): Record<string, string> {
  const fields = Object.entries(params)
    .filter(([, value]) => !isUuid(value))
    .map(([name, value]) => ({ field: `path.${name}`, message: "must be a UUID", type: "uuid_parsing", input: value }));
  if (fields.length > 0) throw new AppError("validation_error", "The path holds an id that is no UUID.", { fields });
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.toLowerCase()]));
}

function validate<S extends TSchema>(schema: S, value: unknown, place: "body" | "query"): Static<S> {
  const checker = check(schema);
  if (checker.Check(value)) return value;
  const fields = new Map<string, FieldError>();
  for (const error of checker.Errors(value)) {
    const field = place + dotted(error.path);
    if (!fields.has(field))
      fields.set(field, { field, message: explain(error), type: pydanticType(error), input: error.value });
  }
  throw new AppError(
    "validation_error",
    place === "body" ? "The body has failing fields." : "The query has failing fields.",
    {
      fields: [...fields.values()],
    },
  );
}

/** A JSON pointer as a dotted path. */
const dotted = (pointer: string): string => pointer.replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");

function explain(error: ValueError): string {
  const said = (error.schema as { errorText?: string }).errorText;
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "is required";
    case ValueErrorType.ObjectAdditionalProperties:
      return "is not a known property";
    case ValueErrorType.StringFormat:
      return said ?? "must be a UUID";
    case ValueErrorType.Object:
      return said ?? "must be an object";
    case ValueErrorType.Array:
      return said ?? "must be a list";
    case ValueErrorType.Boolean:
      return said ?? "must be true or false";
    case ValueErrorType.String:
      return said ?? "must be a text";
    case ValueErrorType.Number:
      return said ?? "must be a number";
    default:
      return said ?? error.message.charAt(0).toLowerCase() + error.message.slice(1);
  }
}

function pydanticType(error: ValueError): string {
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "missing";
    case ValueErrorType.ObjectAdditionalProperties:
      return "extra_forbidden";
    case ValueErrorType.StringFormat:
      return error.schema.format === "uuid" ? "uuid_parsing" : "value_error";
    case ValueErrorType.StringMinLength:
      return "string_too_short";
    case ValueErrorType.StringMaxLength:
      return "string_too_long";
    case ValueErrorType.String:
      return "string_type";
    case ValueErrorType.Integer:
      return "int_type";
    default:
      return "value_error";
  }
}
