/** `offcut worker token`: manages the join tokens of workers, on the head. */
import type { WorkerTokenView } from "../work/cluster/worker-tokens";
import { runAdminCommand } from "./admin";
import { loadCommandConfig, type ParsedCommand, requireOption, runActionCommand, UsageError } from "./options";
import { formatMinute, formatTextTable } from "./text-table";

const HELP = `Usage: offcut worker token create --name NAME
       offcut worker token list
       offcut worker token revoke NAME

Manages the tokens with which workers on other machines join this server. Works with and without a running server; changes take effect at once.

  create    Create a token and print it. The token is shown only once and stored as a hash. Each worker needs its own.
  list      List the tokens that are not revoked
  revoke    Revoke a token. Its worker stops, and its current work is queued again

  --name NAME    Name of the worker: 1 to 63 letters, digits, dots, hyphens and underscores
  --json         Print a JSON object
`;

/** Returns the exit code. `argv` contains the arguments after `worker token`. */
export function workerTokenCommand(argv: string[]): Promise<number> {
  const command = {
    name: "worker token",
    help: HELP,
    options: { name: { type: "string" } },
    actions: ["create", "list", "revoke"],
  } as const;
  return runActionCommand(command, argv, run);
}

async function run(action: string, rest: string[], parsed: ParsedCommand): Promise<string> {
  const { values } = parsed;
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
