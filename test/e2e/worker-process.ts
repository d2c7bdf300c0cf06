/** A compiled worker with a data folder of its own. */
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder";
import { linkExtractedAssets } from "./extracted-assets";
import { startProcess } from "./offcut";

export type WorkerProcess = AsyncDisposable & {
  data: string;
  pid: number;
  /** Every line of the log so far. */
  log: Record<string, unknown>[];
  /** Resolves when the process has ended. `code` is null when a signal ended it. */
  ended: Promise<{ code: number | null; stderr: string }>;
  kill(signal: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  /** Waits for a line of the log. */
  logs(event: string): Promise<Record<string, unknown>>;
};

const PATIENCE_SECONDS = 60;

/** Starts a worker. `settings` are as in the environment, without the prefix. */
export async function startWorkerProcess(settings: Record<string, string>): Promise<WorkerProcess> {
  const folder = await temporaryFolder();
  await linkExtractedAssets(folder.path);
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`OFFCUT_${name}`, value]));
  const running = startProcess(["worker"], { folder: folder.path, env });
  return {
    data: join(folder.path, "data"),
    pid: running.pid,
    log: running.log,
    ended: running.exited.then(async (code) => ({ code, stderr: await running.stderr })),
    kill: running.kill,
    logs: (event) => running.logged(event, PATIENCE_SECONDS),
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
