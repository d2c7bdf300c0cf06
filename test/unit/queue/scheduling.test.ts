import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DueJob, JobName } from "../../../src/domain/jobs";
import {
  decideNext,
  type RunningJob,
  type SchedulingLimits,
  type SchedulingState,
} from "../../../src/queue/scheduling";

const LIMITS: SchedulingLimits = {
  slots: { prepare: 2, cut: 2, render: 1, preview: 1 },
  extraSlots: { prepare: 2, cut: 2, render: 0, preview: 0 },
  timeSliceMs: 15,
  maxAloneMs: 100,
  maxDrainMs: 20,
};

/** `anna 5` is a preparation of Anna that has been running since 5. */
const running = (...lines: string[]): RunningJob[] =>
  lines.map((line, n) => {
    const [workspaceId, since, alone] = line.split(" ");
    return {
      stepId: `${line}#${n}`,
      name: "prepare",
      workspaceId: workspaceId!,
      since: Number(since),
      runsAlone: alone !== undefined,
      isElsewhere: false,
    };
  });
const due = (workspaceId: string, count = 0, name: JobName = "prepare"): DueJob => ({
  stepId: `due ${workspaceId}`,
  name,
  workspaceId,
  running: count,
  runsAlone: false,
});
const suspect: DueJob = { ...due("sam"), stepId: "suspect", runsAlone: true };
const at = (now: number, state: Partial<SchedulingState>): SchedulingState => ({
  now,
  running: [],
  due: [],
  dueAlone: null,
  lastAlone: null,
  drainingSince: null,
  ...state,
});
const yielding = (state: SchedulingState) => [...decideNext(state, LIMITS).yielding];

describe("sharing between users", () => {
  test.each<[string, RunningJob[], DueJob, boolean]>([
    ["a free slot is taken", running("anna 0"), due("anna", 1), true],
    ["one user's jobs never take more than the slots", running("anna 0", "anna 0"), due("anna", 2), false],
    ["who has nothing running starts beyond the slots", running("anna 0", "anna 0"), due("bert"), true],
    ["who has something running does not", running("anna 0", "anna 0", "bert 0"), due("bert", 1), false],
    ["the extra slots are limited", running("anna 0", "anna 0", "bert 0", "carl 0"), due("dora"), false],
    ["renders have no extra slots", [{ ...running("anna 0")[0]!, name: "render" }], due("bert", 0, "render"), false],
    ["jobs of another name take no slot", running("anna 0", "anna 0", "bert 0"), due("bert", 0, "cut"), true],
  ])("%s", (_, state, next, starts) => {
    expect(decideNext(at(0, { running: state, due: [next] }), LIMITS).start).toBe(starts ? next : null);
  });

  test("when all slots are full, the longest-running job of a user with more running jobs yields after its time slice", () => {
    const full = running("bert 0", "anna 2", "anna 1", "carl 0");
    const waiting = { running: full, due: [due("bert", 1)] };
    expect(decideNext(at(10, waiting), LIMITS)).toMatchObject({ yielding: new Set(), changesInMs: 6 });
    expect(yielding(at(16, waiting))).toEqual([full[2]!.stepId]);
    expect(yielding(at(16, { running: full, due: [due("anna", 2)] }))).toEqual([]);
    expect(yielding(at(16, { running: full, due: [due("dora")] }))).toEqual([full[0]!.stepId]);
  });
});

