/** The error types of pydantic v2 and their context, which the dashboard family uses for invalid fields. */
import type { TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";

/** `context` contains the exceeded bounds. */
type PydanticError = { type: string; context: Record<string, unknown> };

/** Properties that this project adds to schemas, besides those of JSON Schema. */
type SchemaProperties = TSchema & { characters?: number; enum?: string[] };

const named = (type: string, context: Record<string, unknown> = {}): PydanticError => ({ type, context });

const TYPES: Partial<Record<ValueErrorType, (schema: SchemaProperties, error: ValueError) => PydanticError>> = {
  [ValueErrorType.ObjectRequiredProperty]: () => named("missing"),
  [ValueErrorType.ObjectAdditionalProperties]: () => named("extra_forbidden"),
  [ValueErrorType.Object]: () => named("model_attributes_type"),
  [ValueErrorType.Array]: () => named("list_type"),
  [ValueErrorType.ArrayMaxItems]: ({ maxItems }, { value }) =>
    named("too_long", { field_type: "List", max_length: maxItems, actual_length: lengthOf(value) }),
  [ValueErrorType.ArrayMinItems]: ({ minItems }, { value }) =>
    named("too_short", { field_type: "List", min_length: minItems, actual_length: lengthOf(value) }),
  [ValueErrorType.Boolean]: () => named("bool_type"),
  [ValueErrorType.String]: (schema) =>
    schema.enum ? toEnumError(schema.enum) : named(schema.format === "uuid" ? "uuid_type" : "string_type"),
  [ValueErrorType.StringMinLength]: ({ minLength }) => named("string_too_short", { min_length: minLength }),
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => named("string_too_long", { max_length: maxLength }),
  [ValueErrorType.StringPattern]: (schema) =>
    schema.enum ? toEnumError(schema.enum) : named("string_pattern_mismatch", { pattern: schema.pattern }),
  [ValueErrorType.StringFormat]: (schema, error) => toFormatError(error, schema),
};

/** Converts an error of the validator. `place`: query parameters are texts, so a number in them fails to parse. */
export const toPydanticError = (error: ValueError, place: "body" | "query"): PydanticError =>
  TYPES[error.type]?.(error.schema as SchemaProperties, error) ?? toNumberError(error, place);

function toFormatError(error: ValueError, schema: SchemaProperties): PydanticError {
  if (schema.format === "uuid") return named("uuid_parsing", { error: "not a UUID" });
  if (schema.characters === undefined)
    return named("value_error", { error: String(schema.errorText ?? error.message) });
  return error.value === ""
    ? named("string_too_short", { min_length: schema.minLength ?? 1 })
    : named("string_too_long", { max_length: schema.characters });
}

const toEnumError = (words: string[]): PydanticError => named("enum", { expected: formatAlternatives(words) });

/** JSON Schema's number bounds, and their names in pydantic. */
const BOUNDS: Partial<Record<ValueErrorType, [type: string, key: string, keyword: string]>> = {
  [ValueErrorType.IntegerMinimum]: ["greater_than_equal", "ge", "minimum"],
  [ValueErrorType.NumberMinimum]: ["greater_than_equal", "ge", "minimum"],
  [ValueErrorType.IntegerMaximum]: ["less_than_equal", "le", "maximum"],
  [ValueErrorType.NumberMaximum]: ["less_than_equal", "le", "maximum"],
  [ValueErrorType.IntegerExclusiveMinimum]: ["greater_than", "gt", "exclusiveMinimum"],
  [ValueErrorType.NumberExclusiveMinimum]: ["greater_than", "gt", "exclusiveMinimum"],
  [ValueErrorType.IntegerExclusiveMaximum]: ["less_than", "lt", "exclusiveMaximum"],
  [ValueErrorType.NumberExclusiveMaximum]: ["less_than", "lt", "exclusiveMaximum"],
};

function toNumberError(error: ValueError, place: "body" | "query"): PydanticError {
  if (error.type === ValueErrorType.Integer) {
    if (place === "query") return named("int_parsing");
    return named(typeof error.value === "number" ? "int_from_float" : "int_type");
  }
  if (error.type === ValueErrorType.Number) return named(place === "query" ? "float_parsing" : "float_type");
  const bound = BOUNDS[error.type];
  if (bound) return named(bound[0], { [bound[1]]: error.schema[bound[2]] });
  return named("value_error", { error: error.message });
}

const lengthOf = (value: unknown): number | null => (Array.isArray(value) ? value.length : null);

/** Formats `'a', 'b' or 'c'`. */
function formatAlternatives(words: string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
