/** The running and waiting jobs of the workspace. */
import { effect, signal, untracked } from "@preact/signals";
import { api, type Schemas } from "./api";
import { listenLive } from "./live";
import { createScheduledRead } from "./scheduled-read";
import { session, workspace } from "./session";

type Pipeline = Schemas["Pipeline"];

/** Newest first. Only the first page if there are many. */
export const openJobs = signal<Pipeline[]>([]);

const MAX_SHOWN = 50;
const DELAY_MS = 300;

/** Keeps the jobs current while the user is signed in. Call it once. */
export const watchOpenJobs = (): (() => void) =>
  effect(() => {
    const isSignedIn = session.value.kind === "signed-in" && workspace.value !== null;
    untracked(() => {
      openJobs.value = [];
    });
    if (!isSignedIn) return;
    const { schedule, stop } = createScheduledRead(readOpenJobs, DELAY_MS);
    schedule();
    const stopLive = listenLive(["pipeline.updated"], schedule);
    return () => {
      stopLive();
      stop();
    };
  });

async function readOpenJobs(signal: AbortSignal): Promise<void> {
  const read = (state: "running" | "pending") =>
    api.GET("/api/v1/pipelines", { params: { query: { state, limit: MAX_SHOWN } }, signal });
  const answers = await Promise.all([read("running"), read("pending")]).catch(() => []);
  if (signal.aborted || answers.length === 0 || answers.some(({ data }) => data === undefined)) return;
  openJobs.value = answers.flatMap(({ data }) => data?.items ?? []);
}
