/**
 * Knows whether the data folder and the media folder are there. Each has a marker file with the ID of the data folder. Without it the folder is
 * offline: a mount that is away looks like an empty folder, so nothing is concluded from a file that is missing, and nothing is written or removed.
 */
import { readFile, stat, statfs } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { AppError } from "../domain/errors";
import { MEDIA_MARKER_NAME, parseMarker } from "../domain/media-folder";
import { withTimeLimit } from "../lib/time-limit";

/** A marker file that must exist. `setting`: the setting that names its folder. */
export type GuardedMarker = { path: string; id: string; setting: "data_dir" | "media_dir" };

/** Why a folder is offline. `about`: the folder, the reason, and what to do. */
export type FolderProblem = { folder: string; setting: GuardedMarker["setting"]; about: string };

export type FolderGuard = {
  /** Returns what the last check has found, which is at most a second old while the guard is started; null: all folders are there. */
  findProblem(): FolderProblem | null;
  /** Checks now. */
  check(): Promise<FolderProblem | null>;
  /** Throws `AppError` `upstream_unavailable` when a folder was offline in the last check. */
  requireOnline(): void;
  /** Checks now and throws `AppError` `upstream_unavailable` when a folder is offline. Called before files are removed, and after one was not found. */
  confirmOnline(): Promise<void>;
  /**
   * Returns the result of `read`, whose null says that something does not exist. Throws `AppError` `upstream_unavailable` when a folder is offline
   * before, or after null.
   */
  readOnline<T>(read: () => Promise<T | null>): Promise<T | null>;
  /** Returns the free bytes where the last folder is, by the last check; 0 while one is offline. Never waits, as a system call may. */
  getFreeBytes(): number;
  /** Calls the listener with the problem after a folder went offline, and with null after all are back. */
  onChange(listener: (problem: FolderProblem | null) => void): void;
  /** Checks once a second. */
  start(): void;
  stop(): void;
};

const CHECK_INTERVAL_MS = 1_000;
/** A network folder whose server is gone does not respond at all. */
const MAX_WAIT_MS = 3_000;
const RETRY_AFTER_SECONDS = 30;

/** The error while a folder is offline. Only administrators learn which one it is. */
export const offlineError = (): AppError =>
  new AppError("upstream_unavailable", "Server storage is offline. Try again later.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Creates a guard of the folders with these markers. It finds no problem before its first check. */
export function createFolderGuard(markers: readonly GuardedMarker[], { maxWaitMs = MAX_WAIT_MS } = {}): FolderGuard {
  const listeners: ((problem: FolderProblem | null) => void)[] = [];
  /** The files whose contents have been read, by their path. */
  const verified = new Map<string, string>();
  let problem: FolderProblem | null = null;
  let freeBytes = 0;
  let running: Promise<FolderProblem | null> | null = null;
  /** Begins when the running check ends. */
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
    freeBytes = await statfs(last).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => 0,
    );
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

  /** A check that runs may have read a marker before this call. */
  function beginOrWait(): Promise<FolderProblem | null> {
    if (next !== null) return next;
    if (running === null) return begin();
    next = running.then(() => {
      next = null;
      return begin();
    });
    return next;
  }

  async function confirmOnline(): Promise<void> {
    if ((await check()) !== null) throw offlineError();
  }

  return {
    findProblem: () => problem,
    check,
    requireOnline: () => {
      if (problem !== null) throw offlineError();
    },
    confirmOnline,
    getFreeBytes: () => (problem === null ? freeBytes : 0),
    readOnline: async (read) => {
      await confirmOnline();
      const found = await read();
      if (found === null) await confirmOnline();
      return found;
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    start: () => {
      timer ??= setInterval(() => void check(), CHECK_INTERVAL_MS);
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** A guard without folders, for programs that have no server. */
export const noFolderGuard: FolderGuard = createFolderGuard([]);

/** Returns why the folder of a marker is offline, or null. The file is read again only when it is another one than before. */
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
    const exists = await stat(dirname(path)).then(
      () => true,
      () => false,
    );
    return exists ? `has no ${basename(path)}` : "does not exist";
  }
}

function describeProblem({ path, id, setting }: GuardedMarker, reason: string): FolderProblem {
  const folder = dirname(path);
  const kind = setting === "data_dir" ? "data folder" : "media folder";
  // Without the setting media_dir, the media of a server that had one is looked for in the data folder.
  const isMediaElsewhere = setting === "data_dir" && basename(path) === MEDIA_MARKER_NAME;
  const cause = isMediaElsewhere ? "Set media_dir to the folder that has it" : `Mount it again, or correct ${setting}`;
  const advice = `${cause}. If the folder is complete, create ${path} with the line ${id}`;
  return { folder, setting, about: `${kind} ${folder} is offline: it ${reason}. ${advice}` };
}
