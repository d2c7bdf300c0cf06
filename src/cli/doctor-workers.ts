/** Workers in `offcut doctor`. */
import type { Config } from "../config";
import type { JobName } from "../domain/jobs";
import type { WorkerReport } from "../work/cluster/worker-report";
import { describeWorkers, type HealthCheck } from "../work/health/checks";
import { runAdminCommand } from "./admin";
import { formatMinute, formatTextTable } from "./text-table";

/** Returns the workers of this server and the waiting work. Without a running server, all workers are offline. */
export const readWorkerReport = async (config: Config): Promise<WorkerReport> =>
  (await runAdminCommand(config, "worker list", {})) as WorkerReport;

export async function checkWorkers(config: Config): Promise<Omit<HealthCheck, "name">> {
  const { workers, pending, shortages } = await readWorkerReport(config);
  const { renderJobs: render, prepareJobs: prepare, cutJobs: cut } = config;
  const slots: Record<JobName, number> = { render, prepare, cut, preview: 1 };
  return describeWorkers(workers, { slots, pending, shortages });
}

/** Formats the workers as lines of the report. Returns no lines if there are none. */
export function formatWorkers({ workers }: WorkerReport): string[] {
  if (workers.length === 0) return [];
  const table = formatTextTable([
    ["NAME", "STATE", "VERSION", "JOBS", "SLOTS", "RUNS", "SPEED", "LAST SEEN"],
    ...workers.map((worker) => [
      worker.name,
      worker.state,
      worker.version,
      worker.jobs.join(","),
      String(worker.slots),
      String(worker.running),
      worker.speed === null ? "-" : `${worker.speed.toFixed(1)}x`,
      formatMinute(worker.last_seen_at),
    ]),
  ]);
  return [
    "Workers:",
    ...table
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
    "",
  ];
}
