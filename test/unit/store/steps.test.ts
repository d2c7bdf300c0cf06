import { describe, expect, test } from "bun:test";
import type { Job } from "../../../src/domain/jobs";
import { newId } from "../../../src/lib/ids";
import type { Queries, Store } from "../../../src/store/db";
import {
  claimStep,
  findNextDueTime,
  findNextStep,
  findNextStepAlone,
  renewLease,
  requeueInterruptedSteps,
  requeueStep,
} from "../../../src/store/step-queue";
import {
  countStepsBefore,
  endStep,
  findLatestStep,
  findStep,
  listOpenSteps,
  readProgress,
  type Step,
} from "../../../src/store/steps";
import { addStep, addUser, freshStore } from "./test-store";

const LEASE_MS = 1_000;

/** Claims the next step in one transaction. */
const claim = (store: Store, at = 100, owner = "one", name: "prepare" | "cut" | "render" = "render") =>
  store.write(async (tx) => {
    const next = await findNextStep(tx, name, owner, at, []);
    return next && claimStep(tx, next.stepId, owner, at, LEASE_MS);
  });

async function claimed(store: Store, at = 100, owner = "one"): Promise<Job> {
  const job = await claim(store, at, owner);
  if (!job) throw new Error("nothing was due");
  return job;
}

/** Inserts a user with `count` pending renders, due one millisecond apart from `from` on. Returns the step IDs. */
async function userWithSteps(tx: Queries, count: number, from = 0): Promise<{ workspaceId: string; steps: string[] }> {
  const { workspaceId } = await addUser(tx);
  const steps: string[] = [];
  for (let i = 0; i < count; i++) steps.push((await addStep(tx, { workspaceId, runAfter: from + i })).stepId);
  return { workspaceId, steps };
}

const reread = async (store: Store, job: Job): Promise<Step> => (await findLatestStep(store.read, job.subjectId))!;

test("counts the jobs before one in line, as workspaces take turns", async () => {
  await using db = await freshStore();
  const [busy, calm] = await db.store.write(async (tx) => [await userWithSteps(tx, 5), await userWithSteps(tx, 2, 10)]);
  await db.store.write(async (tx) => {
    await addStep(tx, { workspaceId: busy!.workspaceId, name: "cut" });
  });
  const count = async (id: string) => countStepsBefore(db.store.read, (await findStep(db.store.read, id))!);
  // No jobs run: the first job of a workspace waits for one job of the other.
  expect(await Promise.all(calm!.steps.map(count))).toEqual([1, 3]);
  expect(await Promise.all(busy!.steps.map(count))).toEqual([0, 2, 4, 5, 6]);
  const { stepId } = await claimed(db.store);
  expect(await count(stepId)).toBeNull();
  expect(await Promise.all(calm!.steps.map(count))).toEqual([2, 4]);
});

