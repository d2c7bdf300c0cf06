/** The one map from errors to answers. What is not an `AppError` is logged and becomes `internal_error` without details. */
import { AppError, HTTP_STATUS, type HttpCode, isHttpCode, MAX_FIELD_ERRORS } from "../domain/errors";
import { BodyTimeoutError } from "./parse-request";

export type ErrorReply = { status: number; body: unknown; headers: Record<string, string> };

/** How a family shows an error. */
export type ErrorShape = (code: HttpCode, error: AppError) => unknown;

/** The public family's body: `{ error: { code, message, fields? } }`. */
export const publicErrorShape: ErrorShape = (code, error) => ({
  error: {
    code,
    message: toSingleLine(error.message),
    ...(error.details.fields ? { fields: error.details.fields.map(({ field, message }) => ({ field, message })) } : {}),
  },
});

/** The answer to an error; `onUnknown` hears of those that nobody expected. */
export function toErrorReply(error: unknown, shape: ErrorShape, onUnknown: (error: unknown) => void): ErrorReply {
  const known = limitFields(asAppError(error));
  if (!known) onUnknown(error);
  const shown = known ?? new AppError("internal_error", "Something went wrong on the server.");
  const code = isHttpCode(shown.code) ? shown.code : "internal_error";
  const { retryAfterSeconds } = shown.details;
  return {
    status: HTTP_STATUS[code],
    body: shape(code, shown),
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
      ...(code === "unauthenticated" ? { "WWW-Authenticate": "Bearer" } : {}),
      ...(error instanceof BodyTimeoutError ? { Connection: "close" } : {}),
    },
  };
}

/** The error with no more fields than an answer may name. */
function limitFields(error: AppError | null): AppError | null {
  const fields = error?.details.fields;
  if (!error || !fields || fields.length <= MAX_FIELD_ERRORS) return error;
  return new AppError(error.code, error.message, { ...error.details, fields: fields.slice(0, MAX_FIELD_ERRORS) });
}

const STORAGE_FULL_RETRY_SECONDS = 60;

function asAppError(error: unknown): AppError | null {
  if (error instanceof AppError) {
    return error.code === "storage_full" ? storageFullError() : error;
  }
  return isStorageFull(error) ? storageFullError() : null;
}

/** Whether the disk, a quota or the database has no room left: the same bad day. */
export function isStorageFull(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  // The layer over the database wraps its errors.
  if (code === undefined && cause !== undefined) return isStorageFull(cause);
  return code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG" || code === "SQLITE_FULL";
}

/** The answer when the disk is full. */
export const storageFullError = (): AppError =>
  new AppError("upstream_unavailable", "The server's storage is full.", {
    retryAfterSeconds: STORAGE_FULL_RETRY_SECONDS,
  });

const toSingleLine = (text: string): string => text.replace(/\s+/g, " ").trim();
