/** Command line parsing: settings as flags, usage errors in one line, exit codes. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Config, ConfigError, configFlags, loadConfig } from "../config";
import { print, printError } from "./print";

/** Thrown when the arguments do not match the usage of the command: exit code 2. */
export class UsageError extends Error {}

/**
 * Thrown when the parser rejects the arguments. The message names the mistake; the command's help shows the correct
 * usage.
 */
class ParseError extends UsageError {}

type OptionSpecs = NonNullable<ParseArgsConfig["options"]>;

/** Options with a value. */
export const textOptions = (...names: string[]): OptionSpecs =>
  Object.fromEntries(names.map((name) => [name, { type: "string" }]));

/** Options without a value. */
export const flagOptions = (...names: string[]): OptionSpecs =>
  Object.fromEntries(names.map((name) => [name, { type: "boolean" }]));

export type ParsedCommand = { values: Record<string, string | boolean | undefined>; positionals: string[] };

/** Parses the arguments of a command that accepts `options` and every setting. Throws `UsageError`. */
export function parseCommand(argv: string[], options: OptionSpecs): ParsedCommand {
  try {
    const { values, positionals } = parseArgs({
      args: joinNegativeNumbers(argv),
      options: { ...configFlags(), help: { type: "boolean", short: "h" }, json: { type: "boolean" }, ...options },
      allowPositionals: true,
      strict: true,
    });
    return { values: values as ParsedCommand["values"], positionals };
  } catch (error) {
    throw new ParseError(formatParseError((error as Error).message));
  }
}

const NEGATIVE_OPTIONS = ["--loudness"];

/** Makes `--loudness -14` the same as `--loudness=-14`. The parser takes the former for two options. */
function joinNegativeNumbers(argv: string[]): string[] {
  const joined: string[] = [];
  for (const argument of argv) {
    const option = joined.at(-1) ?? "";
    if (NEGATIVE_OPTIONS.includes(option) && /^-\d/.test(argument)) joined[joined.length - 1] = `${option}=${argument}`;
    else joined.push(argument);
  }
  return joined;
}

/** Formats a parser error as one line, without its advice for programmers. */
function formatParseError(message: string): string {
  const [, option, problem] =
    /^Option '(?:-\w, )?(--[\w-]+)(?: [^']*)?' argument (missing|is ambiguous)/.exec(message) ?? [];
  if (problem === "missing") return `${option} needs a value.`;
  if (option) return `${option} needs a value. Write a value that begins with a dash as ${option}=-…`;
  const [sentence = "Invalid arguments"] = message.split(/\n|\. To specify/);
  return `${sentence.replace(/\.$/, "")}.`;
}

/** Loads the configuration, with the flags of the command. Throws `ConfigError`. */
export function loadCommandConfig(parsed: ParsedCommand): Promise<Config> {
  const flags = Object.fromEntries(Object.entries(parsed.values).filter((entry) => entry[1] !== undefined));
  return loadConfig({ env: process.env, flags: flags as Record<string, string | boolean> });
}

/**
 * Returns the exit code of `body`. Prints its error on one line: 2 for usage and configuration errors, 1 for others.
 */
export async function withExitCode(name: string, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    // The reader of the output has closed it, as `head` does.
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return 0;
    const isKnown = error instanceof UsageError || error instanceof ConfigError;
    const hint = error instanceof ParseError ? ` See offcut ${name} --help.` : "";
    printError(`offcut ${name}: ${(error as Error).message ?? error}${hint}`);
    return isKnown ? 2 : 1;
  }
}

/** `takes`: how many arguments it accepts at most. */
type Command = { name: string; help: string; options?: OptionSpecs; takes?: number };

/**
 * Runs a command, or prints its help. Without `needs` (any argument, or an action as the first one), the help is
 * printed too, with the exit code 2. `body` returns the exit code.
 */
export function runCommand(
  { name, help, options = {}, takes, needs }: Command & { needs?: "argument" | "action" },
  argv: string[],
  body: (parsed: ParsedCommand) => Promise<number>,
): Promise<number> {
  return withExitCode(name, async () => {
    const parsed = parseCommand(argv, options);
    const isIncomplete = needs !== undefined && (needs === "action" ? !parsed.positionals[0] : argv.length === 0);
    if (!parsed.values.help && !isIncomplete) {
      rejectExtra(takes === undefined ? undefined : parsed.positionals[takes]);
      return body(parsed);
    }
    print(help);
    return parsed.values.help ? 0 : 2;
  });
}

/** Throws `UsageError` if there are more arguments than the command takes. */
export function rejectExtra(extra: string | undefined): void {
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
}

/**
 * Runs a command whose first argument is an action, such as `key list`. `actions`: how many arguments each takes. `run`
 * receives them and returns the text to print.
 */
export function runActionCommand(
  command: Command & { actions: Readonly<Record<string, number>> },
  argv: string[],
  run: (action: string, rest: string[], parsed: ParsedCommand) => Promise<string>,
): Promise<number> {
  return runCommand({ ...command, needs: "action" }, argv, async (parsed) => {
    const [action = "", ...rest] = parsed.positionals;
    const takes = Object.hasOwn(command.actions, action) ? command.actions[action] : undefined;
    if (takes === undefined)
      throw new UsageError(`Unknown action "${command.name} ${action}". See offcut ${command.name} --help.`);
    rejectExtra(rest[takes]);
    print(await run(action, rest, parsed));
    return 0;
  });
}

/** Runs a command that takes settings but no arguments. `body` returns the exit code. */
export function runPlainCommand(
  command: Command,
  argv: string[],
  body: (config: Config, parsed: ParsedCommand) => Promise<number>,
): Promise<number> {
  return runCommand({ ...command, takes: 0 }, argv, async (parsed) => body(await loadCommandConfig(parsed), parsed));
}

/** Returns the value of a required option. Throws `UsageError` if it is missing. */
export function requireOption(value: string | boolean | undefined, name: string): string {
  if (typeof value !== "string" || value === "") throw new UsageError(`Missing option ${name}.`);
  return value;
}

export const INTERRUPTED_EXIT_CODE = 130;

/** Returns a signal that SIGINT and SIGTERM abort with this message. A second one ends the process. */
export function abortWhenInterrupted(message: string): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupted.abort(new Error(message)));
  return interrupted.signal;
}
