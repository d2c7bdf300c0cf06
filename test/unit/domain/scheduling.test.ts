import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JobName } from "../../../src/domain/jobs";
import { LOCAL } from "../../../src/domain/places";
import {
  decideNext,
  type HeldSlot,
  type SchedulingLimits,
  type SchedulingState,
  type SlotRequest,
} from "../../../src/domain/scheduling";

const LIMITS: SchedulingLimits = {
  slots: { prepare: 2, cut: 2, render: 1, preview: 1 },
  extraSlots: { prepare: 2, cut: 2, render: 0, preview: 0 },
  timeSliceMs: 15,
  maxAloneMs: 100,
  maxDrainMs: 20,
};

/** `anna 5` is a preparation of Anna that has been running since 5. */
const running = (...lines: string[]): HeldSlot[] =>
  lines.map((line, n) => {
    const [workspaceId, since, alone] = line.split(" ");
    return {
      stepId: `${line}#${n}`,
      name: "prepare",
      workspaceId: workspaceId!,
      since: Number(since),
      runsAlone: alone !== undefined,
      placeId: LOCAL,
      isPart: false,
    };
  });
const due = (workspaceId: string, name: JobName = "prepare"): SlotRequest => ({
  stepId: `due ${workspaceId}`,
  name,
  workspaceId,
  runsAlone: false,
  needs: null,
});
const suspect: SlotRequest = { ...due("sam"), stepId: "suspect", runsAlone: true };
const at = (now: number, state: Partial<SchedulingState>): SchedulingState => ({
  now,
  held: [],
  waiting: [],
  due: [],
  dueAlone: null,
  lastAlone: null,
  draining: null,
  workers: [],
  rank: () => 0,
  ...state,
});
const startOf = (state: SchedulingState) => decideNext(state, LIMITS).start?.request ?? null;
const yielding = (state: SchedulingState) => [...decideNext(state, LIMITS).yielding];

describe("sharing between users", () => {
  test.each<[string, HeldSlot[], SlotRequest, boolean]>([
    ["a free slot is taken", running("anna 0"), due("anna"), true],
    ["one user's jobs never take more than the slots", running("anna 0", "anna 0"), due("anna"), false],
    ["who has nothing running starts beyond the slots", running("anna 0", "anna 0"), due("bert"), true],
    ["who has something running does not", running("anna 0", "anna 0", "bert 0"), due("bert"), false],
    ["the extra slots are limited", running("anna 0", "anna 0", "bert 0", "carl 0"), due("dora"), false],
    ["renders have no extra slots", [{ ...running("anna 0")[0]!, name: "render" }], due("bert", "render"), false],
    ["jobs of another name take no slot", running("anna 0", "anna 0", "bert 0"), due("bert", "cut"), true],
  ])("%s", (_, state, next, starts) => {
    expect(startOf(at(0, { held: state, due: [next] }))).toBe(starts ? next : null);
  });

  test("when all slots are full, the longest-running job of a user with more running jobs yields after its time slice", () => {
    const full = running("bert 0", "anna 2", "anna 1", "carl 0");
    const waiting = { held: full, due: [due("bert")] };
    expect(decideNext(at(10, waiting), LIMITS)).toMatchObject({ yielding: new Set(), changesInMs: 6 });
    expect(yielding(at(16, waiting))).toEqual([full[2]!.stepId]);
    expect(yielding(at(16, { held: full, due: [due("anna")] }))).toEqual([]);
    expect(yielding(at(16, { held: full, due: [due("dora")] }))).toEqual([full[0]!.stepId]);
  });
});

