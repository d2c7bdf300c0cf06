/** Errors on their way between a job and its child: codes, messages and causes survive. */
import { AppError, type HttpCode, type JobCode } from "../../domain/errors";
import { JobKilled } from "../../domain/jobs";
import type { ErrorCodec, WireError } from "../../lib/ipc-calls";
import { RenderYielded } from "../../media/parallel";

export const jobErrorCodec: ErrorCodec = {
  encode: (error) => {
    if (error instanceof AppError) {
      const { fields, retryAfterSeconds, isPermanent } = error.details;
      const cause = causeText(error.details.cause);
      const { code, message } = error;
      return { kind: "app", code, message, fields, retryAfterSeconds, isPermanent, cause };
    }
    if (error instanceof RenderYielded) return { kind: "paused", message: error.message };
    if (error instanceof JobKilled) return { kind: "killed", message: error.message };
    if (error instanceof Error) {
      const { name, message, stack } = error;
      return { kind: "error", name, message, stack, code: (error as NodeJS.ErrnoException).code };
    }
    return { kind: "error", name: "Error", message: String(error) };
  },
  decode: (sent) => {
    const wire = { ...sent, message: bounded(sent.message) };
    switch (wire.kind) {
      case "app":
        return appErrorOf(wire);
      case "paused":
        return new RenderYielded();
      case "killed":
        return new JobKilled();
      default:
        return plainErrorOf(wire);
    }
  },
};

/** Messages are stored and shown: a child that was taken over must not make them of megabytes. */
const MAX_MESSAGE_CHARACTERS = 1_000;

const bounded = (text: unknown): string => String(text).slice(0, MAX_MESSAGE_CHARACTERS);

function causeText(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  return cause instanceof Error ? cause.message : String(cause);
}

function appErrorOf(wire: WireError): AppError {
  const { cause, fields, retryAfterSeconds, isPermanent } = wire as WireError & AppError["details"];
  return new AppError(wire.code as HttpCode | JobCode, wire.message, {
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(isPermanent === undefined ? {} : { isPermanent }),
    ...(cause === undefined ? {} : { cause: new Error(bounded(cause)) }),
  });
}

function plainErrorOf(wire: WireError): Error {
  const error = new Error(wire.message);
  const { name, stack, code } = wire as WireError & Partial<NodeJS.ErrnoException>;
  return Object.assign(error, {
    ...(name === undefined ? {} : { name }),
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
  });
}