describe("claiming", () => {
  test("returns the oldest due step once", async () => {
    await using db = await freshStore();
    const { steps } = await db.store.write((tx) => userWithSteps(tx, 2));
    expect((await claimed(db.store)).stepId).toBe(steps[0]!);
    expect((await claimed(db.store)).stepId).toBe(steps[1]!);
    expect(await claim(db.store)).toBeNull();
  });

  test("returns each step exactly once to fifty simultaneous claims", async () => {
    await using db = await freshStore();
    const { steps } = await db.store.write((tx) => userWithSteps(tx, 20));
    const jobs = await Promise.all(Array.from({ length: 50 }, (_, i) => claim(db.store, 100, `owner ${i}`)));
    const ids = jobs.flatMap((job) => (job ? [job.stepId] : []));
    expect(ids.toSorted()).toEqual(steps.toSorted());
  });

  test("skips steps of another name and steps that are not due", async () => {
    await using db = await freshStore();
    await db.store.write(async (tx) => {
      const { workspaceId } = await addUser(tx);
      await addStep(tx, { workspaceId, name: "cut" });
      await addStep(tx, { workspaceId, runAfter: 500 });
    });
    expect(await claim(db.store, 499)).toBeNull();
    expect(await findNextDueTime(db.store.read, 499)).toBe(500);
    expect(await claim(db.store, 500)).not.toBeNull();
    expect(await findNextDueTime(db.store.read, 500)).toBeNull();
  });

  test("leaves out excepted steps, also of those that run alone", async () => {
    await using db = await freshStore();
    const { steps } = await db.store.write((tx) => userWithSteps(tx, 3));
    const next = async (except: string[]) =>
      (await findNextStep(db.store.read, "render", "one", 100, except))?.stepId ?? null;
    expect(await next([steps[0]!, "unknown"])).toBe(steps[1]!);
    expect(await next(steps)).toBeNull();
    const job = await claimed(db.store);
    await db.store.write((tx) => requeueStep(tx, job, { runAfter: 100, servedAt: 100, kernelKills: 1 }));
    expect((await findNextStepAlone(db.store.read, "one", 100, []))?.stepId).toBe(job.stepId);
    expect(await findNextStepAlone(db.store.read, "one", 100, [job.stepId])).toBeNull();
  });

  test("alternates between users, whatever the length of their queues", async () => {
    await using db = await freshStore();
    const [busy, calm, late] = await db.store.write(async (tx) => [
      await userWithSteps(tx, 30),
      await userWithSteps(tx, 2, 50),
      await userWithSteps(tx, 1, 60),
    ]);
    const order: string[] = [];
    for (let i = 0; i < 6; i++) {
      order.push((await claimed(db.store)).workspaceId);
    }
    const users = [busy, calm, late, busy, calm, busy].map((user) => user!.workspaceId);
    expect(order).toEqual(users);
  });

  test("alternates with one job at a time: the user served longest ago is next", async () => {
    await using db = await freshStore();
    const [busy, calm] = await db.store.write(async (tx) => [
      await userWithSteps(tx, 30),
      await userWithSteps(tx, 2, 50),
    ]);
    const order: string[] = [];
    for (let at = 100; at < 105; at++) {
      const job = await claimed(db.store, at);
      order.push(job.workspaceId);
      await db.store.write((tx) => endStep(tx, job, { state: "completed", now: at }));
    }
    expect(order).toEqual([busy, calm, busy, calm, busy].map((user) => user!.workspaceId));
  });

  test("puts a returned step behind users who waited in the meantime", async () => {
    await using db = await freshStore();
    const [long, short] = await db.store.write(async (tx) => [
      await userWithSteps(tx, 1),
      await userWithSteps(tx, 2, 50),
    ]);
    const taken = await claimed(db.store, 100);
    expect(taken.workspaceId).toBe(long!.workspaceId);
    // The other user was served in between.
    const other = await claimed(db.store, 150);
    await db.store.write((tx) => endStep(tx, other, { state: "completed", now: 160 }));
    await db.store.write((tx) => requeueStep(tx, taken, { runAfter: 200, servedAt: 200, attempts: 0 }));
    expect(await db.store.write((tx) => findNextStep(tx, "render", "one", 200, []))).toMatchObject({
      workspaceId: short!.workspaceId,
    });
    expect((await claimed(db.store, 200)).workspaceId).toBe(short!.workspaceId);
    expect(await claimed(db.store, 200)).toMatchObject({ stepId: taken.stepId, attempt: 1 });
  });

  test("keeps the progress of a restarted step", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const job = await claimed(db.store);
    const told = async (share: number) => {
      await db.store.write((tx) => renewLease(tx, job.stepId, "one", 9_000, share));
      return (await readProgress(db.store.read, [job.subjectId])).get(job.subjectId);
    };
    expect([await told(0.5), await told(0.1), await told(0.6)]).toEqual([0.5, 0.5, 0.6]);
  });

  test("ignores running jobs of another name", async () => {
    await using db = await freshStore();
    const [first, second] = await db.store.write(async (tx) => {
      const a = await userWithSteps(tx, 1, 0);
      for (let i = 0; i < 3; i++) await addStep(tx, { workspaceId: a.workspaceId, name: "cut" });
      return [a, await userWithSteps(tx, 1, 10)];
    });
    for (let i = 0; i < 3; i++) await claim(db.store, 100, "one", "cut");
    expect((await claimed(db.store)).workspaceId).toBe(first!.workspaceId);
    expect((await claimed(db.store)).workspaceId).toBe(second!.workspaceId);
  });

  test("starts the pipeline with its first step and counts attempts", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const first = await claimed(db.store, 100);
    expect(first).toMatchObject({ attempt: 1, failures: 0, name: "render" });
    await db.store.write((tx) => requeueStep(tx, first, { runAfter: 200, servedAt: 100, failures: 1 }));
    expect(await claim(db.store, 199)).toBeNull();
    const second = await claimed(db.store, 200);
    expect(second).toMatchObject({ attempt: 2, failures: 1 });
    expect(await reread(db.store, second)).toMatchObject({ state: "running", started_at: 100, lease_until: 1200 });
  });
});

describe("the lease", () => {
  test("a step with an expired lease goes to another owner, and the first cannot renew it", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const job = await claimed(db.store, 100, "one");
    expect(await claim(db.store, 1_100, "two")).toBeNull();
    const taken = await claimed(db.store, 1_101, "two");
    expect(taken).toMatchObject({ stepId: job.stepId, attempt: 2 });
    expect(await db.store.write((tx) => renewLease(tx, job.stepId, "one", 9_000, 0.5))).toBe(false);
    expect(await db.store.write((tx) => renewLease(tx, job.stepId, "two", 9_000, 0.5))).toBe(true);
    expect((await readProgress(db.store.read, [job.subjectId])).get(job.subjectId)).toBe(0.5);
  });

  test("a runner never claims a step that it runs itself, even with an expired lease", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const job = await claimed(db.store, 100, "one");
    expect(await claim(db.store, 50_000, "one")).toBeNull();
    expect(await db.store.write((tx) => renewLease(tx, job.stepId, "one", 60_000, null))).toBe(true);
  });

  test("an owner that lost a step can neither requeue nor fail it", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const lost = await claimed(db.store, 100, "one");
    const mine = await claimed(db.store, 5_000, "two");
    await db.store.write((tx) => requeueStep(tx, lost, { runAfter: 0, servedAt: 0, failures: 1 }));
    expect(await db.store.write((tx) => endStep(tx, lost, { state: "failed", now: 6_000 }))).toBeNull();
    expect(await reread(db.store, mine)).toMatchObject({ state: "running", lease_owner: "two", failures: 0 });
  });

  test("a server start ends every lease and makes the steps due", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 2));
    const jobs = [await claimed(db.store), await claimed(db.store)];
    expect(await db.store.write((tx) => requeueInterruptedSteps(tx, 150))).toBe(2);
    const again = [await claimed(db.store, 150, "next"), await claimed(db.store, 150, "next")];
    expect(again.map((job) => job.stepId).toSorted()).toEqual(jobs.map((job) => job.stepId).toSorted());
    expect(again.map((job) => job.attempt)).toEqual([2, 2]);
  });
});

