/** The error class of the product. `http/errors.ts` maps it to HTTP responses; jobs store `code` and `message`. */

/** All HTTP error codes of the API, with their status. */
export const HTTP_STATUS = {
  bad_request: 400,
  unauthenticated: 401,
  insufficient_credits: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  asset_processing: 409,
  asset_payment_required: 409,
  asset_failed: 409,
  asset_not_ready: 409,
  modifier_not_ready: 409,
  unsupported_format: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
  upstream_error: 502,
  upstream_unavailable: 503,
} as const;

export type HttpCode = keyof typeof HTTP_STATUS;

export const JOB_CODES = [
  "unsupported_media",
  "corrupt_media",
  "no_media_streams",
  "media_limits_exceeded",
  "processing_failed",
  "no_speech",
  "script_mismatch",
  "transcription_unavailable",
  "cancelled",
  "storage_full",
] as const;

/** The code of a permanent failure of an asset, a cut or a render. */
export type JobCode = (typeof JOB_CODES)[number];

export const MAX_FIELD_ERRORS = 50;

/** `type` and `context` are those of pydantic v2. `input` is the sent value, never a secret. */
export type FieldError = {
  field: string;
  message: string;
  type?: string;
  input?: unknown;
  context?: Record<string, unknown>;
};

/** An error with a code of the API. `message` is a single line that is safe to show to users. */
export class AppError<Code extends HttpCode | JobCode = HttpCode | JobCode> extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: {
      fields?: FieldError[];
      retryAfterSeconds?: number;
      /** For `forbidden`: a reason on which the client can act. */
      reason?: "session_too_old";
      cause?: unknown;
      /** For jobs: a retry would fail the same way. See `isPermanent` in `domain/jobs.ts` for codes that imply it. */
      isPermanent?: boolean;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = "AppError";
  }
}

export const isHttpCode = (code: string): code is HttpCode => Object.hasOwn(HTTP_STATUS, code);

export const isErrorCode = (code: unknown): code is HttpCode | JobCode =>
  typeof code === "string" && (isHttpCode(code) || JOB_CODES.some((known) => known === code));

/** Moves the fields of an error from `body` to another place, such as `body.steps.1.params`. Keeps other errors. */
export function moveFields(error: unknown, place: string): unknown {
  if (!(error instanceof AppError) || !error.details.fields) return error;
  const fields = error.details.fields.map((one) => ({ ...one, field: one.field.replace(/^body/, place) }));
  return new AppError(error.code, error.message, { ...error.details, fields });
}

export const conflict = (message: string): AppError => new AppError("conflict", message);

export const badRequest = (message: string): AppError => new AppError("bad_request", message);

/** Creates an error after which the client may retry in a number of seconds. */
export const retryLater = <Code extends HttpCode>(code: Code, message: string, retryAfterSeconds: number) =>
  new AppError(code, message, { retryAfterSeconds });

/** Creates an error after which the client may retry in the remaining time: 1 to 60 s, 10 while it is unknown. */
export const assetProcessing = (message: string, remainingSeconds: number | null): AppError =>
  retryLater("asset_processing", message, Math.min(60, Math.max(1, Math.ceil(remainingSeconds ?? 10))));

/**
 * Creates the error of a full queue. `what` is for the message: "exports are waiting". `isOwn`: the account's share of
 * the queue is full, not the whole queue.
 */
export const queueFull = (what: string, isOwn: boolean, retryAfterSeconds: number): AppError =>
  retryLater(
    isOwn ? "rate_limited" : "upstream_unavailable",
    `Too many ${what}${isOwn ? " for this account" : ""}. Try again later.`,
    retryAfterSeconds,
  );

export const notFound = (what: string): AppError => new AppError("not_found", `${what} not found.`);

/**
 * Returns the result of a lookup. Throws `AppError` `not_found` if it is null or undefined. `what` is for the message:
 * "Asset".
 */
export function requireFound<Value>(found: Value | null | undefined, what: string): Value {
  if (found === null || found === undefined) throw notFound(what);
  return found;
}

/** Creates the error for a field that is well-formed but has a value that is not allowed. `input` is never a secret. */
export const invalidField = (
  field: string,
  message: string,
  input: unknown,
  summary = "Request body has invalid fields.",
): AppError =>
  new AppError("validation_error", summary, {
    fields: [{ field, message, type: "value_error", input, context: { error: message } }],
  });