describe("a job that runs alone", () => {
  test("waits until all others have yielded; no job starts in the meantime, and one that does not yield is interrupted", () => {
    const others = { held: running("anna 0", "bert 5"), due: [due("carl")], dueAlone: suspect };
    const ids = new Set(others.held.map((job) => job.stepId));
    expect(decideNext(at(10, others), LIMITS)).toMatchObject({
      start: null,
      yielding: ids,
      draining: { placeId: LOCAL, since: 10 },
      changesInMs: 20,
    });
    const drained = { ...others, draining: { placeId: LOCAL, since: 10 } };
    expect(decideNext(at(29, drained), LIMITS)).toMatchObject({ start: null, interrupted: new Set(), changesInMs: 1 });
    expect(decideNext(at(30, drained), LIMITS)).toMatchObject({ start: null, interrupted: ids });
    expect(startOf(at(31, { ...drained, held: [] }))).toBe(suspect);
  });

  test("runs alone for a limited time; after that other jobs start, and it is an ordinary job", () => {
    const state = { held: running("sam 0 alone"), due: [due("anna")] };
    expect(decideNext(at(99, state), LIMITS)).toMatchObject({ start: null, yielding: new Set(), changesInMs: 1 });
    expect(startOf(at(100, state))).toEqual(due("anna"));
  });

  test("is followed by others for as long as it ran, before the next job runs alone, unless none is waiting", () => {
    const state = { dueAlone: suspect, lastAlone: { endedAt: 50, forMs: 30 } };
    expect(startOf(at(60, { ...state, due: [due("anna")] }))).toEqual(due("anna"));
    expect(decideNext(at(60, { ...state, held: running("anna 55") }), LIMITS)).toMatchObject({
      start: null,
      draining: null,
      changesInMs: 20,
    });
    expect(decideNext(at(80, { ...state, held: running("anna 55") }), LIMITS).draining).not.toBeNull();
    expect(startOf(at(60, state))).toBe(suspect);
  });

  test("is, when it is a preview, interrupted for others, and does not start before they have ended", () => {
    const preview: SlotRequest = { ...suspect, name: "preview" };
    const isRunning: HeldSlot[] = [{ ...running("sam 0 alone")[0]!, name: "preview" }];
    const interrupted = new Set([isRunning[0]!.stepId]);
    expect(decideNext(at(10, { held: isRunning }), LIMITS)).toMatchObject({
      interrupted: new Set(),
      changesInMs: 90,
    });
    const [other, another] = [due("anna"), due("bert", "preview")];
    expect(decideNext(at(10, { held: isRunning, due: [other] }), LIMITS)).toMatchObject({
      start: null,
      interrupted,
    });
    expect(decideNext(at(10, { held: isRunning, dueAlone: suspect }), LIMITS)).toMatchObject({ interrupted });
    expect(decideNext(at(10, { held: isRunning, due: [another] }), LIMITS).interrupted).toEqual(new Set());
    expect(startOf(at(20, { due: [other], dueAlone: preview }))).toBe(other);
    expect(decideNext(at(20, { held: running("anna 5"), dueAlone: preview }), LIMITS)).toMatchObject({
      start: null,
      draining: null,
    });
    expect(startOf(at(20, { dueAlone: preview }))).toBe(preview);
  });

  test("does not interrupt one that has used its time alone", () => {
    const state = { held: running("sam 0 alone", "anna 150"), dueAlone: suspect, due: [due("bert")] };
    expect(decideNext(at(200, state), LIMITS)).toMatchObject({
      start: { request: due("bert"), placeId: LOCAL },
      interrupted: new Set(),
      draining: null,
    });
  });
});

/** A job of the model: `lengthMs` of work. `yields`: it ends its run when asked, and resumes later. */
type ModelJob = {
  stepId: string;
  workspaceId: string;
  name: JobName;
  lengthMs: number;
  arrivesAt: number;
  yields: boolean;
  runsAlone: boolean;
};

