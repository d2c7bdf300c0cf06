/** `offcut worker`: does work of a server on another machine. */
import type { WorkerSettings } from "../boot-worker";
import type { Config } from "../config";
import { standardLog } from "../lib/log";
import { runPlainCommand, UsageError } from "./options";
import { printError } from "./print";
import { workerTokenCommand } from "./worker-token";

const HELP = `Usage: offcut worker --head URL --token TOKEN --redis URL [SETTINGS]
       offcut worker token create|list|revoke

Does preparations, cuts and renders of another server, the head, until SIGTERM or SIGINT. Current work then ends or is given back within 30 s;
a second signal ends it at once. It ends with exit code 77 when the head refuses its token. On the head, set redis_url and create a token with
offcut worker token create.

  --head URL       Address of the head
  --token TOKEN    Join token of this worker
  --redis URL      Redis of the head: redis://, or rediss:// for TLS
  --jobs LIST      Jobs to do: render,prepare,cut (default all)
  --slots N        How many of them at the same time (default half of the cores)
  --ca FILE        PEM file of the certificate authority of the head and of Redis
  --cache-bytes N  Space for files of the head that it keeps (default 50 GiB)
  --data-dir DIR   Folder for files and speech models. Each worker has its own
  --log-level L    Least important lines of the log: debug, info, warn or error (default info)

Every setting can also be an environment variable (OFFCUT_HEAD=…) or a line of the configuration file (head = "…"). Other users of this machine
can see flags: better keep the token in the file.
`;

/** The head refuses the token, now and later. The unit of the service does not restart the worker then. */
const REFUSED_EXIT_CODE = 77;
const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130 };

/**
 * Runs a worker until it is stopped or refused, or manages tokens. Returns the exit code: 77 when the head refuses its token, 1 when it refuses
 * its version.
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
    // Not for the tokens, which need no BullMQ.
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

/** Throws `UsageError` when a setting is missing that a worker needs. */
function requireSettings({ head, token, redis, redisUrl }: Config): WorkerSettings {
  const found = { head, token, redis: redis ?? redisUrl };
  for (const [name, value] of Object.entries(found))
    if (value === null) throw new UsageError(`--${name} is missing, see offcut worker --help`);
  return found as WorkerSettings;
}