describe("a step runs alone", () => {
  const alone = (store: Store, at: number) => store.write((tx) => findNextStepAlone(tx, "one", at, []));

  test("from the third start after unclean exits, not counting shutdowns that return the step", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    for (const at of [100, 200]) {
      const job = await claimed(db.store, at);
      expect(job.runsAlone).toBe(false);
      await db.store.write((tx) => requeueStep(tx, job, { runAfter: at, servedAt: at, attempts: job.attempt - 1 }));
      expect((await claimed(db.store, at)).runsAlone).toBe(false);
      await db.store.write((tx) => requeueInterruptedSteps(tx, at));
    }
    expect(await claim(db.store, 300)).toBeNull();
    const due = await alone(db.store, 300);
    expect(due).toMatchObject({ name: "render", runsAlone: true });
    expect(await db.store.write((tx) => claimStep(tx, due!.stepId, "one", 300, LEASE_MS))).toMatchObject({
      attempt: 3,
      runsAlone: true,
    });
    expect(await alone(db.store, 300)).toBeNull();
  });

  test("after a kill by the kernel, longest waiting first, whatever its name", async () => {
    await using db = await freshStore();
    const [render, cut] = await db.store.write(async (tx) => {
      const { workspaceId } = await addUser(tx);
      return [(await addStep(tx, { workspaceId })).stepId, (await addStep(tx, { workspaceId, name: "cut" })).stepId];
    });
    for (const [name, runAfter] of [
      ["render", 120],
      ["cut", 110],
    ] as const) {
      const job = (await claim(db.store, 100, "one", name))!;
      expect(job.kernelKills).toBe(0);
      await db.store.write((tx) => requeueStep(tx, job, { runAfter, servedAt: 100, kernelKills: 1 }));
    }
    expect(await alone(db.store, 109)).toBeNull();
    expect(await alone(db.store, 150)).toMatchObject({ stepId: cut, name: "cut" });
    expect(await db.store.write((tx) => claimStep(tx, cut!, "one", 150, LEASE_MS))).toMatchObject({ kernelKills: 1 });
    expect(await alone(db.store, 150)).toMatchObject({ stepId: render, name: "render" });
  });

  test("is claimed once, and not before it is due", async () => {
    await using db = await freshStore();
    const { steps } = await db.store.write((tx) => userWithSteps(tx, 1, 100));
    const take = (at: number, owner: string) => db.store.write((tx) => claimStep(tx, steps[0]!, owner, at, LEASE_MS));
    expect(await take(99, "one")).toBeNull();
    expect(await take(100, "one")).not.toBeNull();
    expect(await take(100, "two")).toBeNull();
  });
});

describe("ending", () => {
  test.each(["completed", "failed", "cancelled"] as const)("a step ends as %s once", async (state) => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const job = await claimed(db.store);
    const end = (as: typeof state) =>
      db.store.write((tx) => endStep(tx, { stepId: job.stepId }, { state: as, now: 300 }));
    const ends = await Promise.all([end(state), end("failed"), end("completed")]);
    expect(ends.map((ended) => ended?.state ?? null)).toEqual([state, null, null]);
    expect(await reread(db.store, job)).toMatchObject({
      state,
      finished_at: 300,
      lease_owner: null,
      lease_until: null,
    });
    expect(await listOpenSteps(db.store.read, [job.subjectId])).toEqual([]);
    expect(await claim(db.store, 99_999, "two")).toBeNull();
    expect((await readProgress(db.store.read, [job.subjectId])).size).toBe(0);
  });

  test("an ended step is not requeued", async () => {
    await using db = await freshStore();
    await db.store.write((tx) => userWithSteps(tx, 1));
    const job = await claimed(db.store);
    await db.store.write((tx) => endStep(tx, job, { state: "cancelled", now: 300 }));
    await db.store.write((tx) => requeueStep(tx, job, { runAfter: 0, servedAt: 0 }));
    expect((await reread(db.store, job)).state).toBe("cancelled");
  });

  test("listing the steps of no subjects returns none", async () => {
    await using db = await freshStore();
    expect(await listOpenSteps(db.store.read, [])).toEqual([]);
    expect(await findLatestStep(db.store.read, newId())).toBeNull();
  });
});
