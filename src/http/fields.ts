/** Fields that several calls share. */
import { FormatRegistry, type TSchema, Type } from "@sinclair/typebox";

export const uuidField = (description: string) => Type.String({ format: "uuid", description });

/** A text of 1 to `most` characters, counted as people count them and not as UTF-16 stores them. */
export function textField(most: number) {
  const format = `1 to ${most} characters`;
  FormatRegistry.Set(format, (value) => value !== "" && [...value].length <= most);
  // JSON Schema counts characters as this format does; the validator would count UTF-16 units, so it is not told the length.
  return Type.String({ minLength: 1, format, characters: most, errorText: `must be a text of ${format}` });
}

/** `limit` and `cursor` of a list. */
export const pagingParameters = (most = 100, usual = 20) => ({
  limit: Type.Integer({
    minimum: 1,
    maximum: most,
    default: usual,
    errorText: `must be a whole number from 1 to ${most}`,
  }),
  cursor: Type.Optional(
    Type.String({ minLength: 1, description: "`next_cursor` of the page before", errorText: "is not a cursor" }),
  ),
});

/** One of some words. */
export const oneOf = <const T extends string[]>(...words: T) =>
  Type.Unsafe<T[number]>(
    Type.String({ pattern: `^(${words.join("|")})$`, enum: words, errorText: `must be one of ${words.join(", ")}` }),
  );

/** The schema with what the documentation says of it. */
export const withDescription = <S extends TSchema>(schema: S, description: string): S => ({ ...schema, description });

/** An object that takes no other properties. */
export const strictObject = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
