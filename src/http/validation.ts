/** Values against schemas. What a refusal says is bounded, whatever was sent: it must never be larger than the request. */
import { FormatRegistry, type Static, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { AppError, type FieldError, MAX_FIELD_ERRORS } from "../domain/errors";
import { isUuid } from "../lib/ids";

FormatRegistry.Set("uuid", isUuid);

/** Errors that are looked at, of which several may be about one field. */
const MAX_EXAMINED_ERRORS = 20 * MAX_FIELD_ERRORS;
/** Property names come from the client. */
const MAX_FIELD_CHARACTERS = 200;
const MAX_INPUT_CHARACTERS = 200;

const checkers = new WeakMap<TSchema, TypeCheck<TSchema>>();

function getChecker<S extends TSchema>(schema: S): TypeCheck<S> {
  const known = checkers.get(schema) ?? TypeCompiler.Compile(schema);
  checkers.set(schema, known);
  return known as TypeCheck<S>;
}

/** Returns the value when it fits the schema. Errors: `validation_error` with the first failing fields. */
export function validate<S extends TSchema>(schema: S, value: unknown, place: "body" | "query"): Static<S> {
  const checker = getChecker(schema);
  if (checker.Check(value)) return value;
  const fields = new Map<string, FieldError>();
  let examined = 0;
  // The iterator is lazy: what is not asked for is not looked at.
  for (const error of checker.Errors(value)) {
    const field = truncate(place + toDottedPath(error.path), MAX_FIELD_CHARACTERS);
    if (!fields.has(field)) {
      fields.set(field, {
        field,
        message: describeError(error),
        type: toPydanticType(error),
        input: truncateInput(error.value),
      });
    }
    examined++;
    // A list that is too long is not looked into.
    if (error.type === ValueErrorType.ArrayMaxItems) break;
    if (fields.size === MAX_FIELD_ERRORS || examined === MAX_EXAMINED_ERRORS) break;
  }
  const message = place === "body" ? "Request body has invalid fields." : "Query has invalid parameters.";
  throw new AppError("validation_error", message, { fields: [...fields.values()] });
}

/** What was sent, as a refusal may show it: a list or an object is not repeated, a long text is cut. */
export const truncateInput = (value: unknown): unknown => {
  if (typeof value === "string") return truncate(value, MAX_INPUT_CHARACTERS);
  return typeof value === "object" || value === undefined ? null : value;
};

/** The text, cut where it is longer than `most` UTF-16 units; no character is cut in half. */
function truncate(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A JSON pointer as a dotted path. Cut first: it may be as long as the body. */
const toDottedPath = (pointer: string): string =>
  truncate(pointer, 2 * MAX_FIELD_CHARACTERS)
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");

function describeError(error: ValueError): string {
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

function toPydanticType(error: ValueError): string {
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
