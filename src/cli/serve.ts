/** `offcut serve`: runs the server. */
import { type RunningServer, startServer } from "../boot";
import { type Log, standardLog } from "../lib/log";
import { runPlainCommand } from "./options";
import { print } from "./print";
import { formatSettingsHelp } from "./settings";

const HELP = `Usage: offcut serve [SETTINGS]

Runs the server until SIGTERM or SIGINT. Every setting can be a flag (--port 4700), an environment variable (OFFCUT_PORT=4700) or a line in
the configuration file (port = 4700), which also has prices ([[price]]) and sign-in providers ([[oidc]]). offcut doctor prints the effective
settings.

  --config FILE  Configuration file (default /etc/offcut/offcut.toml)

Settings:
${formatSettingsHelp()}`;

/** Runs the server until it is stopped. Returns the exit code. */
export function serveCommand(argv: string[]): Promise<number> {
  return runPlainCommand({ name: "serve", help: HELP }, argv, async (config) => {
    const log = standardLog(config.logLevel);
    const stopped = Promise.withResolvers<string>();
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopped.resolve(signal));
    const server = await startServer(config, log);
    log.info("server.started", {
      url: server.url,
      port: server.port,
      data_dir: server.dataDir,
      // Measured from the start of the process.
      startup_ms: Math.round(performance.now()),
      resident_mb: Math.round(process.memoryUsage().rss / 1e6),
    });
    await announceSetup(server.services, log);
    log.info("server.stop_requested", { signal: await stopped.promise });
    await server.stop();
    log.info("server.stopped");
    return 0;
  });
}

/** Reports that the server must be set up. Only a terminal receives the link, which is a secret. */
async function announceSetup({ setup }: RunningServer["services"], log: Log): Promise<void> {
  try {
    const url = await setup.url();
    if (url === null) return;
    log.warn("setup.required", { advice: "run offcut setup-url on this machine and open the link that it prints" });
    if (process.stdout.isTTY) print(`\nSet up Offcut: ${url}\n\n`);
  } catch (error) {
    log.warn("setup_url.not_stored", { error });
  }
}
