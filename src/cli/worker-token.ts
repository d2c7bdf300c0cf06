/** `offcut worker token`: manages the join tokens of workers, on the head. */
import type { WorkerTokenView } from "../work/cluster/worker-tokens";
import { runAdminCommand } from "./admin";
import { loadCommandConfig, type ParsedCommand, parseCommand, runCommand, UsageError } from "./options";
import { formatMinute, formatTextTable } from "./text-table";
import { requireOption } from "./user";

const HELP = `Usage: offcut worker token create --name NAME
       offcut worker token list
       offcut worker token revoke NAME

Manages the tokens with which workers on other machines join this server. Works with and without a running server; changes take effect at once.

  create    Create a token and print it. The token is shown only once and stored as a hash. Each worker needs its own.
  list      List the tokens that are not revoked
  revoke    Revoke a token: its worker ends, and what it runs is enqueued again

  --name NAME    Name of the worker: 1 to 63 letters, digits, dots, hyphens and underscores
  --json         Print a JSON object
`;

const ACTIONS = ["create", "list", "revoke"];

/** Returns the exit code. `argv` is what follows `worker token`. */
export function workerTokenCommand(argv: string[]): Promise<number> {
  return runCommand("worker token", async () => {
    const parsed = parseCommand(argv, { name: { type: "string" } });
    const [action, ...rest] = parsed.positionals;
    if (parsed.values.help || !action) {
      process.stdout.write(HELP);
      return parsed.values.help ? 0 : 2;
    }
    process.stdout.write(await run(action, rest, parsed));
    return 0;
  });
}

/** Runs the action and returns what to print. */
async function run(action: string, rest: string[], parsed: ParsedCommand): Promise<string> {
  const { values } = parsed;
  if (!ACTIONS.includes(action))
    throw new UsageError(`Unknown action "worker token ${action}". See offcut worker token --help.`);
  const [revokedName, extra] = action === "revoke" ? rest : [undefined, ...rest];
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
  if (action === "revoke" && !revokedName) throw new UsageError("Missing name. See offcut worker token list.");
  const name = action === "create" ? requireOption(values.name, "--name") : revokedName;
  const config = await loadCommandConfig(parsed);
  const result = await runAdminCommand(config, `worker token ${action}`, { name });
  if (action === "list") {
    const tokens = result as WorkerTokenView[];
    return values.json ? `${JSON.stringify({ items: tokens })}\n` : formatTokenTable(tokens);
  }
  if (values.json) return `${JSON.stringify(result)}\n`;
  return action === "create" ? `${(result as { token: string }).token}\n` : `Revoked the token of ${name}.\n`;
}

function formatTokenTable(tokens: WorkerTokenView[]): string {
  if (tokens.length === 0) return "";
  return formatTextTable([
    ["NAME", "CREATED", "LAST USED"],
    ...tokens.map((token) => [token.name, formatMinute(token.created_at), formatMinute(token.last_used_at)]),
  ]);
}
