/** The error types of pydantic v2 and their context, which the dashboard family uses for invalid fields. */
import type { TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";

/** `context` contains the exceeded bounds. */
type PydanticError = { type: string; context: Record<string, unknown> };

/** Properties that this project adds to schemas, besides those of JSON Schema. */
type SchemaProperties = TSchema & { characters?: number; enum?: string[] };

const named = (type: string, context: Record<string, unknown> = {}): PydanticError => ({ type, context });

/** Converts an error of the validator. `place`: query parameters are texts, so a number in them fails to parse. */
export function toPydanticError(error: ValueError, place: "body" | "query"): PydanticError {
  const schema = error.schema as SchemaProperties;
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return named("missing");
    case ValueErrorType.ObjectAdditionalProperties:
      return named("extra_forbidden");
    case ValueErrorType.Object:
      return named("model_attributes_type");
    case ValueErrorType.Array:
      return named("list_type");
    case ValueErrorType.ArrayMaxItems:
      return named("too_long", {
        field_type: "List",
        max_length: schema.maxItems,
        actual_length: lengthOf(error.value),
      });
    case ValueErrorType.ArrayMinItems:
      return named("too_short", {
        field_type: "List",
        min_length: schema.minItems,
        actual_length: lengthOf(error.value),
      });
    case ValueErrorType.Boolean:
      return named("bool_type");
    case ValueErrorType.String:
      if (schema.enum) return toEnumError(schema.enum);
      return named(schema.format === "uuid" ? "uuid_type" : "string_type");
    case ValueErrorType.StringMinLength:
      return named("string_too_short", { min_length: schema.minLength });
    case ValueErrorType.StringMaxLength:
      return named("string_too_long", { max_length: schema.maxLength });
    case ValueErrorType.StringPattern:
      return schema.enum ? toEnumError(schema.enum) : named("string_pattern_mismatch", { pattern: schema.pattern });
    case ValueErrorType.StringFormat:
      return toFormatError(error, schema);
    default:
      return toNumberError(error, place);
  }
}

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
