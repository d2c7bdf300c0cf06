/** Follows cuts and renders that this tab has started. */
import { effect, untracked } from "@preact/signals";
import { ApiError } from "../app/api";
import { listenLive } from "../app/live";
import { isPermanent } from "../app/pipelines";
import { currentWorkspaceId } from "../app/session";
import { insist } from "./batches";

type Work = { id: string; state: string; error_code: string | null; error_message: string | null };
type Followed = { workspaceId: string | null; complete(): void; check(): Promise<void> };

const isOpen = (state: string): boolean => state === "pending" || state === "processing";

const followed = new Map<string, Followed>();
/** An event may arrive before the response that has the ID of new work. The newest IDs. */
const ended = new Set<string>();
const MAX_ENDED = 2_000;
/** The work to read. */
const due = new Set<string>();
let isReading = false;

listenLive(["cut.updated", "render.updated"], ({ type, entityId, state }) => {
  if (type === "reset") return checkAll(currentWorkspaceId());
  if (entityId === null || state === null || isOpen(state)) return;
  ended.add(entityId);
  if (ended.size > MAX_ENDED) ended.delete(ended.values().next().value!);
  if (state === "completed") followed.get(entityId)?.complete();
  else void followed.get(entityId)?.check();
});

// Events of other workspaces are not received: the user may have been in another one.
effect(() => {
  const workspaceId = currentWorkspaceId();
  untracked(() => checkAll(workspaceId));
});

function checkAll(workspaceId: string | null): void {
  for (const [id, work] of followed) if (work.workspaceId === workspaceId) due.add(id);
  void checkDue();
}

/** Reads are made one after the other: there may be hundreds. */
async function checkDue(): Promise<void> {
  if (isReading) return;
  isReading = true;
  for (const id of due) {
    due.delete(id);
    await followed.get(id)?.check();
  }
  isReading = false;
}

/**
 * Resolves when a cut or a render of the workspace is completed. Rejects with `ApiError` if it failed, was
 * cancelled or deleted, and with the reason of the signal.
 */
export async function followWork(
  { id, state }: Pick<Work, "id" | "state">,
  workspaceId: string | null,
  read: () => Promise<Work>,
  signal: AbortSignal,
): Promise<void> {
  if (state === "completed") return;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const check = async (): Promise<void> => {
    try {
      const work = await insist(read, signal);
      if (work.state === "completed") resolve();
      else if (!isOpen(work.state)) reject(toError(work));
    } catch (error) {
      reject(error);
    }
  };
  followed.set(id, { workspaceId, complete: resolve, check });
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  // The server returns earlier work that has failed for good: its event was sent long ago.
  if (!isOpen(state) || ended.has(id)) void check();
  return promise.finally(() => followed.delete(id));
}

/** A permanent error has a status with which calls are not retried. */
const toError = ({ state, error_code: code, error_message: message }: Work): ApiError =>
  new ApiError(
    message ?? (state === "failed" ? "It failed." : `It was ${state}.`),
    code ?? state,
    isPermanent(code) ? 422 : 500,
  );
