/** Parts of response schemas. */
import { type TSchema, Type } from "@sinclair/typebox";
import { strictObject } from "./fields";

export const id = Type.String({ format: "uuid" });
export const text = Type.String();
export const time = Type.String({ format: "date-time" });
export const integer = Type.Integer();
export const rational = strictObject({ num: integer, den: integer });
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], { ...(description && { description }) });
export const enumeration = <const Word extends string>(values: readonly Word[], description?: string) =>
  Type.Unsafe<Word>(Type.String({ enum: [...values], ...(description && { description }) }));

export const link = (description: string) => Type.String({ format: "uri", description });
