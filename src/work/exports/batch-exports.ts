/**
 * Exports of several recordings as one archive. Requests are kept in memory until the archive is downloaded or expires.
 */
import { AppError, notFound } from "../../domain/errors";
import type { ExportPart } from "../../domain/export-parts";
import { newId } from "../../lib/ids";

/** `error` is the reason for which a part of a recording is missing. */
export type ExportProblem = { asset_id: string; name: string | null; message: string };

export type BatchExport = {
  id: string;
  workspaceId: string;
  userId: string;
  assetIds: readonly string[];
  parts: readonly ExportPart[];
  state: "waiting" | "running" | "completed" | "failed";
  /** Recordings that are complete in the archive. */
  done: number;
  problems: ExportProblem[];
  /** Aborted when the export is cancelled. */
  stop: AbortController;
  expiresAt: number;
};

const LIFETIME_MS = 3_600_000;
/** The oldest requests of a user, and of all users, are dropped. */
const MAX_PER_USER = 10;
const MAX_REQUESTS = 500;
/** Archives that a user downloads at the same time. */
const MAX_RUNNING_PER_USER = 2;

type NewExport = Pick<BatchExport, "workspaceId" | "userId" | "assetIds" | "parts">;

/** `clock` returns milliseconds that never go back. */
export function createBatchExports(clock: () => number = () => performance.now()) {
  /** The oldest one is first. */
  const requests = new Map<string, BatchExport>();

  const listIdle = () => [...requests.values()].filter(({ state }) => state !== "running");

  /** Returns the export if it belongs to the workspace and has not been cancelled or expired, otherwise null. */
  function find(workspaceId: string, id: string): BatchExport | null {
    const found = requests.get(id);
    const isThere =
      found?.workspaceId === workspaceId &&
      !found.stop.signal.aborted &&
      (found.state === "running" || found.expiresAt >= clock());
    return isThere ? found : null;
  }

  function dropOld(userId: string): void {
    for (const [id, { expiresAt, state }] of requests)
      if (expiresAt < clock() && state !== "running") requests.delete(id);
    const own = listIdle().filter((one) => one.userId === userId);
    for (const { id } of own.slice(0, Math.max(0, own.length - MAX_PER_USER + 1))) requests.delete(id);
    for (const { id } of listIdle().slice(0, Math.max(0, requests.size - MAX_REQUESTS + 1))) requests.delete(id);
  }

  return {
    create: (request: NewExport): BatchExport => {
      dropOld(request.userId);
      const created: BatchExport = {
        ...request,
        id: newId(),
        state: "waiting",
        done: 0,
        problems: [],
        stop: new AbortController(),
        expiresAt: clock() + LIFETIME_MS,
      };
      requests.set(created.id, created);
      return created;
    },
    find,
    findOwn: (workspaceId: string, userId: string, id: string): BatchExport | null => {
      const found = find(workspaceId, id);
      return found?.userId === userId ? found : null;
    },
    /** Forgets an export. If it is being written, its archive ends, and counts until it has. */
    remove: ({ id, state, stop }: BatchExport): void => {
      stop.abort();
      if (state !== "running") requests.delete(id);
    },
    /**
     * Starts to write an archive, from the beginning. Returns a signal that is aborted when the export is cancelled.
     * Throws `AppError` `conflict` while it or others are being written, `not_found` if it was cancelled. `end` has to
     * follow.
     */
    start: (one: BatchExport): AbortSignal => {
      if (one.stop.signal.aborted) throw notFound("Export");
      if (one.state === "running") throw new AppError("conflict", "Export is being downloaded.");
      const running = [...requests.values()].filter(
        ({ userId, state }) => userId === one.userId && state === "running",
      );
      if (running.length >= MAX_RUNNING_PER_USER)
        throw new AppError("conflict", "Other exports are being downloaded. Wait until they are complete.");
      Object.assign(one, { state: "running", done: 0, problems: [] } satisfies Partial<BatchExport>);
      return one.stop.signal;
    },
    /** Records that nothing more is written to the archive. */
    end: (one: BatchExport, state: "completed" | "failed"): void => {
      one.state = state;
      if (one.stop.signal.aborted) requests.delete(one.id);
    },
  };
}

export type BatchExports = ReturnType<typeof createBatchExports>;
