/** Converts the errors of a job child to JSON and back. Codes, messages and causes survive. */
import { AppError, type FieldError, isErrorCode, MAX_FIELD_ERRORS } from "../../domain/errors";
import { JobKilled, JobYielded } from "../../domain/jobs";
import type { ErrorCodec, WireError } from "../../lib/ipc-calls";

export const jobErrorCodec: ErrorCodec = {
  encode: (error) => {
    if (error instanceof AppError) {
      const { fields, retryAfterSeconds, isPermanent } = error.details;
      const cause = toCauseText(error.details.cause);
      const { code, message } = error;
      return { kind: "app", code, message, fields, retryAfterSeconds, isPermanent, cause };
    }
    if (error instanceof JobYielded) return { kind: "yielded", message: error.message };
    if (error instanceof JobKilled) return { kind: "killed", message: error.message };
    if (error instanceof Error) {
      const { name, message, stack } = error;
      return { kind: "error", name, message, stack, code: (error as NodeJS.ErrnoException).code };
    }
    return { kind: "error", name: "Error", message: String(error) };
  },
  decode: (sent) => {
    const wire = { ...sent, message: truncate(sent.message) };
    switch (wire.kind) {
      case "app":
        return toAppError(wire);
      case "yielded":
        return new JobYielded();
      case "killed":
        return new JobKilled();
      default:
        return toPlainError(wire);
    }
  },
};

/** Messages are stored and shown to users. A hijacked child could send megabytes, in any part of an error. */
const MAX_MESSAGE_CHARACTERS = 1_000;
const MAX_STACK_CHARACTERS = 4_000;
const MAX_NAME_CHARACTERS = 100;

const truncate = (text: unknown, length = MAX_MESSAGE_CHARACTERS): string =>
  typeof text === "string" ? text.slice(0, length) : "";

function toCauseText(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  return cause instanceof Error ? cause.message : String(cause);
}

function toAppError(wire: WireError): Error {
  const { code, cause, fields, retryAfterSeconds, isPermanent } = wire;
  if (!isErrorCode(code)) return toPlainError(wire);
  const details: AppError["details"] = {};
  if (Array.isArray(fields)) details.fields = fields.slice(0, MAX_FIELD_ERRORS).flatMap(toFieldError);
  if (typeof retryAfterSeconds === "number") details.retryAfterSeconds = retryAfterSeconds;
  if (typeof isPermanent === "boolean") details.isPermanent = isPermanent;
  if (cause !== undefined) details.cause = new Error(truncate(cause));
  return new AppError(code, wire.message, details);
}

/** Returns a field without the value that was sent. */
function toFieldError(sent: Partial<FieldError> | null): FieldError[] {
  if (typeof sent?.field !== "string") return [];
  const field = { field: truncate(sent.field), message: truncate(sent.message) };
  return [typeof sent.type === "string" ? { ...field, type: truncate(sent.type, MAX_NAME_CHARACTERS) } : field];
}

function toPlainError(wire: WireError): Error {
  const error: NodeJS.ErrnoException = new Error(wire.message);
  const { name, stack, code } = wire;
  if (typeof name === "string") error.name = truncate(name, MAX_NAME_CHARACTERS);
  if (typeof stack === "string") error.stack = truncate(stack, MAX_STACK_CHARACTERS);
  if (typeof code === "string") error.code = truncate(code, MAX_NAME_CHARACTERS);
  return error;
}
