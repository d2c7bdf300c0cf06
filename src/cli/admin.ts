/** Runs administrative commands, in a running server through its control socket or else on the data folder. */
import { existsSync } from "node:fs";
import { openForAdmin } from "../boot-folder";
import { drillCommand } from "../boot-tools";
import type { Config } from "../config";
import { FolderLockedError, getControlSocketPath, prepareDataFolder } from "../data-folder";
import { runAdmin } from "../work/access/admin-commands";

const MAX_ATTEMPTS = 40;
const RETRY_DELAY_MS = 100;

/** Runs an administrative command and returns its result. Throws `ConfigError`, or an error with a user message. */
export const runAdminCommand = (config: Config, command: string, args: Record<string, unknown>): Promise<unknown> =>
  runInServerOr(prepareDataFolder(config.dataDir), command, args, () => runInProcess(config, command, args));

/** Runs a command in the server of the folder, or calls `local`, which locks the folder. Returns the result. */
export async function runInServerOr(
  folder: string,
  command: string,
  args: Record<string, unknown>,
  local: () => Promise<unknown>,
): Promise<unknown> {
  // A starting server holds the lock before it has a socket; a stopping one still holds it after closing the socket.
  for (let attempt = 1; ; attempt++) {
    const response = await sendToServer(folder, command, args);
    if (response) return response.result;
    try {
      return await local();
    } catch (error) {
      if (!(error instanceof FolderLockedError) || attempt === MAX_ATTEMPTS) throw error;
      await Bun.sleep(RETRY_DELAY_MS);
    }
  }
}

/** Runs a command in the server that holds the folder, and returns its result; null if no server is running. */
export async function sendToServer(
  folder: string,
  command: string,
  args: Record<string, unknown>,
): Promise<{ result: unknown } | null> {
  const unix = getControlSocketPath(folder);
  if (!existsSync(unix)) return null;
  const response = await fetch("http://offcut/", {
    unix,
    method: "POST",
    // A backup takes time.
    timeout: false,
    body: JSON.stringify({ command, args }),
  }).catch((error: NodeJS.ErrnoException) => {
    // No server is listening. A killed server leaves its socket behind.
    if (error.code === "ECONNREFUSED" || error.code === "ENOENT") return null;
    // Running the command again in this process could apply it twice.
    throw new Error(
      "The server stopped before it responded. Check whether the command took effect before you repeat it.",
    );
  });
  if (!response) return null;
  const body = (await response.json()) as { error?: { message: string } };
  if (!response.ok) throw new Error(body.error?.message ?? `The server responded with status ${response.status}.`);
  return { result: body };
}

async function runInProcess(config: Config, command: string, args: Record<string, unknown>): Promise<unknown> {
  const services = await openForAdmin(config, drillCommand());
  try {
    return await runAdmin(services, command, args);
  } finally {
    await services.close();
  }
}
