/**
 * The workers as places for the runner's scheduler, the requirements of steps on a place, and the steps that no worker
 * can run.
 */
import type { JobName } from "../../domain/jobs";
import { canDo, findShortage, type PlaceNeeds, type Shortage } from "../../domain/places";
import type { SlotRequest } from "../../domain/scheduling";
import { isWorkerJob, JOB_NEEDS, WORKER_JOBS, type WorkerJob } from "../../domain/workers";
import { getModelsFolder, listLanguages, toLanguageCode } from "../../speech/models/installed-models";
import { findStep, listPendingStepIds } from "../../store/steps";
import type { Executions } from "./executions";
import { findJobAsset } from "./remote-jobs";
import type { WorkerNeeds } from "./worker-list";

/** `steps`: how many lack it. `bytes` and `languages` are those of the step that needs the most. */
export type ShortageCount = Shortage & { job: WorkerJob; steps: number };

/** Room for the files that a job makes besides the rendered one, and for its temporary files. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;
/** Maximum number of remembered steps that no place can run. Others are checked again. */
const MAX_UNRUNNABLE = 10_000;

type PlacesParts = {
  executions: Pick<Executions, "countEnding" | "trouble">;
  /** Returns whether executions can be sent to workers. */
  isReachable(): boolean;
  localSlots: Record<JobName, number>;
};

/** Implements `OtherPlaces` of `queue/runner.ts`, and lists shortages for the status of the server. */
export function createWorkerPlaces(services: WorkerNeeds, { executions, isReachable, localSlots }: PlacesParts) {
  const { folders, log, store, workerList } = services;
  const unrunnable = new Map<string, PlaceNeeds>();
  /** Keys of the shortages logged since all steps could last run. */
  const logged = new Set<string>();

  const listReachable = () => (isReachable() ? workerList.listOnline() : []);
  const isForWorkers = (needs: PlaceNeeds) => listReachable().some((worker) => canDo(worker, needs));
  const find = (needs: PlaceNeeds): Shortage | null => findShortage(workerList.listOnline(), needs);

  function prune(): void {
    for (const [stepId, needs] of unrunnable) if (isForWorkers(needs)) unrunnable.delete(stepId);
    if (unrunnable.size === 0) logged.clear();
  }

  function add(stepId: string, needs: PlaceNeeds): void {
    if (unrunnable.size >= MAX_UNRUNNABLE) unrunnable.delete(unrunnable.keys().next().value!);
    unrunnable.set(stepId, needs);
    const shortage = find(needs);
    const key = `${needs.job} ${shortage?.lacks} ${shortage?.languages.join()}`;
    if (shortage === null || logged.has(key)) return;
    logged.add(key);
    log.warn("job.no_machine", { job: stepId, name: needs.job, ...shortage });
  }

  return {
    rank: executions.trouble.rank,
    listWorkers: () =>
      listReachable().map((worker) => ({
        ...worker,
        ending: executions.countEnding(worker.id),
        isAvoided: executions.trouble.isAvoided(worker.id),
      })),
    /**
     * Returns the requirements of a step on its place; null if its subject was deleted, or only this machine can run
     * it. An unknown language may be any that this server transcribes.
     */
    readNeeds: async ({ stepId, name: job }: Pick<SlotRequest, "stepId" | "name">): Promise<PlaceNeeds | null> => {
      const subjectId = isWorkerJob(job) ? (await findStep(store.read, stepId))?.subject_id : null;
      const asset = subjectId ? await findJobAsset(store.read, job, subjectId) : null;
      if (!asset || !isWorkerJob(job)) return null;
      const { speech, sourceCopies } = JOB_NEEDS[job];
      const spoken = () =>
        asset.language === null ? listLanguages(getModelsFolder(folders.root)) : [toLanguageCode(asset.language)];
      return { job, languages: speech ? spoken() : [], bytes: MIN_FREE_BYTES + sourceCopies * asset.upload_length };
    },
    canRun: ({ stepId, name, needs }: SlotRequest) => {
      if (needs === null || localSlots[name] > 0 || isForWorkers(needs)) return true;
      add(stepId, needs);
      return false;
    },
    listUnrunnable: () => {
      prune();
      return [...unrunnable.keys()];
    },
    /** Returns how many jobs of each name run at the same time at all places. */
    countSlots: () => {
      const slots = { ...localSlots };
      for (const worker of listReachable())
        for (const job of WORKER_JOBS)
          if (canDo(worker, { job, languages: [], bytes: 0 })) slots[job] += worker.announcement.slots;
      return slots;
    },
    /** Returns the shortages of steps that no current place can run. Equal shortages are merged. */
    listShortages: async () => {
      prune();
      const pending = new Set(await listPendingStepIds(store.read, [...unrunnable.keys()]));
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
