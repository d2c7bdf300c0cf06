/**
 * Monitors whether the data folder and the media folder are online. Each has a marker file with the ID of the data
 * folder; without it, the folder is offline. An unmounted folder looks empty, so while it is offline, missing files
 * have no meaning, and nothing is written or removed.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type AppError, retryLater } from "../domain/errors";
import { MEDIA_MARKER_NAME, parseMarker } from "../domain/media-folder";
import { readFreeBytes } from "../lib/disk-reserve";
import { succeeds } from "../lib/error-codes";
import { withTimeLimit } from "../lib/time-limit";

/** A marker file that must exist. `setting` is the setting that names its folder. */
export type GuardedMarker = { path: string; id: string; setting: "data_dir" | "media_dir" };

/** Why a folder is offline. `about` names the folder, the reason, and the remedy. */
export type FolderProblem = { folder: string; setting: GuardedMarker["setting"]; about: string };

const CHECK_INTERVAL_MS = 1_000;
/** A network folder whose server is down does not respond at all. */
const MAX_WAIT_MS = 3_000;
const RETRY_AFTER_SECONDS = 30;

/** The error while a folder is offline. Its message does not name the folder, because anyone may read it. */
export const offlineError = (): AppError =>
  retryLater("upstream_unavailable", "Server storage is offline. Try again later.", RETRY_AFTER_SECONDS);

/** Creates a guard for the folders with these markers. It reports no problem before its first check. */
export function createFolderGuard(markers: readonly GuardedMarker[], { maxWaitMs = MAX_WAIT_MS } = {}) {
  const listeners: ((problem: FolderProblem | null) => void)[] = [];
  /** Files whose contents were verified, by path. */
  const verified = new Map<string, string>();
  let problem: FolderProblem | null = null;
  let freeBytes = 0;
  let running: Promise<FolderProblem | null> | null = null;
  /** The next check, which starts when the running one ends. */
  let next: Promise<FolderProblem | null> | null = null;
  let timer: Timer | undefined;

  function settle(found: FolderProblem | null): FolderProblem | null {
    const hasChanged = (found === null) !== (problem === null);
    problem = found;
    if (hasChanged) for (const listener of listeners) listener(found);
    return found;
  }

  async function readProblem(): Promise<FolderProblem | null> {
    const problems = await Promise.all(
      markers.map(async (marker) => {
        const reason = await findReason(marker, verified);
        return reason === null ? null : describeProblem(marker, reason);
      }),
    );
    const last = dirname(markers.at(-1)?.path ?? "");
    freeBytes = await readFreeBytes(last).catch(() => 0);
    return problems.find((found) => found !== null) ?? null;
  }

  async function check(): Promise<FolderProblem | null> {
    const [first] = markers;
    if (!first) return null;
    return withTimeLimit(beginOrWait(), maxWaitMs, () =>
      settle(describeProblem(markers.at(-1) ?? first, "does not respond")),
    );
  }

  function begin(): Promise<FolderProblem | null> {
    running = readProblem()
      .then(settle)
      .finally(() => {
        running = null;
      });
    return running;
  }

  /** A running check may have read a marker before this call. */
  function beginOrWait(): Promise<FolderProblem | null> {
    if (next !== null) return next;
    if (running === null) return begin();
    next = running.then(() => {
      next = null;
      return begin();
    });
    return next;
  }

  /** Checks now, and throws `AppError` `upstream_unavailable` if a folder is offline. Call before removing files. */
  async function confirmOnline(): Promise<void> {
    if ((await check()) !== null) throw offlineError();
  }

  return {
    /** Returns the result of the last check, at most a second old once started; null if all folders are online. */
    findProblem: () => problem,
    check,
    /** Throws `AppError` `upstream_unavailable` if a folder was offline in the last check. */
    requireOnline: () => {
      if (problem !== null) throw offlineError();
    },
    confirmOnline,
    /** Returns the free bytes in the last folder, by the last check; 0 while one is offline. Never blocks. */
    getFreeBytes: () => (problem === null ? freeBytes : 0),
    /**
     * Returns the result of `read`, for which null means that something does not exist. Throws `AppError`
     * `upstream_unavailable` if a folder is offline before, or after a null result.
     */
    readOnline: async <T>(read: () => Promise<T | null>) => {
      await confirmOnline();
      const found = await read();
      if (found === null) await confirmOnline();
      return found;
    },
    /** Calls the listener with the problem when a folder goes offline, and with null when all are back. */
    onChange: (listener: (problem: FolderProblem | null) => void) => {
      listeners.push(listener);
    },
    /** Checks once a second. */
    start: () => {
      timer ??= setInterval(() => void check(), CHECK_INTERVAL_MS);
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

export type FolderGuard = ReturnType<typeof createFolderGuard>;

/** A guard without folders, for programs without a server. */
export const noFolderGuard: FolderGuard = createFolderGuard([]);

/** Returns why the folder of a marker is offline, or null. Reads the file again only if it has changed. */
async function findReason({ path, id }: GuardedMarker, verified: Map<string, string>): Promise<string | null> {
  try {
    const { dev, ino, mtimeMs, size } = await stat(path);
    const identity = [dev, ino, mtimeMs, size].join(" ");
    if (verified.get(path) === identity) return null;
    if (parseMarker(await readFile(path, "utf8")) !== id) return `has the ${basename(path)} of another data folder`;
    verified.set(path, identity);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") return `cannot be read (${code ?? (error as Error).message})`;
    return (await succeeds(stat(dirname(path)))) ? `has no ${basename(path)}` : "does not exist";
  }
}

function describeProblem({ path, id, setting }: GuardedMarker, reason: string): FolderProblem {
  const folder = dirname(path);
  const kind = setting === "data_dir" ? "data folder" : "media folder";
  // Without the setting media_dir, a server that had one looks for its media in the data folder.
  const isMediaElsewhere = setting === "data_dir" && basename(path) === MEDIA_MARKER_NAME;
  const cause = isMediaElsewhere ? "Set media_dir to the folder that has it" : `Mount it again, or correct ${setting}`;
  const advice = `${cause}. If the folder is complete, create ${path} with the line ${id}`;
  return { folder, setting, about: `${kind} ${folder} is offline: it ${reason}. ${advice}` };
}
