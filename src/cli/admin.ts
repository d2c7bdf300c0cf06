/** Speaking to whoever holds the data folder: a running server over its socket, or nobody, and then the folder is opened here. */
import { existsSync } from "node:fs";
import { openForAdmin } from "../boot";
import type { Config } from "../config";
import { FolderLockedError, getControlSocketPath, prepareDataFolder } from "../data-folder";
import { runAdmin } from "../work/admin";

const MAX_ATTEMPTS = 40;
const RETRY_DELAY_MS = 100;

/** Runs an administrator's command and gives its result. Throws `ConfigError`, or an error whose message is for the user. */
export async function runAdminCommand(
  config: Config,
  command: string,
  args: Record<string, unknown>,
): Promise<unknown> {
  const folder = prepareDataFolder(config.dataDir);
  // A server that is starting holds the lock before its socket is there, and one that stops the other way round.
  for (let attempt = 1; ; attempt++) {
    const answer = await sendToServer(folder, command, args);
    if (answer) return answer.result;
    try {
      return await runInProcess(config, command, args);
    } catch (error) {
      if (!(error instanceof FolderLockedError) || attempt === MAX_ATTEMPTS) throw error;
      await Bun.sleep(RETRY_DELAY_MS);
    }
  }
}

async function sendToServer(
  folder: string,
  command: string,
  args: Record<string, unknown>,
): Promise<{ result: unknown } | null> {
  const unix = getControlSocketPath(folder);
  if (!existsSync(unix)) return null;
  const answer = await fetch("http://offcut/", { unix, method: "POST", body: JSON.stringify({ command, args }) }).catch(
    (error: NodeJS.ErrnoException) => {
      // Nobody listens any more: a killed server leaves its socket behind.
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") return null;
      // Doing it again here could grant twice.
      throw new Error("the server went away before it answered: look whether it did what it was asked");
    },
  );
  if (!answer) return null;
  const body = (await answer.json()) as { error?: { message: string } };
  if (!answer.ok) throw new Error(body.error?.message ?? `the server answered ${answer.status}`);
  return { result: body };
}

async function runInProcess(config: Config, command: string, args: Record<string, unknown>): Promise<unknown> {
  const services = await openForAdmin(config);
  try {
    return await runAdmin(services, command, args);
  } finally {
    await services.close();
  }
}
