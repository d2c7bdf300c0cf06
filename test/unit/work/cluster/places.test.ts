import { describe, expect, test } from "bun:test";
import { ExecutionLost, JobAborted } from "../../../../src/domain/jobs";
import {
  type EncodingFacts,
  type OnlineWorker,
  type PlaceNeeds,
  WORKER_PROTOCOL,
  type WorkerJob,
} from "../../../../src/domain/workers";
import { createPlaces, LOCAL, type PlaceHold, type PlaceRequest } from "../../../../src/work/cluster/places";

const FACTS: EncodingFacts = { ffmpeg: "6.1", libavutil: 58, encoder: "libx264", hasZscale: true };
const GIGABYTE = 1e9;

const worker = (id: string, change: Partial<OnlineWorker["announcement"]> = {}): OnlineWorker => ({
  id,
  freeBytes: 10 * GIGABYTE,
  isDraining: false,
  hasRedis: true,
  announcement: {
    protocol: WORKER_PROTOCOL,
    version: "0.1.0",
    bootId: "boot",
    jobs: ["prepare", "cut", "render"],
    slots: 1,
    encoding: FACTS,
    sandbox: { mode: "bwrap", reason: null },
    languages: ["en"],
    freeBytes: 10 * GIGABYTE,
    ...change,
  },
});

const needs = (job: WorkerJob, change: Partial<PlaceNeeds> = {}): PlaceNeeds => ({
  job,
  languages: [],
  bytes: GIGABYTE,
  encoding: null,
  ...change,
});

/** Places with these slots on this machine and these workers. */
function bench(local: Partial<Record<WorkerJob, number>>, workers: OnlineWorker[], extra = 0) {
  const state = {
    now: 0,
    isReachable: true,
    ending: new Map<string, number>(),
    avoided: new Set<string>(),
    ranks: new Map<string, number>(),
  };
  const places = createPlaces({
    listWorkers: () => workers,
    countEnding: (id) => state.ending.get(id) ?? 0,
    trouble: {
      isAvoided: (id) => state.avoided.has(id),
      rank: (id, stepId) => state.ranks.get(`${stepId} ${id}`) ?? 0,
    },
    isReachable: () => state.isReachable,
    localSlots: { prepare: 0, cut: 0, render: 0, ...local },
    extraSlots: { prepare: extra, cut: extra, render: 0 },
    findLocalEncoding: () => FACTS,
    timeSliceMs: 15,
    clock: () => state.now,
  });
  const granted: string[] = [];
  const holds: PlaceHold[] = [];
  /** Asks for a slot. `step` is noted with its place when it gets one. */
  const ask = (step: string, workspaceId: string, what: PlaceNeeds, change: Partial<PlaceRequest> = {}) => {
    const abort = new AbortController();
    const error = places
      .acquire({ stepId: step, workspaceId, needs: what, runsAlone: false, signal: abort.signal, ...change })
      .then(
        (hold) => {
          granted.push(`${step} ${hold.placeId}`);
          holds.push(hold);
          return null;
        },
        (reason) => reason,
      );
    return { abort, error };
  };
  /** Lets what was granted arrive. */
  const settle = () => Bun.sleep(0);
  return { places, state, workers, granted, holds, ask, settle };
}

