/** The runner of a server without workers, and its use of other places. */
import { describe, expect, test } from "bun:test";
import type { Slot } from "../../../src/domain/jobs";
import type { WorkerPlace } from "../../../src/domain/scheduling";
import type { OtherPlaces } from "../../../src/queue/runner";
import { ANNOUNCEMENT } from "../../http/workers";
import { openRunner } from "./open-runner";
import { describeRunner } from "./runner-contract";

describeRunner("a runner whose jobs run on this machine", false, async (options) => openRunner(options));

test.each([
  ["frees the slot after several tries", new Error("The database is damaged."), 5, ["claim a", "claim b"]],
  [
    "waits while storage is full",
    Object.assign(new Error("disk is full"), { code: "SQLITE_FULL" }),
    7,
    ["claim a", "fail a: no luck", "claim b"],
  ],
])("a job whose end cannot be stored %s", async (_, error, times, expected) => {
  await using b = openRunner();
  b.source.add("a");
  b.source.add("b");
  b.source.breakNext("fail", error, times);
  b.runner.start();
  (await b.work.nth(1)).break(new Error("no luck"));
  await b.work.nth(2);
  expect(b.source.did).toEqual(expected);
});

describe("with other places", () => {
  const worker = (id: string, slots: number): WorkerPlace => ({
    id,
    announcement: { ...ANNOUNCEMENT, bootId: id, slots },
    freeBytes: 1_000,
    isDraining: false,
    hasRedis: true,
    ending: 0,
    isAvoided: false,
  });

  /** A worker with these slots, and steps that no place can do. */
  function places({ impossible = [], slots = 0 }: { impossible?: string[]; slots?: number }) {
    const unrunnable = new Set<string>();
    const workers = slots === 0 ? [] : [worker("far", slots)];
    const others: OtherPlaces = {
      rank: () => 0,
      listWorkers: () => workers,
      readNeeds: async ({ stepId }) => ({ job: "render", languages: [], bytes: stepId.startsWith("large") ? 1e6 : 1 }),
      canRun: ({ stepId }) => {
        if (!impossible.includes(stepId)) return true;
        unrunnable.add(stepId);
        return false;
      },
      listUnrunnable: () => [...unrunnable],
    };
    return { others, unrunnable, workers };
  }

  test("a step that no place can do delays no other, and starts when a place can", async () => {
    const impossible = ["russian", "suspect"];
    const { others, unrunnable } = places({ impossible });
    await using b = openRunner({ otherPlaces: others, slots: 2 });
    b.source.add("russian");
    b.source.add("suspect", { runsAlone: true });
    b.source.add("english");
    b.runner.start();
    expect((await b.work.nth(1)).job.stepId).toBe("english");
    impossible.length = 0;
    unrunnable.clear();
    b.runner.wake();
    await b.work.nth(1);
    b.work.started[0]!.finish();
    expect((await b.work.nth(2)).job.stepId).toBe("suspect");
  });

  test("a job that runs alone elsewhere stops nothing here, and one that runs alone here stops nothing elsewhere", async () => {
    const { others, workers } = places({ slots: 1 });
    await using b = openRunner({ otherPlaces: others, slots: 1 });
    b.source.add("far suspect", { runsAlone: true });
    b.runner.start();
    const far = await b.work.nth(1);
    b.source.add("near");
    b.runner.wake();
    const near = await b.work.nth(2);
    expect([far.context.slot.placeId, near.context.slot.placeId]).toEqual(["far", "local"]);
    near.finish();
    workers[0] = { ...workers[0]!, isDraining: true };
    b.source.add("near suspect", { runsAlone: true });
    b.runner.wake();
    const suspect = await b.work.nth(3);
    expect([suspect.job.stepId, suspect.context.slot.placeId]).toEqual(["near suspect", "local"]);
    expect(b.work.started.map((running) => running.context.shouldYield())).toEqual([false, false, false]);
  });

  test("nothing is claimed before a place has room for it, and a job that waits for a busy place delays no other", async () => {
    const { others } = places({ slots: 2 });
    await using b = openRunner({ otherPlaces: others, slots: 1 });
    for (const name of ["a", "large b", "c", "d", "large e"]) b.source.add(name);
    b.runner.start();
    await b.work.nth(3);
    expect(b.source.did).toEqual(["claim a", "claim c", "claim d"]);
    expect(b.work.started.map(({ context }) => context.slot.placeId)).toEqual(["local", "far", "far"]);
    b.work.started[0]!.finish();
    expect((await b.work.nth(4)).job.stepId).toBe("large b");
    expect(b.source.did).toEqual(["claim a", "claim c", "claim d", "claim large b"]);
  });

  test("a step that waits for another place than the one where it failed delays no other", async () => {
    const { others } = places({ slots: 1 });
    others.rank = (_, stepId) => (stepId === "failed there" ? 2 : 0);
    await using b = openRunner({ otherPlaces: others, slots: 1 });
    for (const name of ["here", "failed there", "next"]) b.source.add(name);
    b.runner.start();
    await b.work.nth(2);
    expect(b.source.did).toEqual(["claim here", "claim next"]);
    b.work.started[0]!.finish();
    const third = await b.work.nth(3);
    expect([third.job.stepId, third.context.slot.placeId]).toEqual(["failed there", "local"]);
  });

  test("a running job gets slots for its parts at the places that it wants, until it closes its request", async () => {
    const { others } = places({ slots: 2 });
    await using b = openRunner({ otherPlaces: others, slots: 1 });
    b.source.add("split");
    b.runner.start();
    const { context, finish } = await b.work.nth(1);
    const slots: Slot[] = [];
    const both = Promise.withResolvers<void>();
    const request = context.places.request(
      (placeId) => placeId === "far",
      (slot) => {
        slots.push(slot);
        if (slots.length === 2) both.resolve();
      },
    );
    await both.promise;
    expect(context.places.list().map(({ id, free }) => [id, free])).toEqual([
      ["local", 0],
      ["far", 0],
    ]);
    request.close();
    for (const slot of slots) slot.release();
    b.source.add("other");
    b.runner.wake();
    expect((await b.work.nth(2)).context.slot.placeId).toBe("far");
    expect(slots).toHaveLength(2);
    finish();
  });
});
