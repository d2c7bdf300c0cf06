/** Maps errors to replies. An error other than `AppError` is logged and becomes `internal_error` without details. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AppError, HTTP_STATUS, type HttpCode, isHttpCode, MAX_FIELD_ERRORS, retryLater } from "../domain/errors";
import { strictObject } from "../domain/schema-parts";
import { isStorageFull } from "../domain/storage-full";
import { BodyTimeoutError } from "./parse-request";

export type ErrorReply = { status: number; body: unknown; headers: Record<string, string> };

/** The error bodies of a family: their schema, and how an error becomes one. */
export type ErrorShape = {
  schema: TSchema;
  toBody(code: HttpCode, error: AppError): unknown;
  /** Returns the status if it differs from that of the code. */
  toStatus?(code: HttpCode): number;
};

/** The field of an error about the whole body, which is not an object. */
const WHOLE_BODY = "body.__root__";

const publicError = strictObject({
  error: Type.Object({
    code: Type.String({ enum: Object.keys(HTTP_STATUS) }),
    message: Type.String(),
    fields: Type.Optional(
      Type.Array(
        strictObject({
          field: Type.String({
            description: `dotted path that starts with \`body.\`, \`query.\`, \`path.\` or \`header.\`; \`${WHOLE_BODY}\` when the body is not an object`,
          }),
          message: Type.String(),
        }),
      ),
    ),
    reason: Type.Optional(
      Type.String({ description: "why a 403 is refused, if a client with a session can act on it: session_too_old" }),
    ),
  }),
});

/** The public family's body: `{ error: { code, message, fields? } }`. */
export const publicErrorShape: ErrorShape = {
  schema: publicError,
  toBody: (code, { message, details }): Static<typeof publicError> => {
    const error: Static<typeof publicError>["error"] = { code, message: toSingleLine(message) };
    if (details.fields)
      error.fields = details.fields.map(({ field, message }) => ({
        field: field === "body" ? WHOLE_BODY : field,
        message,
      }));
    if (details.reason !== undefined) error.reason = details.reason;
    return { error };
  },
};

/** Returns the reply to an error in a family's shape. `onUnknown` is called with errors that are not an `AppError`. */
export function toErrorReply(error: unknown, shape: ErrorShape, onUnknown: (error: unknown) => void): ErrorReply {
  const known = limitFields(asAppError(error));
  if (!known) onUnknown(error);
  const shown =
    known ??
    new AppError("internal_error", "Internal error. Details are in the server log under the request's X-Request-Id.");
  const code = isHttpCode(shown.code) ? shown.code : "internal_error";
  const headers: Record<string, string> = {};
  if (shown.details.retryAfterSeconds !== undefined) headers["Retry-After"] = String(shown.details.retryAfterSeconds);
  if (code === "unauthenticated") headers["WWW-Authenticate"] = "Bearer";
  if (error instanceof BodyTimeoutError) headers.Connection = "close";
  return { status: shape.toStatus?.(code) ?? HTTP_STATUS[code], body: shape.toBody(code, shown), headers };
}

function limitFields(error: AppError | null): AppError | null {
  const fields = error?.details.fields;
  if (!error || !fields || fields.length <= MAX_FIELD_ERRORS) return error;
  return new AppError(error.code, error.message, { ...error.details, fields: fields.slice(0, MAX_FIELD_ERRORS) });
}

const STORAGE_FULL_RETRY_SECONDS = 60;

function asAppError(error: unknown): AppError | null {
  if (isStorageFull(error)) return storageFullError();
  return error instanceof AppError ? error : null;
}

export const storageFullError = (): AppError =>
  retryLater("upstream_unavailable", "Server storage is full. Try again later.", STORAGE_FULL_RETRY_SECONDS);

export const toSingleLine = (text: string): string => text.replace(/\s+/g, " ").trim();
