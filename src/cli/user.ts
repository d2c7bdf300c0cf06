/** `offcut user`: manages accounts. */
import type { AccountView } from "../work/accounts";
import { runAdminCommand } from "./admin";
import { loadCommandConfig, type ParsedCommand, parseCommand, runCommand, UsageError } from "./options";

const HELP = `Usage: offcut user create --email EMAIL [--password PASSWORD] [--admin] [--credits N]
       offcut user list
       offcut user grant --email EMAIL --credits N
       offcut user refund --asset ID
       offcut user disable|enable|reset-two-factor --email EMAIL

Manages accounts. Works with and without a running server.

  create     Create an account. --credits replaces the sign-up grant.
  list       List all accounts
  grant      Add credits
  refund     Refund the charge of an asset, once
  disable    Reject the account's API keys and download links, and hold its webhooks. Running jobs finish.
  enable     Enable a disabled account

  reset-two-factor    Remove the second factor of a user who has lost it: sign-in asks for the password only

  --password PASSWORD    Password of the account, 10 to 200 characters; - reads it from standard input. Default: ask on the terminal.
  --json                 Print a JSON object
`;

/** Returns the exit code. */
export function userCommand(argv: string[]): Promise<number> {
  return runCommand("user", async () => {
    const parsed = parseCommand(argv, {
      email: { type: "string" },
      password: { type: "string" },
      admin: { type: "boolean" },
      credits: { type: "string" },
      asset: { type: "string" },
    });
    const [action, ...extra] = parsed.positionals;
    if (parsed.values.help || !action) {
      process.stdout.write(HELP);
      return parsed.values.help ? 0 : 2;
    }
    if (extra.length > 0) throw new UsageError(`Unexpected argument "${extra[0]}".`);
    return run(action, parsed);
  });
}

async function run(action: string, parsed: ParsedCommand): Promise<number> {
  const { values } = parsed;
  const config = await loadCommandConfig(parsed);
  switch (action) {
    case "create": {
      const email = requireOption(values.email, "--email");
      const credits = values.credits === undefined ? undefined : parseCredits(values.credits);
      const password = await readPassword(values.password as string | undefined);
      printAccount(
        parsed,
        (await runAdminCommand(config, "user create", {
          email,
          password,
          admin: values.admin === true,
          credits,
        })) as AccountView,
      );
      return 0;
    }
    case "grant": {
      const email = requireOption(values.email, "--email");
      const credits = parseCredits(requireOption(values.credits, "--credits"));
      printAccount(parsed, (await runAdminCommand(config, "user grant", { email, credits })) as AccountView);
      return 0;
    }
    case "refund": {
      const assetId = requireOption(values.asset, "--asset");
      printAccount(parsed, (await runAdminCommand(config, "user refund", { assetId })) as AccountView);
      return 0;
    }
    case "disable":
    case "enable":
    case "reset-two-factor": {
      const email = requireOption(values.email, "--email");
      printAccount(parsed, (await runAdminCommand(config, `user ${action}`, { email })) as AccountView);
      return 0;
    }
    case "list": {
      const users = (await runAdminCommand(config, "user list", {})) as AccountView[];
      if (values.json) process.stdout.write(`${JSON.stringify({ items: users })}\n`);
      else for (const user of users) process.stdout.write(formatAccount(user));
      return 0;
    }
    default:
      throw new UsageError(`Unknown action "user ${action}". See offcut user --help.`);
  }
}

const formatAccount = (user: AccountView): string =>
  `${user.email}  ${user.credits} credits${user.is_admin ? "  administrator" : ""}${user.disabled ? "  disabled" : ""}  ${user.id}\n`;

function printAccount(parsed: ParsedCommand, user: AccountView): void {
  process.stdout.write(parsed.values.json ? `${JSON.stringify(user)}\n` : formatAccount(user));
}

/** Returns the value of a required option. Throws `UsageError` when it is missing. */
export function requireOption(value: string | boolean | undefined, name: string): string {
  if (typeof value !== "string" || value === "") throw new UsageError(`Missing option ${name}.`);
  return value;
}

function parseCredits(value: string | boolean): number {
  if (typeof value !== "string" || !/^\d{1,15}$/.test(value)) throw new UsageError("--credits must be a whole number.");
  return Number(value);
}

async function readPassword(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== "-") return given;
  if (given === "-") return (await Bun.stdin.text()).replace(/\r?\n$/, "");
  if (!process.stdin.isTTY)
    throw new UsageError("Missing option --password. Use --password - to read the password from standard input.");
  return promptHidden("Password: ");
}

/** Prompts on the terminal without echoing the input. */
function promptHidden(question: string): Promise<string> {
  const { stdin, stdout } = process;
  stdout.write(question);
  stdin.setRawMode(true);
  stdin.resume();
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (settle: () => void) => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
      stdout.write("\n");
      settle();
    };
    const onData = (data: Buffer) => {
      for (const character of data.toString()) {
        if (character === "\r" || character === "\n") return end(() => resolve(typed));
        if (character === "\u0003") return end(() => reject(new UsageError("Interrupted.")));
        typed = character === "\u007f" ? typed.slice(0, -1) : typed + character;
      }
    };
    stdin.on("data", onData);
  });
}
