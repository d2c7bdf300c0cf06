/** Parts of schemas: of responses, and of request fields with the texts of their errors. Pure. */
import { FormatRegistry, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { parseIsoTime } from "./iso-time";

/** Returns the schema of an object without additional properties. */
export const strictObject = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

export const id = Type.String({ format: "uuid" });
export const text = Type.String();
export const time = Type.String({ format: "date-time" });
export const integer = Type.Integer();
export const rational = strictObject({ num: integer, den: integer });

/** Returns the schema of a value that may be null. An invalid value has the errors of `schema`. */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], { ...(description && { description }) });

/** Returns the schema of a string that is one of `words`. */
export const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  Type.Unsafe<Words[number]>(
    Type.String({ pattern: `^(${words.join("|")})$`, enum: words, errorText: `must be one of ${words.join(", ")}` }),
  );

export const enumeration = <const Word extends string>(values: readonly Word[], description?: string) =>
  Type.Unsafe<Word>(Type.String({ enum: [...values], ...(description && { description }) }));

export const link = (description: string) => Type.String({ format: "uri", description });

export const uuidField = (description: string) => Type.String({ format: "uuid", description });

const TIME_FORMAT = "ISO 8601 time";
FormatRegistry.Set(TIME_FORMAT, (value) => parseIsoTime(value) !== null);

/** Returns the schema of a time that `parseIsoTime` reads. */
export const timeField = (description: string) =>
  Type.String({
    format: TIME_FORMAT,
    description: `${description} ISO 8601, such as 2027-01-31T18:00Z; UTC without an offset`,
    errorText: "must be an ISO 8601 date or time",
  });

/** Returns the time of an optional `timeField`. */
export const toTime = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : (parseIsoTime(text) ?? undefined);

/** Returns the schema of a string of `min` to `max` Unicode code points. */
export function textField(max: number, min: 0 | 1 = 1) {
  const format = `${min} to ${max} characters`;
  FormatRegistry.Set(format, (value) => value.length >= min && [...value].length <= max);
  // JSON Schema also counts code points, but TypeBox counts UTF-16 units: `maxLength` is only in the document.
  const errorText = `must be a string of ${min === 0 ? "at most" : "1 to"} ${max} characters`;
  return Type.String({ ...(min > 0 && { minLength: min }), format, characters: max, errorText });
}

export function integerField(min: number, max = Number.MAX_SAFE_INTEGER, description?: string) {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `${min}` : `${min} to ${max}`;
  const errorText = `must be an integer from ${bounds}`;
  return Type.Integer({ minimum: min, maximum: max, ...(description && { description }), errorText });
}

/** Returns the schema of the revision that a change is made from. `description`: which one, and what 0 means. */
export const revisionField = (description: string, min: 0 | 1 = 0) =>
  integerField(min, undefined, `${description}. If it is not the stored one, this is a conflict`);

/** Returns the schema of a list of `min` to `max` items, which errors call `what`. */
export const listField = <S extends TSchema>(item: S, min: number, max: number, what: string, description?: string) =>
  Type.Array(item, {
    ...(min > 0 && { minItems: min }),
    maxItems: max,
    ...(description && { description }),
    errorText: `must be a list of ${min === 0 ? "at most" : `${min} to`} ${max} ${what}`,
  });

/** Returns the schemas of `limit` and `cursor` of a list. */
export const pagingParameters = (max: number, defaultLimit: number) => ({
  limit: { ...integerField(1, max), default: defaultLimit },
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      description: "`next_cursor` of the previous page",
      errorText: "must be the next_cursor of a page",
    }),
  ),
});

/** Returns the schema of a text of up to `max` characters that may be left empty. */
export const clearableText = (max: number) => orNull(textField(max, 0));

/** Returns the text of a `clearableText`: null if it is empty or blank. */
export const emptyToNull = (text: string | null): string | null => (text === null || text.trim() === "" ? null : text);

/** Returns the schema of a field that may be missing. */
export const optional = <S extends TSchema>(schema: S, description: string) =>
  Type.Optional(withDescription(schema, description));

/** Returns the schema of a yes or no that may be missing. */
export const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** Returns the schema of a string of at most `maxLength` UTF-16 units. */
export const limitedText = (maxLength: number, description?: string) =>
  Type.String({
    maxLength,
    ...(description && { description }),
    errorText: `must be a string of at most ${maxLength} characters`,
  });

/** Returns the schema of a secret, such as a password or token, which errors never repeat. */
export const secretField = (description: string, max: number) =>
  Type.String({
    minLength: 1,
    maxLength: max,
    writeOnly: true,
    description,
    errorText: `must be a string of 1 to ${max} characters`,
  });

export const withDescription = <S extends TSchema>(schema: S, description: string): S => ({ ...schema, description });

export const sortField = <Column extends string>(columns: readonly Column[]): TSchema =>
  oneOf(...columns.flatMap((column) => [column, `-${column}` as const]));

export type Sorting<Column extends string> = { sort: Column; isDescending: boolean };

/** Splits `-name` into the column and the direction. */
export function parseSort<Column extends string>(
  sort: string | undefined,
  usual: Column,
  isDescending: boolean,
): Sorting<Column> {
  if (sort === undefined) return { sort: usual, isDescending };
  return { sort: sort.replace(/^-/, "") as Column, isDescending: sort.startsWith("-") };
}

const checkers = new WeakMap<TSchema, TypeCheck<TSchema>>();

/** Returns the compiled check of a schema. The first call compiles it. */
export function getChecker<S extends TSchema>(schema: S): TypeCheck<S> {
  const known = checkers.get(schema) ?? TypeCompiler.Compile(schema);
  checkers.set(schema, known);
  return known as TypeCheck<S>;
}
