/** Actions on many recordings. They continue while the user opens other pages. */

import { computed, signal } from "@preact/signals";
import { isFinal, toMessage } from "../app/api";
import { findRetryMs, sleep } from "../app/retry";
import { me } from "../app/session";
import { isTrayNeeded } from "../app/tray-state";

/** `id`: the recording; null for a problem of the whole batch. */
export type BatchProblem = { id: string | null; name: string; message: string };

export type Batch = {
  id: string;
  /** The running action, such as "Cutting". */
  label: string;
  /** 0 for work without a known size. */
  total: number;
  done: number;
  state: "running" | "done" | "stopped";
  /** Who does the rest: only this page's part ends with the page. */
  rest: "page" | "download" | "server";
  problems: readonly BatchProblem[];
  /** Retries the failed items. Null while the row runs, or if a retry cannot succeed. */
  retry: (() => void) | null;
};

export type BatchItem = { id: string; name: string };

export const batches = signal<readonly Batch[]>([]);
const hasRunning = computed(() => batches.value.some(({ state, rest }) => state === "running" && rest === "page"));

const stops = new Map<string, AbortController>();
let lastId = 0;

/** Requests at the same time: the page needs connections of its own. */
const WIDTH = 3;
const MAX_ATTEMPTS = 8;
/** Time for which a row without problems stays. */
export const DONE_MS = 5_000;

/** Repeats a call while the server is unreachable or asks to wait. Rejects when it is stopped. */
export async function insist<Answer>(call: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const delay = findRetryMs(error);
      if (delay === null) throw error;
      await sleep(delay, signal);
    }
  }
}

type BatchWork<Item extends BatchItem, Result> = {
  label: string;
  items: readonly Item[];
  /** Processes one recording. An error becomes that recording's problem and does not stop the others. */
  run(item: Item): Promise<Result>;
  /** Waits for the end of the work that the server has started. */
  follow?(result: Result, signal: AbortSignal): Promise<void>;
  /** Called at the end of each attempt. */
  onEnd?(): void;
};

/**
 * Runs an action on each recording, and resolves when all are done or the batch was stopped. `earlier`: problems of an
 * earlier attempt that cannot be solved by another one.
 */
export async function runBatch<Item extends BatchItem, Result>(
  work: BatchWork<Item, Result>,
  earlier: readonly BatchProblem[] = [],
): Promise<void> {
  const { label, items, run, follow } = work;
  const { id, signal } = addBatch(label, items.length + earlier.length);
  changeBatch(id, { done: earlier.length, problems: earlier });
  const waiting = [...items];
  /** The items for which a retry may succeed. */
  const failed: Item[] = [];
  /** The work that the server has started. */
  const followed: Promise<void>[] = [];
  const fail = (item: Item, error: unknown): void => {
    if (signal.aborted) return;
    if (!isFinal(error)) failed.push(item);
    addProblem(id, { id: item.id, name: item.name, message: toMessage(error) });
  };
  const finish = (): void => change(id, ({ done }) => ({ done: done + 1 }));
  /** Items that have started or failed. The server completes them when the user stops the others. */
  let reached = earlier.length;
  /** All wait when the server asks one to. */
  let resumeAt = 0;
  const attempt = async (item: Item): Promise<void> => {
    for (let n = 1; ; n++) {
      try {
        const wait = resumeAt - Date.now();
        if (wait > 0) await sleep(wait, signal);
        const result = await run(item);
        reached++;
        const ended = follow?.(result, signal).then(finish, (error: unknown) => fail(item, error));
        return ended === undefined ? finish() : void followed.push(ended);
      } catch (error) {
        if (signal.aborted) return;
        const delay = n < MAX_ATTEMPTS ? findRetryMs(error) : null;
        if (delay === null) {
          reached++;
          return fail(item, error);
        }
        resumeAt = Math.max(resumeAt, Date.now() + delay);
      }
    }
  };
  const workThrough = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) await attempt(item);
  };
  await Promise.all(Array.from({ length: WIDTH }, workThrough));
  if (followed.length > 0 && !signal.aborted) changeBatch(id, { rest: "server" });
  await Promise.all(followed);
  if (signal.aborted) changeBatch(id, { done: reached });
  work.onEnd?.();
  const final = find(id)?.problems.filter((problem) => failed.every((item) => item.id !== problem.id));
  endBatch(id, failed.length === 0 ? null : () => void runBatch({ ...work, items: failed }, final));
}

/** Adds a row to the tray. `signal` is aborted when the user stops it. */
export function addBatch(label: string, total: number): { id: string; signal: AbortSignal } {
  lastId++;
  const id = String(lastId);
  const stop = new AbortController();
  stops.set(id, stop);
  batches.value = [
    ...batches.value,
    { id, label, total, done: 0, state: "running", rest: "page", problems: [], retry: null },
  ];
  isTrayNeeded.value = true;
  return { id, signal: stop.signal };
}

export function changeBatch(id: string, update: Partial<Pick<Batch, "done" | "rest" | "problems">>): void {
  change(id, () => update);
}

/** Ends a row. A row without problems disappears after `DONE_MS`. `retry` retries the failed items. */
export function endBatch(id: string, retry: Batch["retry"] = null): void {
  const isStopped = stops.get(id)?.signal.aborted === true;
  stops.delete(id);
  change(id, () => ({ state: isStopped ? "stopped" : "done", retry: isStopped ? null : retry }));
  const hasProblems = find(id)?.problems.length !== 0;
  if (!hasProblems) setTimeout(() => closeBatch(id), DONE_MS);
}

/** Drops the items that have not started. The server completes the work that it has started. */
export const stopBatch = (id: string): void => stops.get(id)?.abort();

/** Replaces a row with one that retries its failed items. The problems of the others stay. */
export function retryBatch({ id, retry }: Batch): void {
  closeBatch(id);
  retry?.();
}

export function closeBatch(id: string): void {
  stopBatch(id);
  batches.value = batches.value.filter((one) => one.id !== id);
}

const addProblem = (id: string, problem: BatchProblem): void =>
  change(id, ({ done, problems }) => ({ done: done + 1, problems: [...problems, problem] }));

const find = (id: string): Batch | undefined => batches.value.find((one) => one.id === id);

function change(id: string, update: (batch: Batch) => Partial<Batch>): void {
  batches.value = batches.value.map((one) => (one.id === id ? { ...one, ...update(one) } : one));
}

let userId = me.peek()?.id;
// Another user must neither continue nor see them.
me.subscribe((user) => {
  if (user?.id === userId) return;
  userId = user?.id;
  for (const { id } of batches.peek()) closeBatch(id);
});

addEventListener("beforeunload", (event) => {
  if (hasRunning.value) event.preventDefault();
});
