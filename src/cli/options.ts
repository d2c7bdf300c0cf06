/** The command line: settings as flags, usage errors as one line, exit codes. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Config, ConfigError, configFlags, loadConfig } from "../config";

/** A call that does not fit the command's usage: exit code 2. */
export class UsageError extends Error {}

type OptionSpecs = NonNullable<ParseArgsConfig["options"]>;

export type ParsedCommand = { values: Record<string, string | boolean | undefined>; positionals: string[] };

/** Reads the arguments of a command that knows `options` and every setting. Throws `UsageError`. */
export function parseCommand(argv: string[], options: OptionSpecs): ParsedCommand {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: { ...configFlags(), help: { type: "boolean", short: "h" }, json: { type: "boolean" }, ...options },
      allowPositionals: true,
      strict: true,
    });
    return { values: values as ParsedCommand["values"], positionals };
  } catch (error) {
    throw new UsageError(formatParseError((error as Error).message));
  }
}

/** What the parser says, as one line without its advice for programmers. */
function formatParseError(message: string): string {
  const dashed = /^Option '(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/.exec(message)?.[1];
  if (dashed) return `${dashed} needs a value; one that begins with a dash is written ${dashed}=-…`;
  const [said = "bad arguments"] = message.split(/\n|\. To specify/);
  return `${said.charAt(0).toLowerCase()}${said.slice(1)}`;
}

/** Throws `UsageError` when there is more than options: for commands that take nothing else. */
export function requireNoArguments({ positionals: [extra] }: ParsedCommand): void {
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
}

/** The settings with these flags over them. Throws `ConfigError`. */
export function loadCommandConfig(parsed: ParsedCommand): Promise<Config> {
  const flags = Object.fromEntries(Object.entries(parsed.values).filter((entry) => entry[1] !== undefined));
  return loadConfig({ env: process.env, flags: flags as Record<string, string | boolean> });
}

/** Runs a command's body: 0 for success, 2 for a usage or configuration error, 1 for anything else, each told in one line. */
export async function runCommand(name: string, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    // Whoever read the output has seen enough, as `head` has.
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return 0;
    const isKnown = error instanceof UsageError || error instanceof ConfigError;
    process.stderr.write(`offcut ${name}: ${(error as Error).message ?? error}\n`);
    return isKnown ? 2 : 1;
  }
}
