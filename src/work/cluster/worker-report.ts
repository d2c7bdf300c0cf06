/** The workers and the waiting jobs, as shown by `offcut doctor`. */
import type { JobName } from "../../domain/jobs";
import { countOpenJobs } from "../../store/job-list";
import type { ClusterNeeds } from "./cluster";

/**
 * Reads the report. `running`: how many executions. `last_seen_at` in ISO 8601. `pending`: waiting jobs by name.
 * `shortages`: requirements of waiting jobs that no machine meets.
 */
export async function reportWorkers({ cluster, store, workerList }: ClusterNeeds) {
  const workers = await workerList.list();
  const open = await countOpenJobs(store.read);
  const waiting = open.filter(({ state }) => state === "pending").map(({ name, jobs }) => [name, jobs]);
  return {
    workers: workers.map(({ worker, state, current }) => ({
      name: worker.name,
      state,
      version: worker.version,
      jobs: worker.jobs,
      slots: worker.slots,
      running: current.length,
      speed: worker.speed,
      sandbox: worker.sandbox,
      last_seen_at: new Date(worker.last_seen_at).toISOString(),
    })),
    pending: Object.fromEntries(waiting) as Partial<Record<JobName, number>>,
    shortages: (await cluster?.places.listShortages()) ?? [],
  };
}

export type WorkerReport = Awaited<ReturnType<typeof reportWorkers>>;
