/**
 * The log: one JSON object per line, or readable text on a terminal. A logger adds its fields (a request ID, a job ID) to each line. Secrets
 * must never be logged: callers log names and IDs.
 */
import { escapeControls } from "./control-characters";

type Level = "debug" | "info" | "warn" | "error";

export type Log = {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
  /** Returns a logger that adds these fields to each line. */
  with(fields: Record<string, unknown>): Log;
};

/** Creates a logger that writes lines with `write`. `readable` selects text instead of JSON. */
export function createLog(write: (line: string) => void, readable: boolean, fields: Record<string, unknown> = {}): Log {
  const line = (level: Level, event: string, more: Record<string, unknown> = {}) => {
    const all = { ...fields, ...flattenErrors(more) };
    const head = { time: new Date().toISOString(), level, event };
    // Fields may come from a job process, which must not replace these.
    const text = readable ? formatReadable(head.time, level, event, all) : JSON.stringify({ ...head, ...all, ...head });
    write(escapeControls(text));
  };
  return {
    debug: (event, more) => line("debug", event, more),
    info: (event, more) => line("info", event, more),
    warn: (event, more) => line("warn", event, more),
    error: (event, more) => line("error", event, more),
    with: (more) => createLog(write, readable, { ...fields, ...more }),
  };
}

/** Creates the log on standard output. */
export const standardLog = (): Log =>
  createLog((line) => process.stdout.write(`${line}\n`), Boolean(process.stdout.isTTY));

/** Creates a log that is discarded, for tests and for commands that print their own output. */
export const silentLog = (): Log => createLog(() => {}, false);

function formatReadable(time: string, level: Level, event: string, fields: Record<string, unknown>): string {
  const values = Object.entries(fields).map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
  return [time.slice(11, 23), level.toUpperCase().padEnd(5), event, ...values].join(" ");
}

// JSON.stringify turns an Error into {}.
function flattenErrors(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? serializeError(value) : value]),
  );
}

function serializeError(error: Error): Record<string, unknown> {
  const code = (error as { code?: unknown }).code;
  const message = getMessage(error);
  const fields: Record<string, unknown> = { name: error.name, message };
  if (code) fields.code = code;
  if (error.cause instanceof Error) fields.cause = getMessage(error.cause);
  fields.stack = error.stack?.replace(error.message, () => message);
  return fields;
}

/** Drizzle adds the parameters of a failed query to its message: texts of users, and secrets. */
function getMessage(error: Error): string {
  const { query } = error as { query?: unknown };
  return "params" in error && typeof query === "string" ? `Failed query: ${query}` : error.message;
}
