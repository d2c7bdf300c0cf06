/** `offcut serve`: the server. */
import { startServer } from "../boot";
import { standardLog } from "../lib/log";
import { loadCommandConfig, parseCommand, requireNoArguments, runCommand } from "./options";

const HELP = `offcut serve [settings]

Runs the server until it is told to stop (SIGTERM, SIGINT). Every setting is a flag (--port 4700), an environment
variable (OFFCUT_PORT=4700) or a line of the configuration file (port = 4700); offcut doctor prints them all.
`;

/** Runs until stopped; gives the exit code. */
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
    log.info("ready", {
      url: server.url,
      port: server.port,
      data: server.dataDir,
      // Counted from the start of the process.
      milliseconds: Math.round(performance.now()),
      resident_mb: Math.round(process.memoryUsage().rss / 1e6),
    });
    log.info("stopping", { signal: await stopped.promise });
    await server.stop();
    log.info("stopped");
    return 0;
  });
}
