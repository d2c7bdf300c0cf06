/**
 * The log: one JSON object a line when the output is not a terminal, readable text on a terminal.
 * A logger carries fields (a request id, a job id) into each of its lines. Secrets never reach it: callers log names and ids.
 */

type Level = "debug" | "info" | "warn" | "error";

export type Log = {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
  /** A logger whose lines carry these fields too. */
  with(fields: Record<string, unknown>): Log;
};

/** Makes a logger that writes lines through `write`. `readable` chooses text over JSON. */
export function createLog(write: (line: string) => void, readable: boolean, fields: Record<string, unknown> = {}): Log {
  const line = (level: Level, event: string, more: Record<string, unknown> = {}) => {
    const all = { ...fields, ...flattenErrors(more) };
    const time = new Date().toISOString();
    write(readable ? formatReadable(time, level, event, all) : JSON.stringify({ time, level, event, ...all }));
  };
  return {
    debug: (event, more) => line("debug", event, more),
    info: (event, more) => line("info", event, more),
    warn: (event, more) => line("warn", event, more),
    error: (event, more) => line("error", event, more),
    with: (more) => createLog(write, readable, { ...fields, ...more }),
  };
}

/** The process's log on standard output. */
export const standardLog = (): Log =>
  createLog((line) => process.stdout.write(`${line}\n`), Boolean(process.stdout.isTTY));

/** A log that goes nowhere, for tests and for commands that print for people. */
export const silentLog = (): Log => createLog(() => {}, false);

function formatReadable(time: string, level: Level, event: string, fields: Record<string, unknown>): string {
  const values = Object.entries(fields).map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
  return [time.slice(11, 23), level.toUpperCase().padEnd(5), event, ...values].join(" ");
}

// JSON.stringify turns an Error into {}: keep what helps, on one line.
function flattenErrors(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? serializeError(value) : value]),
  );
}

function serializeError(error: Error): Record<string, unknown> {
  const code = (error as { code?: unknown }).code;
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { name: error.name, message: error.message, ...(code ? { code } : {}), ...cause, stack: error.stack };
}
