/** `offcut user`: accounts from the shell. */
import type { AccountView } from "../work/accounts";
import { runAdminCommand } from "./admin";
import { loadCommandConfig, type ParsedCommand, parseCommand, runCommand, UsageError } from "./options";

const HELP = `offcut user create --email E [--password P | --password -] [--admin] [--credits N]
offcut user grant --email E --credits N
offcut user refund --asset ID
offcut user disable|enable --email E
offcut user list

Works beside a running server and without one. --password - reads the password from standard input; without --password it is
asked for on the terminal. --credits replaces the sign-up grant. A refund gives the charge of an asset back, once. While an account is disabled its keys and download
links are refused and its webhooks wait; its running jobs end as usual. --json prints one object.
`;

/** Gives the exit code. */
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
    if (extra.length > 0) throw new UsageError(`unexpected argument "${extra[0]}"`);
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
    case "enable": {
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
      throw new UsageError(`there is no "user ${action}"; see offcut user --help`);
  }
}

const formatAccount = (user: AccountView): string =>
  `${user.email}  ${user.credits} credits${user.is_admin ? "  administrator" : ""}${user.disabled ? "  disabled" : ""}  ${user.id}\n`;

function printAccount(parsed: ParsedCommand, user: AccountView): void {
  process.stdout.write(parsed.values.json ? `${JSON.stringify(user)}\n` : formatAccount(user));
}

/** The value of an option that cannot be left out. Throws `UsageError`. */
export function requireOption(value: string | boolean | undefined, name: string): string {
  if (typeof value !== "string" || value === "") throw new UsageError(`${name} is missing`);
  return value;
}

function parseCredits(value: string | boolean): number {
  if (typeof value !== "string" || !/^\d{1,15}$/.test(value)) throw new UsageError("--credits takes a whole number");
  return Number(value);
}

async function readPassword(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== "-") return given;
  if (given === "-") return (await Bun.stdin.text()).replace(/\r?\n$/, "");
  if (!process.stdin.isTTY) throw new UsageError("give --password, or --password - and the password on standard input");
  return promptHidden("Password: ");
}

/** Asks on the terminal without showing what is typed. */
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
        if (character === "\u0003") return end(() => reject(new UsageError("interrupted")));
        typed = character === "\u007f" ? typed.slice(0, -1) : typed + character;
      }
    };
    stdin.on("data", onData);
  });
}
