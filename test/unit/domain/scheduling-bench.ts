/** Places with workers, and requests for their slots that are decided one after the other. */
import type { OnlineWorker, PlaceNeeds } from "../../../src/domain/places";
import {
  decideNext,
  findPlace,
  type HeldSlot,
  listPassedOver,
  listPlaces,
  type SchedulingLimits,
  type SchedulingState,
  type SlotRequest,
} from "../../../src/domain/scheduling";
import type { EncodingFacts } from "../../../src/domain/worker-messages";
import { WORKER_PROTOCOL, type WorkerJob } from "../../../src/domain/workers";

const FACTS: EncodingFacts = { ffmpeg: "6.1", libavutil: 58, encoder: "libx264", hasZscale: true };
export const GIGABYTE = 1e9;

export const worker = (id: string, change: Partial<OnlineWorker["announcement"]> = {}): OnlineWorker => ({
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

export const needs = (job: WorkerJob, change: Partial<PlaceNeeds> = {}): PlaceNeeds => ({
  job,
  languages: [],
  bytes: GIGABYTE,
  ...change,
});

type Hold = { release(): void; shouldYield(): boolean };

/** Places with these slots on this machine and these workers. */
export function createBench(local: Partial<Record<WorkerJob, number>>, workers: OnlineWorker[], extra = 0) {
  const state = {
    now: 0,
    ending: new Map<string, number>(),
    avoided: new Set<string>(),
    ranks: new Map<string, number>(),
  };
  const limits: SchedulingLimits = {
    slots: { prepare: 0, cut: 0, render: 0, preview: 1, ...local },
    extraSlots: { prepare: extra, cut: extra, render: 0, preview: 0 },
    timeSliceMs: 15,
    maxAloneMs: 120_000,
    maxDrainMs: 1_000,
  };
  const held: HeldSlot[] = [];
  const waiting: SlotRequest[] = [];
  const granted: string[] = [];
  const holds: Hold[] = [];
  let draining: SchedulingState["draining"] = null;
  let yielding = new Set<string>();

  const read = (): SchedulingState => ({
    now: state.now,
    held,
    waiting: waiting.filter((request) => request.wants !== undefined),
    due: waiting.filter((request) => request.wants === undefined && !request.runsAlone),
    dueAlone: waiting.find(({ runsAlone }) => runsAlone) ?? null,
    lastAlone: null,
    draining,
    workers: workers.map((one) => ({
      ...one,
      ending: state.ending.get(one.id) ?? 0,
      isAvoided: state.avoided.has(one.id),
    })),
    rank: (id, stepId) => state.ranks.get(`${stepId} ${id}`) ?? 0,
  });

  /** Starts all jobs that can start. */
  function settle(): void {
    for (;;) {
      const decision = decideNext(read(), limits);
      draining = decision.draining;
      yielding = decision.yielding;
      if (decision.start === null) return;
      const { request, placeId } = decision.start;
      const { stepId, name, workspaceId, runsAlone } = request;
      const isPart = request.wants !== undefined;
      const slot = { stepId, name, workspaceId, runsAlone, placeId, since: state.now, isPart };
      waiting.splice(waiting.indexOf(request), 1);
      held.push(slot);
      granted.push(`${stepId} ${placeId}`);
      holds.push({
        release: () => {
          held.splice(held.indexOf(slot), 1);
          settle();
        },
        shouldYield: () => yielding.has(stepId),
      });
    }
  }

  /** Asks for a slot. `step` is noted with its place when it gets one. */
  function ask(step: string, workspaceId: string, what: PlaceNeeds, change: Partial<SlotRequest> = {}): void {
    waiting.push({ stepId: step, workspaceId, name: what.job, needs: what, runsAlone: false, ...change });
    settle();
  }

  const request = (what: PlaceNeeds): SlotRequest => ({
    stepId: "step",
    workspaceId: "anna",
    name: what.job,
    needs: what,
    runsAlone: false,
  });
  return {
    state,
    workers,
    granted,
    holds,
    held,
    ask,
    settle,
    list: (what: PlaceNeeds) => listPlaces(read(), limits, request(what)),
    find: (what: PlaceNeeds) => findPlace(read(), limits, request(what)),
    listPassedOver: (what: PlaceNeeds, change: Partial<SlotRequest> = {}) =>
      listPassedOver(read(), { ...request(what), ...change }),
  };
}
