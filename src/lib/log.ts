/**
 * The log: one JSON object per line, or readable text on a terminal. A logger adds its fields (a request ID, a job ID)
 * to each line. Secrets must never be logged: callers log names and IDs.
 */
import { escapeControls } from "./control-characters";

/** The log levels, from the least to the most important. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
  /** Returns a logger that adds these fields to each line. */
  with(fields: Record<string, unknown>): Log;
  /** Returns the most recent lines as JSON, oldest first. */
  recent(): string[];
};

/** For bug reports. */
const MAX_RECENT_LINES = 2_000;
const MAX_RECENT_CHARACTERS = 4_000_000;
const MAX_LINE_CHARACTERS = 20_000;

type RecentLines = { add(line: string): void; list(): string[] };

/** Keeps the most recent lines in memory, up to a limit of characters. Longer lines are dropped. */
function createRecentLines(): RecentLines {
  let lines: string[] = [];
  let first = 0;
  let characters = 0;
  return {
    add: (line) => {
      if (line.length > MAX_LINE_CHARACTERS) return;
      lines.push(line);
      characters += line.length;
      while (lines.length - first > MAX_RECENT_LINES || characters > MAX_RECENT_CHARACTERS) {
        characters -= lines[first]!.length;
        lines[first++] = "";
      }
      // Done only occasionally, because it moves all other lines.
      if (first >= MAX_RECENT_LINES) [lines, first] = [lines.slice(first), 0];
    },
    list: () => lines.slice(first),
  };
}

/**
 * Creates a logger that writes lines of `level` and above with `write`. `readable` selects text instead of JSON. Bug
 * reports need lines of `info` and above at any level, so `recent` keeps them.
 */
export const createLog = (write: (line: string) => void, readable: boolean, level: LogLevel = "info"): Log =>
  createChildLog({ write, readable, level, recent: createRecentLines() }, {});

type LogOutput = { write(line: string): void; readable: boolean; level: LogLevel; recent: RecentLines };

const isAtLeast = (level: LogLevel, least: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

function createChildLog(output: LogOutput, fields: Record<string, unknown>): Log {
  const { write, readable, recent } = output;
  const line = (level: LogLevel, event: string, more: Record<string, unknown> = {}) => {
    const isWritten = isAtLeast(level, output.level);
    if (!isWritten && !isAtLeast(level, "info")) return;
    const all = { ...fields, ...flattenErrors(more) };
    const head = { time: new Date().toISOString(), level, event };
    // Fields may come from a job process, which must not override the head.
    const json = JSON.stringify({ ...head, ...all, ...head });
    recent.add(json);
    if (isWritten) write(escapeControls(readable ? formatReadable(head.time, level, event, all) : json));
  };
  return {
    debug: (event, more) => line("debug", event, more),
    info: (event, more) => line("info", event, more),
    warn: (event, more) => line("warn", event, more),
    error: (event, more) => line("error", event, more),
    with: (more) => createChildLog(output, { ...fields, ...more }),
    recent: recent.list,
  };
}

export const standardLog = (level: LogLevel): Log =>
  createLog((line) => process.stdout.write(`${line}\n`), Boolean(process.stdout.isTTY), level);

/** Creates a log that is discarded, for tests and for commands that print their own output. */
export const silentLog = (): Log => createLog(() => {}, false);

function formatReadable(time: string, level: LogLevel, event: string, fields: Record<string, unknown>): string {
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

/** Drizzle adds the parameters of a failed query to its message, including texts of users, and secrets. */
function getMessage(error: Error): string {
  const { query } = error as { query?: unknown };
  return "params" in error && typeof query === "string" ? `Failed query: ${query}` : error.message;
}
