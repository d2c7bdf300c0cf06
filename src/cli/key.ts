/** `offcut key`: manages API keys. */
import { KEY_SCOPES, type KeyScope } from "../domain/access";
import { parseIsoTime } from "../domain/iso-time";
import { toOneLine } from "../domain/timeline/one-line";
import type { KeyView } from "../work/access/command-accounts";
import { runAdminCommand } from "./admin";
import {
  loadCommandConfig,
  type ParsedCommand,
  requireOption,
  runActionCommand,
  textOptions,
  UsageError,
} from "./options";
import { formatMinute, formatTextTable } from "./text-table";

const HELP = `Usage: offcut key create --email EMAIL [--name NAME] [--expires TIME] [--scope SCOPE] [--workspace ID]
       offcut key list [--email EMAIL]
       offcut key revoke ID

Manages API keys. Works with and without a running server; changes take effect at once.

  create    Create a key and print it. The key is shown only once and stored as a hash.
  list      List the keys of one account, or of all accounts
  revoke    Delete a key

  --expires TIME    ISO 8601 date (2027-01-31 means 00:00 UTC) or time (2027-01-31T18:00+01:00, UTC without an offset). Default: never.
  --scope SCOPE     read, write or read,write (default). A key without write may only send GET and HEAD.
  --workspace ID    The workspace that the key is for. Default: the personal workspace of the account.
  --json            Print a JSON object
`;

export function keyCommand(argv: string[]): Promise<number> {
  const options = textOptions("email", "name", "expires", "scope", "workspace");
  return runActionCommand({ name: "key", help: HELP, options, actions: { create: 0, list: 0, revoke: 1 } }, argv, run);
}

async function run(action: string, [id]: string[], parsed: ParsedCommand): Promise<string> {
  const { values } = parsed;
  const config = await loadCommandConfig(parsed);
  if (action === "create") {
    const email = requireOption(values.email, "--email");
    const name = (values.name as string | undefined) ?? "command line";
    const expires = values.expires as string | undefined;
    if (expires !== undefined && parseIsoTime(expires) === null)
      throw new UsageError("--expires must be an ISO 8601 date or time, such as 2027-01-31T18:00Z.");
    const scopes = parseScopes(values.scope as string | undefined);
    const workspace = values.workspace as string | undefined;
    const request = { email, name, expires, scopes, workspace };
    const created = (await runAdminCommand(config, "key create", request)) as { key: string };
    return values.json ? `${JSON.stringify(created)}\n` : `${created.key}\n`;
  }
  if (action === "revoke") {
    if (!id) throw new UsageError("Missing key ID. See offcut key list.");
    const revoked = (await runAdminCommand(config, "key revoke", { id })) as KeyView;
    return values.json ? `${JSON.stringify(revoked)}\n` : `Revoked ${revoked.prefix}… of ${revoked.email}.\n`;
  }
  const email = values.email === undefined ? undefined : requireOption(values.email, "--email");
  const keys = (await runAdminCommand(config, "key list", { email })) as KeyView[];
  return values.json ? `${JSON.stringify({ items: keys })}\n` : formatKeyTable(keys);
}

function parseScopes(text: string | undefined): KeyScope[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(",");
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  if (scopes.length !== names.length) throw new UsageError(`--scope must be ${KEY_SCOPES.join(", ")} or both.`);
  return scopes;
}

const MAX_SHOWN_NAME_LENGTH = 40;

/** Formats keys as a table with a header line; empty if there are none. Times are in UTC, to the minute. */
export function formatKeyTable(keys: KeyView[]): string {
  if (keys.length === 0) return "";
  return formatTextTable([
    ["ID", "EMAIL", "NAME", "PREFIX", "SCOPES", "CREATED", "LAST USED", "EXPIRES"],
    ...keys.map((key) => [
      key.id,
      key.email,
      toOneLine(key.name, MAX_SHOWN_NAME_LENGTH),
      key.prefix,
      key.scopes.join(","),
      formatMinute(key.created_at),
      formatMinute(key.last_used_at),
      formatMinute(key.expires_at),
    ]),
  ]);
}
