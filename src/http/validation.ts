/** Validates values with schemas. The size of errors is bounded, because it must not exceed the request's. */
import { FormatRegistry, type Static, type TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { AppError, type FieldError, MAX_FIELD_ERRORS } from "../domain/errors";
import { getChecker } from "../domain/schema-parts";
import { isUuid } from "../lib/ids";
import { toPydanticError } from "./pydantic-errors";

FormatRegistry.Set("uuid", isUuid);

/** Bounds the errors that are read from the validator, several of which may be about one field. */
const MAX_EXAMINED_ERRORS = 20 * MAX_FIELD_ERRORS;
/** Field names contain property names that the client chose. */
const MAX_FIELD_CHARACTERS = 200;
const MAX_INPUT_CHARACTERS = 200;

/**
 * Returns the value, with the UUIDs among its properties in lower case, if it matches the schema. Throws `AppError`
 * `validation_error` with the first failing fields.
 */
export function validate<S extends TSchema>(schema: S, value: unknown, place: "body" | "query"): Static<S> {
  const checker = getChecker(schema);
  if (checker.Check(value)) return lowerUuids(schema, value);
  const fields = new Map<string, FieldError>();
  let examined = 0;
  // The iterator is lazy: stopping early saves the rest of the validation.
  for (const { error, orNull } of withoutNull(checker.Errors(value))) {
    const field = truncate(place + toDottedPath(error.path), MAX_FIELD_CHARACTERS);
    if (!fields.has(field)) {
      const { type, context } = toPydanticError(error, place);
      const input = mayRepeat(schema, error.path) ? truncateInput(error.value) : null;
      fields.set(field, { field, message: `${describeError(error)}${orNull}`, type, input, context });
    }
    examined++;
    // The elements of a list that is too long are not examined.
    if (error.type === ValueErrorType.ArrayMaxItems) break;
    if (fields.size === MAX_FIELD_ERRORS || examined === MAX_EXAMINED_ERRORS) break;
  }
  const message = place === "body" ? "Request body has invalid fields." : "Query has invalid parameters.";
  throw new AppError("validation_error", message, { fields: [...fields.values()] });
}

const isUuidField = ({ format, anyOf }: TSchema): boolean =>
  format === "uuid" || (anyOf as TSchema[] | undefined)?.some(isUuidField) === true;

/** Replaces the UUIDs among the properties, but not deeper ones, by those in lower case, as IDs are stored. */
function lowerUuids<Value>(schema: TSchema, value: Value): Value {
  const lowered: Record<string, string> = {};
  for (const [name, property] of Object.entries<TSchema>(schema.properties ?? {})) {
    const id = isUuidField(property) ? (value as Record<string, unknown>)[name] : null;
    if (typeof id === "string") lowered[name] = id.toLowerCase();
  }
  return Object.keys(lowered).length === 0 ? value : { ...value, ...lowered };
}

/** Replaces the error of a nullable value with those of its schema. `orNull` is the end of the message. */
function* withoutNull(errors: Iterable<ValueError>): Generator<{ error: ValueError; orNull: "" | " or null" }> {
  for (const error of errors) {
    const index = (error.schema.anyOf as TSchema[] | undefined)?.findIndex((one) => one.type !== "null") ?? -1;
    if (error.type !== ValueErrorType.Union || index < 0) {
      yield { error, orNull: "" };
      continue;
    }
    for (const inner of withoutNull(error.errors[index]!))
      yield inner.error.path === error.path ? { ...inner, orNull: " or null" } : inner;
  }
}

/** Throws `AppError` `validation_error` for fields with U+0000, at which SQLite would truncate the stored text. */
export function requireNoNul(value: unknown): void {
  const fields: FieldError[] = [];
  for (const path of findNulPaths(value, "body")) {
    const field = truncate(path.replaceAll("\0", "\\u0000"), MAX_FIELD_CHARACTERS);
    fields.push({ field, message: "must not contain the character U+0000", type: "value_error", input: null });
    if (fields.length === MAX_FIELD_ERRORS) break;
  }
  if (fields.length > 0)
    throw new AppError("validation_error", "Request body contains the character U+0000.", { fields });
}

/** Yields the dotted paths of the texts and property names that contain U+0000. */
function* findNulPaths(value: unknown, path: string): Generator<string> {
  if (typeof value === "string" && value.includes("\0")) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name.includes("\0")) yield `${path}.${name}`;
    if (typeof inner === "string" || typeof inner === "object") yield* findNulPaths(inner, `${path}.${name}`);
  }
}

/** Unknown fields with such names may contain secrets. */
const SECRET_NAME = /pass|secret|token|key|code|challenge|credential|auth/i;

/**
 * Returns whether an error may repeat the value at `path`: not if it is an unknown field with the name of a secret, or
 * the whole body. For bodies that carry secrets, repeats only known non-secret fields: a secret may have been sent
 * under a misspelled name.
 */
function mayRepeat(schema: TSchema, path: string): boolean {
  const properties: Record<string, TSchema> = schema.properties ?? {};
  const name = path.split("/")[1];
  if (name === undefined) return false;
  if (Object.hasOwn(properties, name)) return !properties[name]!.writeOnly;
  return !SECRET_NAME.test(path) && !Object.values(properties).some((property) => property.writeOnly);
}

/** Returns a value as an error may repeat it: null for lists and objects, and long strings truncated. */
export const truncateInput = (value: unknown): unknown => {
  if (typeof value === "string") return truncate(value, MAX_INPUT_CHARACTERS);
  return typeof value === "object" || value === undefined ? null : value;
};

/** Truncates a text to `max` UTF-16 units without splitting a surrogate pair. */
function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Converts a JSON pointer to a dotted path. Truncates first, because a pointer may be as long as the body. */
const toDottedPath = (pointer: string): string =>
  truncate(pointer, 2 * MAX_FIELD_CHARACTERS)
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");

/** Messages that no `errorText` replaces. */
const FIXED_MESSAGES: Partial<Record<ValueErrorType, string>> = {
  [ValueErrorType.ObjectRequiredProperty]: "is required",
  [ValueErrorType.ObjectAdditionalProperties]: "is not a known property",
};

const MESSAGES: Partial<Record<ValueErrorType, (schema: TSchema) => string>> = {
  [ValueErrorType.StringMinLength]: ({ minLength }) => `must have at least ${minLength} characters`,
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => `must have at most ${maxLength} characters`,
  [ValueErrorType.StringFormat]: () => "must be a UUID",
  [ValueErrorType.Object]: () => "must be an object",
  [ValueErrorType.Array]: () => "must be a list",
  [ValueErrorType.Boolean]: () => "must be true or false",
  [ValueErrorType.String]: ({ format }) => (format === "uuid" ? "must be a UUID" : "must be a string"),
  [ValueErrorType.Number]: () => "must be a number",
};

const describeError = ({ type, schema, message }: ValueError): string =>
  FIXED_MESSAGES[type] ??
  (schema as { errorText?: string }).errorText ??
  MESSAGES[type]?.(schema) ??
  message.charAt(0).toLowerCase() + message.slice(1);