describe("choosing a place", () => {
  test("this machine first, then the worker with the largest free share, then nothing", async () => {
    const b = bench({ render: 1 }, [worker("small"), worker("large", { slots: 4 })]);
    for (let n = 0; n < 7; n++) b.ask(`r${n}`, "anna", needs("render"));
    await b.settle();
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
    await b.settle();
    expect(b.granted.at(-1)).toStartWith("r6 ");
  });

  const cannot: [string, OnlineWorker, PlaceNeeds][] = [
    ["another job", worker("w", { jobs: ["prepare"] }), needs("render")],
    ["another language", worker("w"), needs("cut", { languages: ["de"] })],
    ["a disk that is too full", { ...worker("w"), freeBytes: 1 }, needs("render")],
    ["another encoder", worker("w"), needs("render", { encoding: { ...FACTS, encoder: "h264_nvenc" } })],
    ["another ffmpeg", worker("w"), needs("render", { encoding: { ...FACTS, ffmpeg: "7" } })],
    ["a worker that drains", { ...worker("w"), isDraining: true }, needs("render")],
    ["a worker that does not reach Redis", { ...worker("w"), hasRedis: false }, needs("render")],
    ["a language that may be any of two", worker("w"), needs("prepare", { languages: ["en", "de"] })],
  ];
  test.each(cannot)("a worker is not chosen for %s", async (_, one, what) => {
    const b = bench({}, [one]);
    const asked = b.ask("step", "anna", what);
    await b.settle();
    expect([b.granted, b.places.isForWorkers(what), b.places.list(what)]).toEqual([[], false, []]);
    asked.abort.abort(new JobAborted("cancelled"));
    expect(await asked.error).toMatchObject({ reason: "cancelled" });
  });

  test("workers are not used while Redis is away, nor those that are avoided, nor slots that are still in use there", async () => {
    const b = bench({}, [worker("w")]);
    b.state.isReachable = false;
    b.ask("a", "anna", needs("cut"));
    expect(b.places.countSlots("cut")).toBe(0);
    b.state.isReachable = true;
    b.state.avoided.add("w");
    b.places.wake();
    b.state.avoided.clear();
    b.state.ending.set("w", 1);
    b.places.wake();
    await b.settle();
    expect(b.granted).toEqual([]);
    b.state.ending.clear();
    b.places.wake();
    await b.settle();
    expect(b.granted).toEqual(["a w"]);
    expect([b.places.countSlots("cut"), b.places.isElsewhere("a"), b.places.isElsewhere("b")]).toEqual([
      1,
      true,
      false,
    ]);
  });

  test("a step is not given to a worker that has failed with it while another can do it, and a failing worker is chosen last", async () => {
    const bad = worker("bad", { slots: 4 });
    const b = bench({}, [bad, worker("good")]);
    b.state.ranks.set("a bad", 2);
    b.state.ranks.set("b bad", 1);
    b.ask("b", "anna", needs("cut"));
    b.ask("a", "anna", needs("cut"));
    await b.settle();
    expect(b.granted).toEqual(["b good"]);
    b.holds[0]!.release();
    await b.settle();
    expect(b.granted.at(-1)).toBe("a good");
    // The good one is away: better the bad one than none.
    b.workers.splice(1);
    b.state.ranks.set("c bad", 2);
    b.ask("c", "anna", needs("cut"));
    await b.settle();
    expect(b.granted.at(-1)).toBe("c bad");
  });

  test("an extra slot of this machine is for a workspace that runs nothing here, when no worker is free", async () => {
    const b = bench({ cut: 1 }, [worker("w")], 2);
    for (const [step, workspace] of [
      ["a1", "anna"],
      ["a2", "anna"],
      ["a3", "anna"],
      ["b1", "bert"],
    ] as const)
      b.ask(step, workspace, needs("cut"));
    await b.settle();
    expect(b.granted).toEqual([`a1 ${LOCAL}`, "a2 w", `b1 ${LOCAL}`]);
  });

  test("only an accepted place is chosen", async () => {
    const b = bench({ render: 1 }, [worker("w")]);
    b.ask("a", "anna", needs("render"), { accepts: (id) => id === "w" });
    await b.settle();
    expect(b.granted).toEqual(["a w"]);
    expect(b.places.list(needs("render")).map(({ id, free }) => `${id} ${free}`)).toEqual([`${LOCAL} 1`, "w 0"]);
  });
});

describe("sharing between workspaces", () => {
  test("the workspace with the fewest slots is next, regardless of who asked first", async () => {
    const b = bench({}, [worker("w", { slots: 2 })]);
    for (const step of ["a1", "a2", "a3", "a4"]) b.ask(step, "anna", needs("render"));
    b.ask("b1", "bert", needs("cut"));
    await b.settle();
    b.holds[0]!.release();
    await b.settle();
    expect(b.granted).toEqual(["a1 w", "a2 w", "b1 w"]);
  });

  test("the longest-running execution of a workspace with more slots yields after its time slice, also to another job", async () => {
    const b = bench({}, [worker("w", { slots: 2 })]);
    b.ask("a1", "anna", needs("render"));
    b.state.now = 5;
    b.ask("a2", "anna", needs("render"));
    b.ask("b1", "bert", needs("cut"));
    await b.settle();
    const yielding = () => b.holds.map((hold) => hold.shouldYield());
    expect(yielding()).toEqual([false, false]);
    b.state.now = 15;
    b.places.wake();
    expect(yielding()).toEqual([true, false]);
    b.holds[1]!.release();
    await b.settle();
    expect(b.granted.at(-1)).toBe("b1 w");
    expect(yielding()[0]).toBe(false);
  });

  test("nobody yields to a workspace that holds as many", async () => {
    const b = bench({}, [worker("w")]);
    b.ask("a1", "anna", needs("render"));
    b.ask("a2", "anna", needs("render"));
    b.state.now = 1_000;
    b.places.wake();
    await b.settle();
    expect(b.holds[0]!.shouldYield()).toBe(false);
  });
});

