/** The running and waiting jobs of the workspace. */

import { effect, signal, untracked } from "@preact/signals";
import { api, must, type Schemas } from "./api";
import { followRead } from "./cache";
import { listenLive } from "./live";
import { recall } from "./memory";
import { session, workspace } from "./session";
import { showFailure } from "./toasts";

type Pipeline = Schemas["Pipeline"];

/** Newest first. Only the first page if there are many. */
export const openJobs = signal<Pipeline[]>([]);

const MAX_SHOWN = 50;

/** Keeps the jobs current while the user is signed in. Call it once. */
export const watchOpenJobs = (): (() => void) =>
  effect(() => {
    const id = session.value.kind === "signed-in" ? workspace.value?.id : undefined;
    untracked(() => {
      openJobs.value = [];
    });
    if (id === undefined) return;
    return followRead(["pipelines", id, "open"], readOpenJobs, (found) => {
      openJobs.value = found;
    });
  });

async function readOpenJobs(signal: AbortSignal): Promise<Pipeline[]> {
  const read = (state: "running" | "pending") =>
    must(api.GET("/api/v1/pipelines", { params: { query: { state, limit: MAX_SHOWN } }, signal }));
  const [running, waiting] = await Promise.all([read("running"), read("pending")]);
  return [...running.items, ...waiting.items];
}

/**
 * Storage key with which all tabs find the IDs of renders that end without a message: those of a batch, whose
 * recordings show it.
 */
export const QUIET_RENDERS = "quiet-renders";
/** Those of this tab until their row is closed or stopped: a browser may store nothing. */
export const quietRenders = new Set<string>();
/** An event may arrive before the response that has the ID of a new render. */
const RESPONSE_MS = 1_000;

/** Shows a message for each render that ends. Call it once. */
export function watchEndedRenders(): () => void {
  /** Events of the same state may repeat. */
  const shown = new Set<string>();
  return listenLive(["render.updated"], ({ entityId, state }) => {
    if (entityId === null || (state !== "completed" && state !== "failed") || shown.has(entityId)) return;
    shown.add(entityId);
    setTimeout(() => {
      // The tray of this tab also names those that failed.
      if (quietRenders.has(entityId)) return;
      if (state === "completed" && recall(QUIET_RENDERS)?.includes(entityId)) return;
      // The render may have been deleted in the meantime.
      void import("./ended-render").then(({ showEnd }) => showEnd(entityId).catch(() => {}), showFailure);
    }, RESPONSE_MS);
  });
}
