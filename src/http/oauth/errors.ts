/** The error bodies of OAuth 2.0: `{ error, error_description }` (RFC 6749, section 5.2). */
import { type Static, Type } from "@sinclair/typebox";
import { OAuthError } from "../../domain/device-grant";
import { type AppError, HTTP_STATUS, type HttpCode } from "../../domain/errors";
import { strictObject } from "../../domain/schema-parts";
import { type ErrorShape, toSingleLine } from "../errors";

const oauthErrorBody = strictObject({
  error: Type.String({ description: "a code of RFC 6749 or RFC 8628; otherwise a code of /v1" }),
  error_description: Type.String(),
  reason: Type.Optional(
    Type.String({ description: "why a 403 is refused, if the client can act on it: session_too_old" }),
  ),
});

/** OAuth does not distinguish malformed requests. */
const isMalformed = (code: HttpCode): boolean => code === "bad_request" || code === "validation_error";

function findErrorCode(code: HttpCode, error: AppError): string {
  if (error instanceof OAuthError) return error.error;
  return isMalformed(code) ? "invalid_request" : code;
}

function describe({ message, details }: AppError): string {
  const fields = details.fields?.map((one) => `${one.field.replace(/^body\./, "")} ${one.message}`);
  return toSingleLine(fields ? `${fields.join(", ")}.` : message);
}

/** The bodies of `/oauth`. */
export const oauthErrorShape: ErrorShape = {
  schema: oauthErrorBody,
  toBody: (code, error) => {
    const body: Static<typeof oauthErrorBody> = {
      error: findErrorCode(code, error),
      error_description: describe(error),
    };
    if (error.details.reason !== undefined) body.reason = error.details.reason;
    return body;
  },
  toStatus: (code) => (isMalformed(code) ? HTTP_STATUS.bad_request : HTTP_STATUS[code]),
};
