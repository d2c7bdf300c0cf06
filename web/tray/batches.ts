/** Actions on many recordings. They continue while the user opens other pages. */
import { computed, signal } from "@preact/signals";
import { ApiError, toMessage } from "../app/api";
import { isTrayNeeded } from "../app/tray-state";

export type BatchProblem = { name: string; message: string };

export type Batch = {
  id: string;
  /** What is being done, such as "Cutting". */
  label: string;
  total: number;
  done: number;
  state: "running" | "done" | "stopped";
  problems: readonly BatchProblem[];
};

export type BatchItem = { id: string; name: string };

export const batches = signal<readonly Batch[]>([]);
const hasRunning = computed(() => batches.value.some(({ state }) => state === "running"));

const stops = new Map<string, AbortController>();
let lastId = 0;

/** Requests at the same time: the page needs connections of its own. */
const WIDTH = 3;
const MAX_ATTEMPTS = 8;
const OFFLINE_DELAY_MS = 3_000;
/** How long a row without problems stays. */
export const DONE_MS = 5_000;

/** Waits; rejects when it is stopped. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const onStop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onStop);
      resolve();
    }, ms);
    signal.addEventListener("abort", onStop, { once: true });
  });

/** Returns how long to wait before the same call again; null if it would fail again. */
function findDelayMs(error: unknown): number | null {
  if (!(error instanceof ApiError)) return null;
  if (error.status === 429 || error.status === 503) return Math.max(1, error.retryAfterSeconds ?? 1) * 1000;
  return error.code === "offline" ? OFFLINE_DELAY_MS : null;
}

type BatchWork = {
  label: string;
  items: readonly BatchItem[];
  /** Works on one recording. What it throws is that recording's problem, and stops nothing. */
  run(item: BatchItem, signal: AbortSignal): Promise<unknown>;
};

/** Runs an action on each recording, and resolves when all are done or the batch was stopped. */
export async function runBatch({ label, items, run }: BatchWork): Promise<void> {
  const { id, signal } = addBatch(label, items.length);
  const waiting = [...items];
  /** All wait when the server asks one to. */
  let resumeAt = 0;
  const attempt = async (item: BatchItem): Promise<void> => {
    for (let n = 1; ; n++) {
      try {
        const wait = resumeAt - Date.now();
        if (wait > 0) await pause(wait, signal);
        await run(item, signal);
        return change(id, ({ done }) => ({ done: done + 1 }));
      } catch (error) {
        if (signal.aborted) return;
        const delay = n < MAX_ATTEMPTS ? findDelayMs(error) : null;
        if (delay === null) return addProblem(id, { name: item.name, message: toMessage(error) });
        resumeAt = Math.max(resumeAt, Date.now() + delay);
      }
    }
  };
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) await attempt(item);
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
  endBatch(id);
}

/** Adds a row to the tray. `signal` is aborted when the user stops it. */
export function addBatch(label: string, total: number): { id: string; signal: AbortSignal } {
  lastId++;
  const id = String(lastId);
  const stop = new AbortController();
  stops.set(id, stop);
  batches.value = [...batches.value, { id, label, total, done: 0, state: "running", problems: [] }];
  isTrayNeeded.value = true;
  return { id, signal: stop.signal };
}

export function changeBatch(id: string, update: Partial<Pick<Batch, "done" | "problems">>): void {
  change(id, () => update);
}

/** Ends a row, which goes by itself unless it has problems. */
export function endBatch(id: string): void {
  const isStopped = stops.get(id)?.signal.aborted === true;
  stops.delete(id);
  change(id, () => ({ state: isStopped ? "stopped" : "done" }));
  const hasProblems = batches.value.find((one) => one.id === id)?.problems.length !== 0;
  if (!hasProblems) setTimeout(() => closeBatch(id), DONE_MS);
}

/** Ends what was not started. What the server has begun goes on there. */
export const stopBatch = (id: string): void => stops.get(id)?.abort();

export function closeBatch(id: string): void {
  batches.value = batches.value.filter((one) => one.id !== id);
}

const addProblem = (id: string, problem: BatchProblem): void =>
  change(id, ({ done, problems }) => ({ done: done + 1, problems: [...problems, problem] }));

function change(id: string, update: (batch: Batch) => Partial<Batch>): void {
  batches.value = batches.value.map((one) => (one.id === id ? { ...one, ...update(one) } : one));
}

addEventListener("beforeunload", (event) => {
  if (hasRunning.value) event.preventDefault();
});
