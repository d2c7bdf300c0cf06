/** The workers and the waiting jobs, as shown by `offcut doctor`. */
import type { JobName } from "../../domain/jobs";
import type { SandboxFacts } from "../../domain/worker-messages";
import { countOpenJobs } from "../../store/job-list";
import type { ClusterNeeds } from "./cluster";
import type { ShortageCount } from "./other-places";
import type { WorkerView } from "./worker-list";

/** `last_seen_at` in ISO 8601. `running`: how many executions. */
export type ReportedWorker = {
  name: string;
  state: WorkerView["state"];
  version: string;
  jobs: string[];
  slots: number;
  running: number;
  speed: number | null;
  sandbox: SandboxFacts;
  last_seen_at: string;
};

/** `pending`: waiting jobs by name. `shortages`: requirements of waiting jobs that no machine meets. */
export type WorkerReport = {
  workers: ReportedWorker[];
  pending: Partial<Record<JobName, number>>;
  shortages: ShortageCount[];
};

export async function reportWorkers({ cluster, store, workerList }: ClusterNeeds): Promise<WorkerReport> {
  const workers = await workerList.list();
  const open = await countOpenJobs(store.read);
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
    pending: Object.fromEntries(open.filter(({ state }) => state === "pending").map(({ name, jobs }) => [name, jobs])),
    shortages: (await cluster?.places.listShortages()) ?? [],
  };
}
