/** The running and waiting jobs of the workspace. */
import { effect, signal, untracked } from "@preact/signals";
import { api, must, type Schemas } from "./api";
import { followRead } from "./cache";
import { session, workspace } from "./session";

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
