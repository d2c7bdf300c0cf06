/** Which steps can run somewhere: what a runner asks before it claims one, and what keeps the others waiting. */
import type { DueJob } from "../../domain/jobs";
import { findShortage, type PlaceNeeds, type Shortage, type WorkerJob } from "../../domain/workers";
import { findStep, listPendingStepIds } from "../../store/steps";
import type { Places } from "./places";
import { isWorkerJob, readStepNeeds } from "./step-needs";
import type { WorkerNeeds } from "./worker-list";

/** A runner's queries about other places; `OtherPlaces` of `queue/runner.ts`. */
export type SchedulingPlaces = {
  canRun(job: DueJob): Promise<boolean>;
  listUnrunnable(): string[];
  isAloneElsewhere(job: DueJob): boolean;
  isElsewhere(stepId: string): boolean;
  /** Returns whether a place can now do a step that none could. */
  hasRunnable(): boolean;
  /** Returns what the steps wait for that no place can do as the places are now, the same for several steps together. */
  listShortages(): Promise<ShortageCount[]>;
};

/** `steps`: how many lack it. `bytes` and `languages` are those of the step that needs the most. */
export type ShortageCount = Shortage & { job: WorkerJob; steps: number };

/** Steps that no place can do are remembered up to this number. The others are looked at again. */
const MAX_UNRUNNABLE = 10_000;

export function createSchedulingPlaces(
  services: WorkerNeeds,
  places: Places,
  localSlots: Record<WorkerJob, number>,
): SchedulingPlaces {
  const unrunnable = new Map<string, PlaceNeeds>();
  /** The shortages logged since all steps could run. */
  const logged = new Set<string>();
  let alone: { stepId: string; needs: PlaceNeeds } | null = null;

  const readNeeds = async (stepId: string, name: WorkerJob): Promise<PlaceNeeds | null> => {
    const step = await findStep(services.store.read, stepId);
    return step?.subject_id ? readStepNeeds(services, { name, subjectId: step.subject_id }) : null;
  };
  const find = (needs: PlaceNeeds): Shortage | null => findShortage(services.workerList.listOnline(), needs);

  function prune(): void {
    for (const [stepId, needs] of unrunnable) if (places.isForWorkers(needs)) unrunnable.delete(stepId);
    if (unrunnable.size === 0) logged.clear();
  }

  function add(stepId: string, needs: PlaceNeeds): void {
    if (unrunnable.size >= MAX_UNRUNNABLE) unrunnable.delete(unrunnable.keys().next().value!);
    unrunnable.set(stepId, needs);
    const shortage = find(needs);
    const key = `${needs.job} ${shortage?.lacks} ${shortage?.languages.join()}`;
    if (shortage === null || logged.has(key)) return;
    logged.add(key);
    services.log.warn("job.no_machine", { job: stepId, name: needs.job, ...shortage });
  }

  return {
    canRun: async ({ stepId, name, runsAlone }) => {
      if (!isWorkerJob(name) || (localSlots[name] > 0 && !runsAlone)) return true;
      const needs = await readNeeds(stepId, name);
      // The handler finds that its subject is gone.
      if (needs === null) return true;
      if (runsAlone) alone = { stepId, needs };
      if (localSlots[name] > 0 || places.isForWorkers(needs)) return true;
      add(stepId, needs);
      return false;
    },
    listUnrunnable: () => {
      prune();
      return [...unrunnable.keys()];
    },
    isAloneElsewhere: ({ stepId }) => alone?.stepId === stepId && places.isForWorkers(alone.needs),
    isElsewhere: places.isElsewhere,
    hasRunnable: () => unrunnable.values().some((needs) => places.isForWorkers(needs)),
    listShortages: async () => {
      prune();
      const pending = new Set(await listPendingStepIds(services.store.read, [...unrunnable.keys()]));
      // Cancelled and deleted ones.
      for (const stepId of unrunnable.keys()) if (!pending.has(stepId)) unrunnable.delete(stepId);
      return countShortages([...unrunnable.values()], find);
    },
  };
}

function countShortages(needed: readonly PlaceNeeds[], find: (needs: PlaceNeeds) => Shortage | null): ShortageCount[] {
  const counts = new Map<string, ShortageCount>();
  for (const needs of needed) {
    const shortage = find(needs);
    if (shortage === null) continue;
    const key = `${needs.job} ${shortage.lacks}`;
    const before = counts.get(key);
    const isMore =
      before === undefined || shortage.bytes > before.bytes || shortage.languages.length > before.languages.length;
    counts.set(key, { ...(isMore ? shortage : before), job: needs.job, steps: (before?.steps ?? 0) + 1 });
  }
  return [...counts.values()];
}
