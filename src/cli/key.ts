/** `offcut key`: API keys from the shell. */
import { admin } from "./admin";
import { configOf, exitCodeOf, parseCommand, UsageError } from "./options";
import { required } from "./user";

const HELP = `offcut key create --email E [--name N]

Prints a new API key, which is shown this once and stored as a hash only. --json prints one object.
`;

/** Gives the exit code. */
export function keyCommand(argv: string[]): Promise<number> {
  return exitCodeOf("key", async () => {
    const parsed = parseCommand(argv, { email: { type: "string" }, name: { type: "string" } });
    const [action, ...extra] = parsed.positionals;
    if (parsed.values.help || !action) {
      process.stdout.write(HELP);
      return parsed.values.help ? 0 : 2;
    }
    if (action !== "create" || extra.length > 0)
      throw new UsageError(`there is no "key ${parsed.positionals.join(" ")}"`);
    const email = required(parsed.values.email, "--email");
    const name = (parsed.values.name as string | undefined) ?? "command line";
    const made = (await admin(await configOf(parsed), "key create", { email, name })) as { key: string };
    process.stdout.write(parsed.values.json ? `${JSON.stringify(made)}\n` : `${made.key}\n`);
    return 0;
  });
}
