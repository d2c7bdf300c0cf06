/** The slots and slot requests of running jobs: the state that `domain/scheduling.ts` decides on, and its log. */
import type { Job, JobName, JobPlaces, Slot } from "../domain/jobs";
import { LOCAL, type PlaceNeeds } from "../domain/places";
import {
  type HeldSlot,
  listPassedOver,
  listPlaces,
  type SchedulingLimits,
  type SchedulingState,
  type SlotJob,
  type SlotRequest,
} from "../domain/scheduling";
import type { Log } from "../lib/log";

/** Slot request of a running job. `grant` is called with each slot that it gets. */
type JobSlotRequest = SlotRequest & { grant(slot: Slot): void };

/** `wake` is called when a decision may be another one. */
export function createSlots(
  limits: SchedulingLimits,
  places: Pick<SchedulingState, "rank"> & { listWorkers(): SchedulingState["workers"] },
  wake: () => void,
) {
  const held = new Set<HeldSlot>();
  const waiting = new Set<JobSlotRequest>();
  let lastAlone: SchedulingState["lastAlone"] = null;
  let draining: SchedulingState["draining"] = null;

  /** Returns the state, including the due jobs. */
  const read = (due: Partial<Pick<SchedulingState, "due" | "dueAlone">> = {}): SchedulingState => ({
    now: performance.now(),
    held: [...held],
    waiting: [...waiting],
    due: [],
    dueAlone: null,
    lastAlone,
    draining,
    workers: places.listWorkers(),
    rank: places.rank,
    ...due,
  });

  /** Takes a slot. `isPart`: it is one of several of its job. */
  function take({ stepId, name, workspaceId, runsAlone }: SlotJob, placeId: string, isPart = false): Slot {
    const slot = { stepId, name, workspaceId, runsAlone, placeId, isPart, since: performance.now() };
    held.add(slot);
    return {
      placeId,
      release: () => {
        if (!held.delete(slot)) return;
        if (runsAlone && placeId === LOCAL) {
          const forMs = Math.min(limits.maxAloneMs, performance.now() - slot.since);
          lastAlone = { endedAt: slot.since + forMs, forMs };
        }
        wake();
      },
    };
  }

  return {
    read,
    take,
    /** Grants a slot to the running job that requested it. Returns false if no running job has made the request. */
    grant: (request: SlotRequest, placeId: string) => {
      const asked = waiting.values().find((one) => one === request);
      if (asked === undefined) return false;
      asked.grant(take(asked, placeId, true));
      return true;
    },
    /** Returns the places for the parts of a job. */
    createPlaces: ({ stepId, name, workspaceId }: Job, needs: PlaceNeeds | null): JobPlaces => {
      const request: SlotRequest = { stepId, name, workspaceId, runsAlone: false, needs };
      return {
        list: () => listPlaces(read(), limits, request),
        request: (wants, grant) => {
          const asked = { ...request, wants, grant };
          waiting.add(asked);
          wake();
          return { wake, close: () => void waiting.delete(asked) };
        },
      };
    },
    setDraining: (place: SchedulingState["draining"]) => {
      draining = place;
    },
  };
}

/** Creates the logger of due jobs that were not started. Logs each again only when the situation changes. */
export function createWaitingLog(log: Log): (state: SchedulingState, slots: Record<JobName, number>) => void {
  let last = "";
  return (state, slots) => {
    const { held, due, dueAlone, draining } = state;
    const describe = (request: SlotRequest) => ({
      job: request.stepId,
      name: request.name,
      workspace: request.workspaceId,
      runs_alone: request.runsAlone,
      running: held.filter((slot) => slot.name === request.name).length,
      slots: slots[request.name],
      is_draining: draining !== null,
      alone: held.find((slot) => slot.runsAlone && slot.placeId === LOCAL)?.stepId,
      passed_over: listPassedOver(state, request),
    });
    const waiting = [...due, ...(dueAlone ? [dueAlone] : [])].map(describe);
    const situation = JSON.stringify(waiting);
    if (situation === last) return;
    last = situation;
    for (const facts of waiting) log.debug("job.waiting", facts);
  };
}
