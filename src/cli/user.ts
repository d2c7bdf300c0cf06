/** `offcut user`: manages accounts. */
import type { AccountView } from "../work/access/command-accounts";
import { runAdminCommand } from "./admin";
import {
  flagOptions,
  loadCommandConfig,
  type ParsedCommand,
  requireOption,
  runActionCommand,
  textOptions,
  UsageError,
} from "./options";
import { promptHidden } from "./prompt";

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

  reset-two-factor    Remove the second factor of a user who has lost it, so that sign-in asks only for the password

  --password PASSWORD    Password of the account, 10 to 200 characters; - reads it from standard input. Default: ask on the terminal.
  --json                 Print a JSON object
`;

const OPTIONS = { ...textOptions("email", "password", "credits", "asset"), ...flagOptions("admin") };
const ACTIONS = { create: 0, list: 0, grant: 0, refund: 0, disable: 0, enable: 0, "reset-two-factor": 0 };

export const userCommand = (argv: string[]): Promise<number> =>
  runActionCommand({ name: "user", help: HELP, options: OPTIONS, actions: ACTIONS }, argv, run);

async function run(action: string, _: string[], parsed: ParsedCommand): Promise<string> {
  const { values } = parsed;
  const config = await loadCommandConfig(parsed);
  const send = (request: Record<string, unknown>) => runAdminCommand(config, `user ${action}`, request);
  if (action === "list") {
    const users = (await send({})) as AccountView[];
    return values.json ? `${JSON.stringify({ items: users })}\n` : users.map(formatAccount).join("");
  }
  const user = (await send(await readRequest(action, values))) as AccountView;
  return values.json ? `${JSON.stringify(user)}\n` : formatAccount(user);
}

async function readRequest(action: string, values: ParsedCommand["values"]): Promise<Record<string, unknown>> {
  if (action === "refund") return { assetId: requireOption(values.asset, "--asset") };
  const email = requireOption(values.email, "--email");
  if (action === "grant") return { email, credits: parseCredits(requireOption(values.credits, "--credits")) };
  if (action !== "create") return { email };
  const credits = values.credits === undefined ? undefined : parseCredits(values.credits);
  const password = await readPassword(values.password as string | undefined);
  return { email, password, admin: values.admin === true, credits };
}

const formatAccount = (user: AccountView): string =>
  `${user.email}  ${user.credits} credits${user.is_admin ? "  administrator" : ""}${user.disabled ? "  disabled" : ""}  ${user.id}\n`;

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
