/** How long a page waits for a preview, from the queue in the database. */
import { expect, test } from "bun:test";
import { fromSeconds } from "../../../../src/domain/time";
import { newId } from "../../../../src/lib/ids";
import type { Store } from "../../../../src/store/db";
import { claimStep, renewLease, requeueInterruptedSteps, requeueStep } from "../../../../src/store/step-queue";
import { listOpenPreviews } from "../../../../src/store/steps";
import { estimatePreviewWait } from "../../../../src/work/previews/previews";
import { addAsset, addStep, addUser, freshStore } from "../../store/test-store";

const START = 1e12;
const LEASE_MS = 1e9;
const HOUR = 3600;

/** Inserts previews of recordings of these lengths, which became due one after the other. Returns the step IDs. */
const addPreviews = (store: Store, durations: (number | null)[]) =>
  store.write(async (tx) => {
    const owner = await addUser(tx);
    const steps: string[] = [];
    for (const [n, seconds] of durations.entries()) {
      const duration = seconds === null ? null : fromSeconds(seconds);
      const { id } = await addAsset(tx, owner, { duration });
      const options = { workspaceId: owner.workspaceId, name: "preview", subjectId: id, runAfter: n } as const;
      steps.push((await addStep(tx, options)).stepId);
    }
    return steps;
  });

/** Starts a preview, which then has this progress. */
const start = (store: Store, stepId: string, progress: number | null, at = START) =>
  store.write(async (tx) => {
    const job = await claimStep(tx, stepId, "one", at, LEASE_MS);
    await renewLease(tx, stepId, "one", at + LEASE_MS, progress);
    return job!;
  });

/** Returns the wait for a preview, a number of seconds after the start. */
const findWait = async (store: Store, stepId: string, afterSeconds: number) =>
  estimatePreviewWait(stepId, await listOpenPreviews(store.read, 100), START + afterSeconds * 1000);

/** Returns the wait for the last of the previews while the first one has this progress. */
async function waitBehind(durations: (number | null)[], progress: number | null, afterSeconds: number) {
  await using db = await freshStore();
  const steps = await addPreviews(db.store, durations);
  await start(db.store, steps[0]!, progress);
  return (await findWait(db.store, steps.at(-1)!, afterSeconds)).seconds;
}

test("previews wait for those before them, at the speed of an idle server until one runs", async () => {
  await using db = await freshStore();
  const [a, b, c] = await addPreviews(db.store, [600, 300, null]);
  expect(await findWait(db.store, a!, 0)).toEqual({ position: 1, seconds: 60 });
  expect(await findWait(db.store, b!, 0)).toEqual({ position: 2, seconds: 90 });
  // The duration of c is unknown. A preview beyond those that were counted comes last.
  for (const id of [c!, newId()]) expect(await findWait(db.store, id, 0)).toEqual({ position: 3, seconds: 90 });
  await start(db.store, a!, 0.5);
  expect(await findWait(db.store, b!, 0)).toEqual({ position: 2, seconds: 60 });
});

test("a busy server is expected to stay slow", async () => {
  // A tenth of the speed of an idle server, or almost none.
  expect(await waitBehind([HOUR], 0.5, 1800)).toBeWithin(1300, 1800);
  expect(await waitBehind([HOUR, HOUR], 0.5, 1800)).toBeWithin(3900, 5400);
  expect(await waitBehind([600], 0, 600)).toBeWithin(600, 700);
  expect(await waitBehind([600], 0, 1e6)).toBe(1200);
});

test("what a short recording takes says little about a long one", async () => {
  expect(await waitBehind([2, HOUR], 0.1, 5)).toBeWithin(360, 400);
  expect(await waitBehind([10, HOUR], null, 60)).toBeWithin(360, 730);
  expect(await waitBehind([null, HOUR], null, 1e6)).toBe(2 * HOUR);
});

test("progress never makes the estimate jump", async () => {
  const before = await waitBehind([HOUR], 0.0199, 600);
  const after = await waitBehind([HOUR], 0.02, 600);
  expect(Math.abs(after - before)).toBeLessThan(0.01 * before);
});

test("time in which a preview waits or the server is off does not make it slow", async () => {
  await using db = await freshStore();
  const [id] = await addPreviews(db.store, [HOUR]);
  const waitAfter = async (seconds: number) => (await findWait(db.store, id!, seconds)).seconds;
  const job = await start(db.store, id!, 0.5);
  const [yieldedAt, resumedAt] = [START + 300_000, START + 9_000_000];
  await db.store.write((tx) => requeueStep(tx, job, { runAfter: yieldedAt, servedAt: yieldedAt }));
  expect(await waitAfter(9_000)).toBe(180);
  await start(db.store, id!, null, resumedAt);
  expect(await waitAfter(9_010)).toBe(180);
  await db.store.write((tx) => requeueInterruptedSteps(tx, START + 90_000_000));
  expect(await waitAfter(90_000)).toBe(180);
  await start(db.store, id!, null, START + 90_000_000);
  expect(await waitAfter(90_010)).toBe(180);
});