describe("a step that runs alone", () => {
  test("gets a worker to itself, which is emptied for it", async () => {
    const b = bench({ render: 1 }, [worker("w", { slots: 2 })]);
    for (const step of ["a1", "a2"]) b.ask(step, "anna", needs("render"));
    b.ask("suspect", "sam", needs("render"), { runsAlone: true });
    b.ask("b1", "bert", needs("cut"));
    await b.settle();
    expect(b.granted).toEqual([`a1 ${LOCAL}`, "a2 w"]);
    expect(b.holds.map((hold) => hold.shouldYield())).toEqual([false, true]);
    b.holds[1]!.release();
    await b.settle();
    expect(b.granted.at(-1)).toBe("suspect w");
    b.holds[2]!.release();
    await b.settle();
    expect(b.granted.at(-1)).toBe("b1 w");
  });

  test("runs here without a worker that can do it, and nothing starts here meanwhile", async () => {
    const b = bench({ render: 2 }, []);
    b.ask("suspect", "sam", needs("render"), { runsAlone: true });
    b.ask("a1", "anna", needs("render"));
    await b.settle();
    expect(b.granted).toEqual([`suspect ${LOCAL}`]);
    b.holds[0]!.release();
    await b.settle();
    expect(b.granted.at(-1)).toBe(`a1 ${LOCAL}`);
  });

  test("is given back when its worker disappears and this machine is in use", async () => {
    const b = bench({ render: 1 }, [worker("w")]);
    b.ask("a1", "anna", needs("render"));
    b.ask("a2", "anna", needs("render"));
    const suspect = b.ask("suspect", "sam", needs("render"), { runsAlone: true });
    await b.settle();
    b.workers.length = 0;
    b.places.wake();
    expect(await suspect.error).toBeInstanceOf(ExecutionLost);
  });
});

test("a request that is aborted leaves the queue", async () => {
  const b = bench({}, [worker("w")]);
  b.ask("a1", "anna", needs("render"));
  const second = b.ask("a2", "anna", needs("render"));
  const third = b.ask("a3", "anna", needs("render"));
  const before = b.ask("a4", "anna", needs("render"), { signal: AbortSignal.abort(new JobAborted("shutdown")) });
  expect(await before.error).toMatchObject({ reason: "shutdown" });
  second.abort.abort(new JobAborted("cancelled"));
  await second.error;
  b.holds[0]!.release();
  expect(await third.error).toBeNull();
  expect(b.granted).toEqual(["a1 w", "a3 w"]);
});

test("a request that no place can meet any longer is given back after a while, and others continue", async () => {
  const b = bench({}, [worker("w")]);
  b.ask("a1", "anna", needs("render"));
  const large = b.ask("a2", "anna", needs("render"));
  const small = b.ask("a3", "anna", needs("cut", { bytes: 1 }));
  await b.settle();
  b.workers[0]!.freeBytes = 1_000;
  b.places.wake();
  b.state.now = 19_000;
  b.workers[0]!.freeBytes = 10 * GIGABYTE;
  b.places.wake();
  b.workers[0]!.freeBytes = 1_000;
  b.places.wake();
  // It waits again from the start.
  b.state.now = 38_000;
  b.places.wake();
  await b.settle();
  expect(b.granted).toEqual(["a1 w"]);
  b.state.now = 39_000;
  b.places.wake();
  expect(await large.error).toBeInstanceOf(ExecutionLost);
  b.holds[0]!.release();
  expect(await small.error).toBeNull();
  expect(b.granted.at(-1)).toBe("a3 w");
});
