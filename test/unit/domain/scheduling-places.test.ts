/** The choice of a place for each job: this machine, or a worker. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LOCAL, type OnlineWorker, type PlaceNeeds, type WorkerLack } from "../../../src/domain/places";
import type { WorkerJob } from "../../../src/domain/workers";
import { createBench as bench, GIGABYTE, needs, worker } from "./scheduling-bench";

describe("choosing a place", () => {
  test("this machine first, then the worker with the largest free share, then nothing", () => {
    const b = bench({ render: 1 }, [worker("small"), worker("large", { slots: 4 })]);
    for (let n = 0; n < 7; n++) b.ask(`r${n}`, "anna", needs("render"));
    b.settle();
    expect(b.granted.map((one) => one.split(" ")[1]!).toSorted()).toEqual([
      "large",
      "large",
      "large",
      "large",
      LOCAL,
      "small",
    ]);
    expect(b.granted[0]).toBe(`r0 ${LOCAL}`);
    b.holds[1]!.release();
    b.holds[1]!.release();
    b.settle();
    expect(b.granted.at(-1)).toStartWith("r6 ");
  });

  const cannot: [string, OnlineWorker, PlaceNeeds, WorkerLack][] = [
    ["another job", worker("w", { jobs: ["prepare"] }), needs("render"), "other_jobs"],
    ["another language", worker("w"), needs("cut", { languages: ["de"] }), "model"],
    ["a disk that is too full", { ...worker("w"), freeBytes: 1 }, needs("render"), "space"],
    ["a worker that drains", { ...worker("w"), isDraining: true }, needs("render"), "draining"],
    ["a worker that does not reach Redis", { ...worker("w"), hasRedis: false }, needs("render"), "no_redis"],
    ["a language that may be any of two", worker("w"), needs("prepare", { languages: ["en", "de"] }), "model"],
  ];
  test.each(cannot)("a worker is not chosen for %s", (_, one, what, lack) => {
    const b = bench({}, [one]);
    b.ask("step", "anna", what);
    expect([b.granted, b.find(what), b.list(what)]).toEqual([[], null, []]);
    expect(b.listPassedOver(what)).toEqual({ w: lack });
  });

  test("the reason for which a worker is passed over", () => {
    const b = bench(
      {},
      ["free", "full", "avoided", "failed", "unwanted"].map((id) => worker(id)),
    );
    b.ask("r1", "anna", needs("render"), { wants: (id) => id === "full" });
    b.state.avoided.add("avoided");
    b.state.ranks.set("step failed", 2);
    b.state.ranks.set("step free", 1);
    expect(b.listPassedOver(needs("render"), { wants: (id) => id !== "unwanted" })).toEqual({
      full: "full",
      avoided: "avoided",
      failed: "failed_step",
      unwanted: "unwanted",
    });
    expect(b.listPassedOver(needs("render"), { needs: null })).toEqual({});
  });

  test("workers that are avoided are not used, nor slots that are still in use there", () => {
    const b = bench({}, [worker("w")]);
    b.state.avoided.add("w");
    b.ask("a", "anna", needs("cut"));
    b.state.avoided.clear();
    b.state.ending.set("w", 1);
    b.settle();
    expect(b.granted).toEqual([]);
    b.state.ending.clear();
    b.settle();
    expect(b.granted).toEqual(["a w"]);
  });

  test("a step is not given to a worker that has failed with it while another can do it, and a failing worker is chosen last", () => {
    const bad = worker("bad", { slots: 4 });
    const b = bench({}, [bad, worker("good")]);
    b.state.ranks.set("a bad", 2);
    b.state.ranks.set("b bad", 1);
    b.ask("b", "anna", needs("cut"));
    b.ask("a", "anna", needs("cut"));
    b.settle();
    expect(b.granted).toEqual(["b good"]);
    b.holds[0]!.release();
    b.settle();
    expect(b.granted.at(-1)).toBe("a good");
    // The good one is away: better the bad one than none.
    b.workers.splice(1);
    b.state.ranks.set("c bad", 2);
    b.ask("c", "anna", needs("cut"));
    b.settle();
    expect(b.granted.at(-1)).toBe("c bad");
  });

  test("an extra slot of this machine is for a workspace that runs nothing here, when no worker is free", () => {
    const b = bench({ cut: 1 }, [worker("w")], 2);
    for (const [step, workspace] of [
      ["a1", "anna"],
      ["a2", "anna"],
      ["a3", "anna"],
      ["b1", "bert"],
    ] as const)
      b.ask(step, workspace, needs("cut"));
    b.settle();
    expect(b.granted).toEqual([`a1 ${LOCAL}`, "a2 w", `b1 ${LOCAL}`]);
  });

  test("only an accepted place is chosen", () => {
    const b = bench({ render: 1 }, [worker("w")]);
    b.ask("a", "anna", needs("render"), { wants: (id) => id === "w" });
    b.settle();
    expect(b.granted).toEqual(["a w"]);
    expect(b.list(needs("render")).map(({ id, free }) => `${id} ${free}`)).toEqual([`${LOCAL} 1`, "w 0"]);
  });
});

describe("sharing between workspaces", () => {
  test("the workspace with the fewest slots is next, whichever asked first", () => {
    const b = bench({}, [worker("w", { slots: 2 })]);
    for (const step of ["a1", "a2", "a3", "a4"]) b.ask(step, "anna", needs("render"));
    b.ask("b1", "bert", needs("cut"));
    b.settle();
    b.holds[0]!.release();
    b.settle();
    expect(b.granted).toEqual(["a1 w", "a2 w", "b1 w"]);
  });

  test("the longest-running execution of a workspace with more slots yields after its time slice, also to another job", () => {
    const b = bench({}, [worker("w", { slots: 2 })]);
    b.ask("a1", "anna", needs("render"));
    b.state.now = 5;
    b.ask("a2", "anna", needs("render"));
    b.ask("b1", "bert", needs("cut"));
    b.settle();
    const yielding = () => b.holds.map((hold) => hold.shouldYield());
    expect(yielding()).toEqual([false, false]);
    b.state.now = 15;
    b.settle();
    expect(yielding()).toEqual([true, false]);
    b.holds[1]!.release();
    b.settle();
    expect(b.granted.at(-1)).toBe("b1 w");
    expect(yielding()[0]).toBe(false);
  });

  test("no job yields to a workspace that holds as many slots", () => {
    const b = bench({}, [worker("w")]);
    b.ask("a1", "anna", needs("render"));
    b.ask("a2", "anna", needs("render"));
    b.state.now = 1_000;
    b.settle();
    b.settle();
    expect(b.holds[0]!.shouldYield()).toBe(false);
  });
});

describe("a step that runs alone", () => {
  test("gets a worker to itself, which is emptied for it", () => {
    const b = bench({ render: 1 }, [worker("w", { slots: 2 })]);
    for (const step of ["a1", "a2"]) b.ask(step, "anna", needs("render"));
    b.ask("suspect", "sam", needs("render"), { runsAlone: true });
    b.ask("b1", "bert", needs("cut"));
    b.settle();
    expect(b.granted).toEqual([`a1 ${LOCAL}`, "a2 w"]);
    expect(b.holds.map((hold) => hold.shouldYield())).toEqual([false, true]);
    b.holds[1]!.release();
    b.settle();
    expect(b.granted.at(-1)).toBe("suspect w");
    b.holds[2]!.release();
    b.settle();
    expect(b.granted.at(-1)).toBe("b1 w");
  });

  test("runs here without a worker that can do it, and nothing starts here in the meantime", () => {
    const b = bench({ render: 2 }, []);
    b.ask("suspect", "sam", needs("render"), { runsAlone: true });
    b.ask("a1", "anna", needs("render"));
    b.settle();
    expect(b.granted).toEqual([`suspect ${LOCAL}`]);
    b.holds[0]!.release();
    b.settle();
    expect(b.granted.at(-1)).toBe(`a1 ${LOCAL}`);
  });
});

test("jobs that only this machine can run start here without slots", () => {
  const b = bench({}, [worker("w")]);
  b.ask("deleted", "anna", needs("render"), { needs: null });
  expect(b.granted).toEqual([`deleted ${LOCAL}`]);
});

test("parts of a job are not asked to yield; their slots go to workspaces with fewer when they end", () => {
  const b = bench({}, [worker("w", { slots: 2 })]);
  for (const part of [1, 2, 3]) b.ask(`part ${part}`, "anna", needs("render"), { wants: () => true });
  b.ask("b1", "bert", needs("cut"));
  b.state.now = 1_000;
  b.settle();
  expect(b.holds.map((hold) => hold.shouldYield())).toEqual([false, false]);
  b.holds[0]!.release();
  expect(b.granted).toEqual(["part 1 w", "part 2 w", "b1 w"]);
});

test("a workspace that waits with many jobs is given its share of the slots, and not more", () => {
  const b = bench({}, [worker("w", { slots: 4 })]);
  for (const step of ["a1", "a2", "a3", "a4"]) b.ask(step, "anna", needs("render"));
  for (const part of ["b1", "b2", "b3", "b4"]) b.ask(part, "bert", needs("render"), { wants: () => true });
  b.state.now = 1_000;
  b.settle();
  expect(b.holds.filter((hold) => hold.shouldYield())).toHaveLength(2);
});

describe("properties", () => {
  const requests = fc.array(
    fc.record({
      workspaceId: fc.constantFrom("anna", "bert", "carl"),
      job: fc.constantFrom<WorkerJob>("prepare", "cut", "render"),
      isLarge: fc.boolean(),
      runsAlone: fc.boolean(),
      /** Index of the held slot that is released before the request. */
      releases: fc.nat({ max: 4 }),
    }),
    { minLength: 1, maxLength: 40 },
  );

  test("no place has more than its slots, a step is where it can run, and one that runs alone has its place to itself", () => {
    fc.assert(
      fc.property(
        requests,
        fc.nat({ max: 2 }),
        fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
        (asked, local, slots) => {
          const workers = slots.map((count, n) => ({
            ...worker(`w${n}`, { slots: count + 1 }),
            freeBytes: n === 0 ? GIGABYTE : 10 * GIGABYTE,
          }));
          const b = bench({ prepare: local, cut: local, render: local }, workers);
          for (const [n, { workspaceId, job, isLarge, runsAlone, releases }] of asked.entries()) {
            b.holds.splice(releases, 1)[0]?.release();
            b.ask(`${isLarge ? "large" : "small"} ${n}`, workspaceId, needs(job, { bytes: isLarge ? 2e9 : 1 }), {
              runsAlone,
            });
            for (const { id, announcement } of workers) {
              const there = b.held.filter(({ placeId }) => placeId === id);
              expect(there.length).toBeLessThanOrEqual(announcement.slots);
              if (there.some((slot) => slot.runsAlone)) expect(there).toHaveLength(1);
            }
            const here = b.held.filter(({ placeId }) => placeId === LOCAL);
            if (here.some((slot) => slot.runsAlone)) expect(here).toHaveLength(1);
            for (const job of ["prepare", "cut", "render"])
              expect(here.filter(({ name }) => name === job).length).toBeLessThanOrEqual(local);
            expect(b.held.some(({ placeId, stepId }) => placeId === "w0" && stepId.startsWith("large"))).toBe(false);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test("nothing waits while a place has room for it", () => {
    fc.assert(
      fc.property(requests, fc.nat({ max: 3 }), (asked, slots) => {
        const b = bench({ render: 1 }, [worker("w", { slots: slots + 1 })]);
        for (const [n, { workspaceId, job, releases }] of asked.entries()) {
          b.holds.splice(releases, 1)[0]?.release();
          b.ask(`step ${n}`, workspaceId, needs(job));
          const isWaiting = b.granted.length < n + 1;
          if (isWaiting) expect(b.held.filter(({ placeId }) => placeId === "w")).toHaveLength(slots + 1);
        }
      }),
      { numRuns: 200 },
    );
  });
});
