/**
 * `offcut worker`: runs jobs of a server on another machine. `offcut worker token` manages the join tokens of workers,
 * on the head.
 */
import type { WorkerSettings } from "../boot-worker";
import type { Config } from "../config";
import { standardLog } from "../lib/log";
import type { WorkerTokenView } from "../work/cluster/worker-tokens";
import { runAdminCommand } from "./admin";
import {
  loadCommandConfig,
  type ParsedCommand,
  requireOption,
  runActionCommand,
  runPlainCommand,
  textOptions,
  UsageError,
} from "./options";
import { printError } from "./print";
import { formatMinute, formatTextTable } from "./text-table";

const HELP = `Usage: offcut worker --head URL --token TOKEN --redis URL [SETTINGS]
       offcut worker token create|list|revoke

Runs preparations, cuts and renders of another server, the head, until SIGTERM or SIGINT. Current work then ends or is returned within 30 s;
a second signal ends it at once. The exit code is 77 if the head rejects the token. On the head, set redis_url and create a token with
offcut worker token create.

  --head URL       Address of the head
  --token TOKEN    Join token of this worker
  --redis URL      Redis of the head: redis://, or rediss:// for TLS
  --jobs LIST      Kinds of jobs to run: render,prepare,cut (default all)
  --slots N        Maximum number of concurrent jobs (default half of the cores)
  --ca FILE        PEM file of the certificate authority for the head and Redis
  --cache-bytes N  Size of the cache for the head's files (default 50 GiB)
  --data-dir DIR   Folder for files and speech models. Each worker has its own
  --log-level L    Lowest level of log lines: debug, info, warn or error (default info)

Every setting can also be an environment variable (OFFCUT_HEAD=…) or a line of the configuration file (head = "…"). Other users of this machine
can see flags, so it is better to keep the token in the file.
`;

/** The head rejects the token permanently. The service's unit does not restart the worker on this exit code. */
const REFUSED_EXIT_CODE = 77;
const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130 };

/**
 * Runs a worker until it is stopped or rejected, or manages tokens. Returns the exit code: 77 if the head rejects its
 * token, 1 if it rejects its version.
 */
export function workerCommand(argv: string[]): Promise<number> {
  if (argv[0] === "token") return workerTokenCommand(argv.slice(1));
  return runPlainCommand({ name: "worker", help: HELP }, argv, async (config) => {
    const settings = requireSettings(config);
    const log = standardLog(config.logLevel);
    const stopped = Promise.withResolvers<void>();
    let isRepeated = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        // The children end with this process.
        if (isRepeated) process.exit(SIGNAL_EXIT_CODES[signal]);
        isRepeated = true;
        log.info("worker.stop_requested", { signal });
        stopped.resolve();
      });
    }
    // Loaded only here: managing tokens does not need BullMQ.
    const { startWorker } = await import("../boot-worker");
    const worker = await startWorker(config, settings, log);
    void stopped.promise.then(worker.drain);
    const end = await worker.ended;
    if (end.kind === "refused") {
      if (!end.isFinal) throw new Error(end.message);
      printError(`offcut worker: ${end.message}`);
      return REFUSED_EXIT_CODE;
    }
    log.info("worker.stopped");
    return 0;
  });
}

/** Throws `UsageError` if a setting is missing that a worker needs. */
function requireSettings({ head, token, redis, redisUrl }: Config): WorkerSettings {
  const found = { head, token, redis: redis ?? redisUrl };
  for (const [name, value] of Object.entries(found))
    if (value === null) throw new UsageError(`--${name} is missing, see offcut worker --help`);
  return found as WorkerSettings;
}

const TOKEN_HELP = `Usage: offcut worker token create --name NAME
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
function workerTokenCommand(argv: string[]): Promise<number> {
  const command = {
    name: "worker token",
    help: TOKEN_HELP,
    options: textOptions("name"),
    actions: { create: 0, list: 0, revoke: 1 },
  };
  return runActionCommand(command, argv, runTokenAction);
}

async function runTokenAction(action: string, [revokedName]: string[], parsed: ParsedCommand): Promise<string> {
  const { values } = parsed;
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