describe("a job that runs alone", () => {
  test("waits until all others have yielded; no job starts meanwhile, and one that does not yield is interrupted", () => {
    const others = { running: running("anna 0", "bert 5"), due: [due("carl")], dueAlone: suspect };
    const ids = new Set(others.running.map((job) => job.stepId));
    expect(decideNext(at(10, others), LIMITS)).toMatchObject({
      start: null,
      yielding: ids,
      isDraining: true,
      changesInMs: 20,
    });
    const drained = { ...others, drainingSince: 10 };
    expect(decideNext(at(29, drained), LIMITS)).toMatchObject({ start: null, interrupted: new Set(), changesInMs: 1 });
    expect(decideNext(at(30, drained), LIMITS)).toMatchObject({ start: null, interrupted: ids });
    expect(decideNext(at(31, { ...drained, running: [] }), LIMITS).start).toBe(suspect);
  });

  test("runs alone for a limited time; after that other jobs start, and it is an ordinary job", () => {
    const state = { running: running("sam 0 alone"), due: [due("anna")] };
    expect(decideNext(at(99, state), LIMITS)).toMatchObject({ start: null, yielding: new Set(), changesInMs: 1 });
    expect(decideNext(at(100, state), LIMITS).start).toEqual(due("anna"));
  });

  test("is followed by others for as long as it ran, before the next job runs alone, unless none is waiting", () => {
    const state = { dueAlone: suspect, lastAlone: { endedAt: 50, forMs: 30 } };
    expect(decideNext(at(60, { ...state, due: [due("anna")] }), LIMITS).start).toEqual(due("anna"));
    expect(decideNext(at(60, { ...state, running: running("anna 55") }), LIMITS)).toMatchObject({
      start: null,
      isDraining: false,
      changesInMs: 20,
    });
    expect(decideNext(at(80, { ...state, running: running("anna 55") }), LIMITS).isDraining).toBe(true);
    expect(decideNext(at(60, state), LIMITS).start).toBe(suspect);
  });

  test("is, when it is a preview, interrupted for others, and does not start before they have ended", () => {
    const preview: DueJob = { ...suspect, name: "preview" };
    const isRunning: RunningJob[] = [{ ...running("sam 0 alone")[0]!, name: "preview" }];
    const interrupted = new Set([isRunning[0]!.stepId]);
    expect(decideNext(at(10, { running: isRunning }), LIMITS)).toMatchObject({
      interrupted: new Set(),
      changesInMs: 90,
    });
    const [other, another] = [due("anna"), due("bert", 0, "preview")];
    expect(decideNext(at(10, { running: isRunning, due: [other] }), LIMITS)).toMatchObject({
      start: null,
      interrupted,
    });
    expect(decideNext(at(10, { running: isRunning, dueAlone: suspect }), LIMITS)).toMatchObject({ interrupted });
    expect(decideNext(at(10, { running: isRunning, due: [another] }), LIMITS).interrupted).toEqual(new Set());
    expect(decideNext(at(20, { due: [other], dueAlone: preview }), LIMITS).start).toBe(other);
    expect(decideNext(at(20, { running: running("anna 5"), dueAlone: preview }), LIMITS)).toMatchObject({
      start: null,
      isDraining: false,
    });
    expect(decideNext(at(20, { dueAlone: preview }), LIMITS).start).toBe(preview);
  });

  test("does not interrupt one that has used its time alone", () => {
    const state = { running: running("sam 0 alone", "anna 150"), dueAlone: suspect, due: [due("bert")] };
    expect(decideNext(at(200, state), LIMITS)).toMatchObject({
      start: due("bert"),
      interrupted: new Set(),
      isDraining: false,
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
  let active: RunningJob[] = [];
  let lastAlone: SchedulingState["lastAlone"] = null;
  let drainingSince: number | null = null;
  const jobOf = (stepId: string) => jobs.find((job) => job.stepId === stepId)!;
  const toDue = (job: ModelJob): DueJob => ({
    ...job,
    running: active.filter((mate) => mate.workspaceId === job.workspaceId && mate.name === job.name).length,
  });
  const end = (mate: RunningJob) => {
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
              a.running - b.running || (servedAt.get(a.workspaceId) ?? -1) - (servedAt.get(b.workspaceId) ?? -1),
          )
          .slice(0, 1);
      const dueAlone = waiting.filter((job) => job.runsAlone).map(toDue)[0] ?? null;
      const decision = decideNext(
        { now, running: active, due: [...next("prepare"), ...next("render")], dueAlone, lastAlone, drainingSince },
        LIMITS,
      );
      drainingSince = decision.isDraining ? (drainingSince ?? now) : null;
      for (const mate of active)
        if (decision.interrupted.has(mate.stepId) || (decision.yielding.has(mate.stepId) && jobOf(mate.stepId).yields))
          end(mate);
      if (decision.start === null) {
        if (decision.interrupted.size > 0) continue;
        break;
      }
      const { stepId, name, workspaceId, runsAlone } = decision.start;
      active = [...active, { stepId, name, workspaceId, runsAlone, isElsewhere: false, since: now }];
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
