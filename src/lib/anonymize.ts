/** Removes identifying information from texts: addresses, paths, quoted words and known names. Pure. */

export const REMOVED = "…";

const MAX_TEXT_CHARACTERS = 300;
/** Shorter names are also common words. */
const MIN_NAME_CHARACTERS = 3;

/** The order matters: an address in a URL is part of the URL. */
const PATTERNS: readonly RegExp[] = [
  // Quoted text comes from a user. The closing quote may be missing in a truncated text.
  /"[^"\n]*(?:"|$)/g,
  /`[^`\n]*(?:`|$)/g,
  /(?<![\p{L}\p{N}])'[^'\n]*(?:'|$)/gu,
  /[“„«‘][^“„«‘”»’\n]*[”»’“‘]?/g,
  // URLs and paths.
  /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s,;)>]+/gi,
  /(?<![\p{L}\p{N}<])(?:\.{0,2}|~)\/[^\s,;:()]+/gu,
  /\b[a-z]:\\[^\s,;]+/gi,
  // IP addresses, with ports.
  /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])(?::\d+)?/g,
  /(?<![0-9a-z:])\[?(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%\w+)?\]?(?![0-9a-z])/gi,
  // Host and file names.
  /(?<![\p{L}\p{N}_.-])[\p{L}\p{N}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*\.\p{L}[\p{L}\p{N}]{1,23}(?![\p{L}\p{N}_])/gu,
];

/** Known names, prepared for `anonymizeText`. */
export type KnownNames = { lowerCase: readonly string[] };

/** Prepares names that are removed wherever they occur: names of users, recordings and hosts. */
export function prepareNames(names: Iterable<string>): KnownNames {
  const found = new Set<string>();
  for (const name of names) {
    const whole = name.trim().toLowerCase();
    if (whole.length >= MIN_NAME_CHARACTERS) found.add(whole);
  }
  // Longer names come first, so that no remainder is left after a shorter one is removed.
  return { lowerCase: [...found].sort((a, b) => b.length - a.length) };
}

/** Returns the first line of a text without known names and without anything that looks like a name or an address. */
export function anonymizeText(text: string, names: KnownNames): string {
  let line = (text.split("\n", 1)[0] ?? "").slice(0, MAX_TEXT_CHARACTERS);
  const lower = line.toLowerCase();
  if (lower.length !== line.length) return REMOVED;
  for (const name of names.lowerCase) if (lower.includes(name)) line = removeName(line, name);
  line = line.replace(/[^\s<>(),;:"]+/g, (word) => (word.includes("@") ? REMOVED : word));
  for (const pattern of PATTERNS) line = line.replace(pattern, REMOVED);
  // Words in other scripts or with accents: messages of this program contain none.
  line = line.replace(/[\p{L}\p{M}\p{N}_-]+/gu, (word) => (ASCII.test(word) ? word : REMOVED));
  return line.replace(/…(?:[\s…]*…)+/g, REMOVED);
}

function removeName(line: string, name: string): string {
  let rest = line;
  for (let at = rest.toLowerCase().indexOf(name); at >= 0; at = rest.toLowerCase().indexOf(name, at + 1))
    rest = `${rest.slice(0, at)}${REMOVED}${rest.slice(at + name.length)}`;
  return rest;
}

const ASCII = /^[\w-]+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const WORD = /^[\w.:+-]{1,60}$/;

/** Fields with values from a fixed set. */
const WORD_FIELDS: readonly string[] = [
  ...["event", "level", "code", "status", "state", "type", "template", "method", "signal", "command", "problem"],
  ...["severity", "outcome", "mode", "kind", "version", "policy", "call", "queue", "lacks", "job", "jobs", "languages"],
];
/** Fields with sentences. */
const TEXT_FIELDS: readonly string[] = ["message", "cause", "reason", "advice", "about"];
const ERROR_NAME = /^(?:[A-Z]\w{0,40})?Error$/;
const MAX_DEPTH = 4;
const MAX_ITEMS = 50;

/** Returns a log line reduced to numbers, IDs, times and words of this program; null if the text is not a log line. */
export function anonymizeLogLine(line: string, names: KnownNames): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(line);
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return null;
    return anonymizeFields(fields as Record<string, unknown>, names, 0);
  } catch {
    return null;
  }
}

function anonymizeFields(fields: Record<string, unknown>, names: KnownNames, depth: number): Record<string, unknown> {
  const shown = Object.entries(fields)
    .slice(0, MAX_ITEMS)
    .filter(([key]) => WORD.test(key))
    .map(([key, value]) => [key, anonymizeValue(key, value, names, depth)]);
  return Object.fromEntries(shown);
}

function anonymizeValue(key: string, value: unknown, names: KnownNames, depth: number): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return anonymizeString(key, value, names);
  if (depth >= MAX_DEPTH) return REMOVED;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => anonymizeValue(key, item, names, depth + 1));
  return anonymizeFields(value as Record<string, unknown>, names, depth + 1);
}

function anonymizeString(key: string, value: string, names: KnownNames): string {
  if (UUID.test(value) || ISO_TIME.test(value)) return value;
  if (key === "stack") return anonymizeStack(value);
  if (TEXT_FIELDS.includes(key)) return anonymizeText(value, names);
  if (key === "name" && ERROR_NAME.test(value)) return value;
  const isWord = WORD_FIELDS.includes(key) && WORD.test(value);
  return isWord && !names.lowerCase.includes(value.toLowerCase()) ? value : REMOVED;
}

const FRAME = /^\s*at (?:(?:async )?([\w$.<>#]+) )?\(?.*?(:\d+(?::\d+)?)\)?$/;
const MAX_FRAMES = 20;

/** Keeps functions and positions. Paths in stacks are source paths, or those of a user who builds them. */
const anonymizeStack = (stack: string): string =>
  stack
    .split("\n")
    .map((line) => FRAME.exec(line))
    .filter((frame) => frame !== null)
    .slice(0, MAX_FRAMES)
    .map(([, name = "?", position]) => `at ${name} (${position})`)
    .join(" ");
