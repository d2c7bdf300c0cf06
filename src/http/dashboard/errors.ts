/** The dashboard family's error bodies: `{ detail, code }`; for failing fields, a list as pydantic v2 would make. */
import { type Static, Type } from "@sinclair/typebox";
import { type AppError, type FieldError, HTTP_STATUS } from "../../domain/errors";
import { strictObject } from "../../domain/schema-parts";
import { type ErrorShape, toSingleLine } from "../errors";

const failingField = strictObject({
  loc: Type.Array(Type.String(), {
    description:
      "body, query, path or header, then the names on the way to the field. Only body when the body is not an object",
  }),
  msg: Type.String(),
  type: Type.String({ description: "error type of pydantic v2, such as missing or string_too_long" }),
  input: Type.Unknown({ description: "the value that was sent; null for lists, objects and secrets" }),
  ctx: Type.Record(Type.String(), Type.Unknown(), { description: "the bounds that the value exceeds" }),
});

const validationBody = strictObject({ detail: Type.Array(failingField) });

const failureBody = strictObject({
  detail: Type.String(),
  code: Type.String({ enum: Object.keys(HTTP_STATUS) }),
  reason: Type.Optional(
    Type.String({ description: "why a 403 is refused, if the client can act on it: session_too_old" }),
  ),
});

const showField = ({ field, message, type, input, context }: FieldError): Static<typeof failingField> => ({
  loc: field.split("."),
  msg: message,
  type: type ?? "value_error",
  input: input ?? null,
  ctx: context ?? (type === undefined ? { error: message } : {}),
});

/** The dashboard family's bodies. A validation error without fields concerns the request as a whole. */
export const dashboardErrorShape: ErrorShape = {
  schema: Type.Union([failureBody, validationBody]),
  toBody: (code, { message, details }: AppError) => {
    if (code !== "validation_error") {
      const { reason } = details;
      const failure: Static<typeof failureBody> = { detail: toSingleLine(message), code };
      if (reason !== undefined) failure.reason = reason;
      return failure;
    }
    const fields = details.fields ?? [{ field: "body", message: toSingleLine(message) }];
    return { detail: fields.map(showField) } satisfies Static<typeof validationBody>;
  },
};