/** Runs the jobs through `decideNext` on a clock of milliseconds. Returns when each started first and when it ended. */
function simulate(jobs: ModelJob[]) {
  const leftMs = new Map(jobs.map((job) => [job.stepId, job.lengthMs]));
  const servedAt = new Map<string, number>();
  const [started, ended] = [new Map<string, number>(), new Map<string, number>()];
  let now = 0;
  let active: HeldSlot[] = [];
  let lastAlone: SchedulingState["lastAlone"] = null;
  let draining: SchedulingState["draining"] = null;
  const jobOf = (stepId: string) => jobs.find((job) => job.stepId === stepId)!;
  const toDue = ({ stepId, name, workspaceId, runsAlone }: ModelJob): SlotRequest => ({
    stepId,
    name,
    workspaceId,
    runsAlone,
    needs: null,
  });
  const countOf = ({ workspaceId, name }: SlotRequest) =>
    active.filter((mate) => mate.workspaceId === workspaceId && mate.name === name).length;
  const end = (mate: HeldSlot) => {
    active = active.filter((other) => other !== mate);
    servedAt.set(mate.workspaceId, now);
    if (!mate.runsAlone) return;
    const forMs = Math.min(LIMITS.maxAloneMs, now - mate.since);
    lastAlone = { endedAt: mate.since + forMs, forMs };
  };
  for (; ended.size < jobs.length && now < 20_000; now++) {
    for (const mate of active) {
      leftMs.set(mate.stepId, leftMs.get(mate.stepId)! - 1);
      if (leftMs.get(mate.stepId)! > 0) continue;
      ended.set(mate.stepId, now);
      end(mate);
    }
    for (;;) {
      const waiting = jobs
        .filter((job) => job.arrivesAt <= now && !ended.has(job.stepId))
        .filter((job) => !active.some((mate) => mate.stepId === job.stepId));
      const next = (name: JobName) =>
        waiting
          .filter((job) => job.name === name && !job.runsAlone)
          .map(toDue)
          .sort(
            (a, b) =>
              countOf(a) - countOf(b) || (servedAt.get(a.workspaceId) ?? -1) - (servedAt.get(b.workspaceId) ?? -1),
          )
          .slice(0, 1);
      const dueAlone = waiting.filter((job) => job.runsAlone).map(toDue)[0] ?? null;
      const due = [...next("prepare"), ...next("render")];
      const decision = decideNext(at(now, { held: active, due, dueAlone, lastAlone, draining }), LIMITS);
      draining = decision.draining;
      for (const mate of active)
        if (decision.interrupted.has(mate.stepId) || (decision.yielding.has(mate.stepId) && jobOf(mate.stepId).yields))
          end(mate);
      if (decision.start === null) {
        if (decision.interrupted.size > 0) continue;
        break;
      }
      const { stepId, name, workspaceId, runsAlone } = decision.start.request;
      active = [...active, { stepId, name, workspaceId, runsAlone, placeId: LOCAL, isPart: false, since: now }];
      servedAt.set(workspaceId, now);
      if (!started.has(stepId)) started.set(stepId, now);
      check();
    }
  }
  function check() {
    for (const name of ["prepare", "render"] as const) {
      const mates = active.filter((mate) => mate.name === name);
      expect(mates.length).toBeLessThanOrEqual(LIMITS.slots[name] + LIMITS.extraSlots[name]);
      for (const { workspaceId } of mates)
        expect(mates.filter((mate) => mate.workspaceId === workspaceId).length).toBeLessThanOrEqual(LIMITS.slots[name]);
    }
    const young = active.filter((mate) => mate.runsAlone && now - mate.since < LIMITS.maxAloneMs);
    if (young.length > 0) expect(active).toHaveLength(1);
  }
  return { started, ended };
}

const model = (suspects: fc.Arbitrary<boolean>) =>
  fc
    .array(
      fc.record({
        workspaceId: fc.constantFrom("anna", "bert", "carl", "dora"),
        name: fc.constantFrom<JobName>("prepare", "render"),
        lengthMs: fc.integer({ min: 1, max: 200 }),
        arrivesAt: fc.integer({ min: 0, max: 300 }),
        yields: fc.boolean(),
        runsAlone: suspects,
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((jobs) => jobs.map((job, n): ModelJob => ({ ...job, stepId: `job ${n}` })));

describe("properties", () => {
  test("every job ends, no user exceeds the slots, and a job that runs alone does run alone", () => {
    fc.assert(
      fc.property(model(fc.boolean()), (jobs) => {
        expect(simulate(jobs).ended.size).toBe(jobs.length);
      }),
      { numRuns: 150 },
    );
  });

  test("the first preparation of a user starts at once, whatever number another user has", () => {
    const mine = fc.record({ arrivesAt: fc.integer({ min: 0, max: 300 }), lengthMs: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(model(fc.constant(false)), mine, (jobs, visitor) => {
        const others = jobs.map((job) => ({ ...job, workspaceId: "anna" }));
        const { started } = simulate([
          ...others,
          { ...visitor, stepId: "visitor", workspaceId: "bert", name: "prepare", yields: false, runsAlone: false },
        ]);
        expect(started.get("visitor")).toBe(visitor.arrivesAt);
      }),
      { numRuns: 100 },
    );
  });
});
