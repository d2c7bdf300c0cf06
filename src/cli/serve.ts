/** `offcut serve`: runs the server. */
import { startServer } from "../boot";
import { standardLog } from "../lib/log";
import { loadCommandConfig, parseCommand, requireNoArguments, runCommand } from "./options";

const HELP = `Usage: offcut serve [SETTINGS]

Runs the server until SIGTERM or SIGINT. Every setting can be a flag (--port 4700), an environment variable (OFFCUT_PORT=4700) or a line of
the configuration file (port = 4700). offcut doctor prints the effective settings.
`;

/** Runs the server until it is stopped. Returns the exit code. */
export function serveCommand(argv: string[]): Promise<number> {
  return runCommand("serve", async () => {
    const parsed = parseCommand(argv, {});
    if (parsed.values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    requireNoArguments(parsed);
    const config = await loadCommandConfig(parsed);
    const log = standardLog();
    const stopped = Promise.withResolvers<string>();
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopped.resolve(signal));
    const server = await startServer(config, log);
    log.info("server.started", {
      url: server.url,
      port: server.port,
      data_dir: server.dataDir,
      // From the start of the process.
      startup_ms: Math.round(performance.now()),
      resident_mb: Math.round(process.memoryUsage().rss / 1e6),
    });
    log.info("server.stop_requested", { signal: await stopped.promise });
    await server.stop();
    log.info("server.stopped");
    return 0;
  });
}
