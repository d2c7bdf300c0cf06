/** Command line parsing: settings as flags, usage errors in one line, exit codes. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Config, ConfigError, configFlags, loadConfig } from "../config";

/** The arguments do not match the usage of the command: exit code 2. */
export class UsageError extends Error {}

type OptionSpecs = NonNullable<ParseArgsConfig["options"]>;

export type ParsedCommand = { values: Record<string, string | boolean | undefined>; positionals: string[] };

/** Parses the arguments of a command that accepts `options` and every setting. Throws `UsageError`. */
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

/** Formats an error of the parser as one line, without its advice for programmers. */
function formatParseError(message: string): string {
  const dashed = /^Option '(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/.exec(message)?.[1];
  if (dashed) return `${dashed} needs a value. Write a value that begins with a dash as ${dashed}=-…`;
  const [sentence = "Invalid arguments"] = message.split(/\n|\. To specify/);
  return `${sentence.replace(/\.$/, "")}.`;
}

/** Throws `UsageError` when there are positional arguments. */
export function requireNoArguments({ positionals: [extra] }: ParsedCommand): void {
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
}

/** Loads the configuration, with the flags of the command. Throws `ConfigError`. */
export function loadCommandConfig(parsed: ParsedCommand): Promise<Config> {
  const flags = Object.fromEntries(Object.entries(parsed.values).filter((entry) => entry[1] !== undefined));
  return loadConfig({ env: process.env, flags: flags as Record<string, string | boolean> });
}

/** Runs a command and returns its exit code: 2 for a usage or configuration error, 1 for other errors. Prints an error as one line. */
export async function runCommand(name: string, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    // The reader of the output has closed it, like `head` does.
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return 0;
    const isKnown = error instanceof UsageError || error instanceof ConfigError;
    process.stderr.write(`offcut ${name}: ${(error as Error).message ?? error}\n`);
    return isKnown ? 2 : 1;
  }
}

/** Runs a command that takes settings but no arguments. `body` returns the exit code. */
export function runPlainCommand(
  { name, help }: { name: string; help: string },
  argv: string[],
  body: (config: Config, parsed: ParsedCommand) => Promise<number>,
): Promise<number> {
  return runCommand(name, async () => {
    const parsed = parseCommand(argv, {});
    if (parsed.values.help) {
      process.stdout.write(help);
      return 0;
    }
    requireNoArguments(parsed);
    return await body(await loadCommandConfig(parsed), parsed);
  });
}
