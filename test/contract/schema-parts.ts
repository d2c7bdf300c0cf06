/** Parts of the contract's schemas, written independently of the server's. */
import { FormatRegistry, type TProperties, type TSchema, Type } from "@sinclair/typebox";

FormatRegistry.Set("contract-time", (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text));
FormatRegistry.Set("contract-uuid", (text) =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text),
);
FormatRegistry.Set("contract-decimal", (text) => /^\d+(\.\d{1,6})?$/.test(text));
FormatRegistry.Set("contract-url", (text) => URL.canParse(text));

export const exactly = (properties: TProperties) => Type.Object(properties, { additionalProperties: false });
export const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
export const oneOf = (...words: string[]) => Type.Union(words.map((word) => Type.Literal(word)));
export const text = Type.String({ minLength: 1 });
export const uuid = Type.String({ format: "contract-uuid" });
export const time = Type.String({ format: "contract-time" });
export const url = Type.String({ format: "contract-url" });
export const count = Type.Integer({ minimum: 0 });
export const rate = exactly({ num: Type.Integer({ minimum: 1 }), den: Type.Integer({ minimum: 1 }) });
export const share = Type.Number({ minimum: 0, maximum: 1 });
