/** Converts the errors of a job child to JSON and back. Codes, messages and causes survive. */
import { AppError, type HttpCode, type JobCode } from "../../domain/errors";
import { JobKilled } from "../../domain/jobs";
import type { ErrorCodec, WireError } from "../../lib/ipc-calls";
import { RenderYielded } from "../../media/parallel";

export const jobErrorCodec: ErrorCodec = {
  encode: (error) => {
    if (error instanceof AppError) {
      const { fields, retryAfterSeconds, isPermanent } = error.details;
      const cause = toCauseText(error.details.cause);
      const { code, message } = error;
      return { kind: "app", code, message, fields, retryAfterSeconds, isPermanent, cause };
    }
    if (error instanceof RenderYielded) return { kind: "yielded", message: error.message };
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
        return new RenderYielded();
      case "killed":
        return new JobKilled();
      default:
        return toPlainError(wire);
    }
  },
};

/** Messages are stored and shown to users. A hijacked child could send megabytes. */
const MAX_MESSAGE_CHARACTERS = 1_000;

const truncate = (text: unknown): string => String(text).slice(0, MAX_MESSAGE_CHARACTERS);

function toCauseText(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  return cause instanceof Error ? cause.message : String(cause);
}

function toAppError(wire: WireError): AppError {
  const { cause, fields, retryAfterSeconds, isPermanent } = wire as WireError & AppError["details"];
  const details: AppError["details"] = {};
  if (fields !== undefined) details.fields = fields;
  if (retryAfterSeconds !== undefined) details.retryAfterSeconds = retryAfterSeconds;
  if (isPermanent !== undefined) details.isPermanent = isPermanent;
  if (cause !== undefined) details.cause = new Error(truncate(cause));
  return new AppError(wire.code as HttpCode | JobCode, wire.message, details);
}

function toPlainError(wire: WireError): Error {
  const error: NodeJS.ErrnoException = new Error(wire.message);
  const { name, stack, code } = wire as WireError & Partial<NodeJS.ErrnoException>;
  if (name !== undefined) error.name = name;
  if (stack !== undefined) error.stack = stack;
  if (code !== undefined) error.code = code;
  return error;
}
