/** `offcut worker`: runs jobs of a server on another machine. */
import type { WorkerSettings } from "../boot-worker";
import type { Config } from "../config";
import { standardLog } from "../lib/log";
import { runPlainCommand, UsageError } from "./options";
import { printError } from "./print";
import { workerTokenCommand } from "./worker-token";

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
