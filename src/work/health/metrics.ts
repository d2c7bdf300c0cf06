/** The metrics of the server for Prometheus. Labels have few values, none of which names a user, a path or a file. */
import { version } from "../../../package.json";
import { JOB_NAMES, type JobName } from "../../domain/jobs";
import { WORKER_STATES } from "../../domain/states";
import { formatMetrics, type Metric } from "../../lib/prometheus";
import { readLastSuccesses } from "../../store/backup-runs";
import { countDeliveries } from "../../store/delivery-queue";
import { countOpenJobs } from "../../store/job-list";
import { countPendingMails } from "../../store/mails";
import { readDatabaseBytes } from "../../store/storage";
import type { HealthProbes } from "./probes";
import { checkReadiness, type HealthNeeds } from "./readiness";
import { readDisk } from "./system-health";

/** Inputs beyond the services. */
type MetricsSources = { slots: Record<JobName, number>; probes: Pick<HealthProbes, "readStoredTotals"> };

/** Returns all metrics as text. Those of the database have no samples while it does not respond. */
export async function readMetrics(services: HealthNeeds, sources: MetricsSources): Promise<string> {
  const { ready, ...checks } = await checkReadiness(services);
  return formatMetrics([
    gauge("offcut_build_info", "Version of the server.", [{ labels: { version }, value: 1 }]),
    ...readProcess(),
    gauge("offcut_ready", "Whether /readyz reports that the server is ready.", [{ value: Number(ready) }]),
    gauge("offcut_ready_check", "Whether a part that /readyz checks works.", toSamples("check", checks)),
    ...listCounters(services),
    gauge("offcut_job_slots", "Jobs that may run at the same time.", toSamples("job", countSlots(services, sources))),
    gauge("offcut_event_streams", "Open event streams.", [{ value: services.liveStreams.count() }]),
    ...(await readDiskMetrics(services)),
    ...(await readStored(services, sources, checks.database)),
  ]);
}

const metric =
  (type: Metric["type"]) =>
  (name: string, help: string, samples: Metric["samples"]): Metric => ({ name, help, type, samples });
const [gauge, counter, histogram] = [metric("gauge"), metric("counter"), metric("histogram")];

const toSamples = (label: string, values: Record<string, number | boolean>): Metric["samples"] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value: Number(value) }));

const countSlots = ({ cluster }: HealthNeeds, { slots }: MetricsSources) => cluster?.places.countSlots() ?? slots;

/** Standard names of Prometheus clients. */
function readProcess(): Metric[] {
  const { user, system } = process.cpuUsage();
  const startedAt = Date.now() / 1000 - process.uptime();
  const about = "of the server process, without child processes such as ffmpeg";
  return [
    gauge("process_start_time_seconds", "Start of the server process in Unix time.", [{ value: startedAt }]),
    counter("process_cpu_seconds_total", `CPU time ${about}.`, [{ value: (user + system) / 1e6 }]),
    gauge("process_resident_memory_bytes", `Resident memory ${about}.`, [{ value: process.memoryUsage.rss() }]),
  ];
}

function listCounters({ counters }: HealthNeeds): Metric[] {
  const { requests, requestSeconds, jobEnds } = counters;
  return [
    counter("offcut_http_requests_total", "Requests by family, method and class of the status.", requests.samples()),
    histogram("offcut_http_request_duration_seconds", "Time until the response begins.", requestSeconds.samples()),
    counter("offcut_jobs_ended_total", "Jobs that ended since the start, by outcome.", jobEnds.samples()),
  ];
}

async function readDiskMetrics(services: HealthNeeds): Promise<Metric[]> {
  // An unmounted folder must not hide the other metrics.
  const disk = await readDisk(services).catch(() => null);
  const sample = (value: number | undefined) => (value === undefined ? [] : [{ value }]);
  const where = "the file system of the data folder";
  return [
    gauge("offcut_disk_free_bytes", `Free space on ${where}, including the reserve.`, sample(disk?.freeBytes)),
    gauge("offcut_disk_size_bytes", `Size of ${where}.`, sample(disk?.totalBytes)),
    gauge("offcut_disk_reserve_bytes", "Free space that is kept.", [{ value: services.config.diskReserveBytes }]),
  ];
}

async function readStored(services: HealthNeeds, { probes }: MetricsSources, isAlive: boolean): Promise<Metric[]> {
  const { store, now, workerList } = services;
  const jobs = isAlive ? await countOpenJobs(store.read) : [];
  const states = isAlive ? (await workerList.list()).map(({ state }) => state) : [];
  const totals = isAlive ? await probes.readStoredTotals() : null;
  const sample = async (read: () => Promise<number> | number) => (isAlive ? [{ value: await read() }] : []);
  const pendingDeliveries = isAlive ? await countDeliveries(store.read, "pending") : 0;
  const findJobs = (job: JobName, state: string) => jobs.find((one) => one.name === job && one.state === state);
  const waitSeconds = (job: JobName) => Math.max(0, now() - (findJobs(job, "pending")?.firstDueAt ?? now())) / 1000;
  const jobNames = isAlive ? JOB_NAMES : [];
  return [
    gauge(
      "offcut_jobs",
      "Jobs that wait or run.",
      jobNames.flatMap((job) => [
        { labels: { job, state: "waiting" }, value: findJobs(job, "pending")?.jobs ?? 0 },
        { labels: { job, state: "running" }, value: findJobs(job, "running")?.jobs ?? 0 },
      ]),
    ),
    gauge(
      "offcut_job_oldest_wait_seconds",
      "Time since the oldest waiting job became due, 0 without one.",
      jobNames.map((job) => ({ labels: { job }, value: waitSeconds(job) })),
    ),
    gauge(
      "offcut_workers",
      "Workers on other machines.",
      isAlive
        ? WORKER_STATES.map((state) => ({ labels: { state }, value: states.filter((one) => one === state).length }))
        : [],
    ),
    gauge("offcut_mails_pending", "Mails that have not been sent.", await sample(() => countPendingMails(store.read))),
    gauge(
      "offcut_webhook_deliveries",
      "Stored webhook deliveries that are pending or have failed. Failed ones are counted once a minute.",
      totals ? toSamples("state", { pending: pendingDeliveries, failed: totals.failedDeliveries }) : [],
    ),
    gauge(
      "offcut_uploads_open",
      "Unfinished uploads, counted once a minute.",
      totals ? [{ value: totals.openUploads }] : [],
    ),
    gauge(
      "offcut_storage_bytes",
      "Bytes that workspaces occupy, counted once a minute. An unfinished upload counts at its declared size.",
      totals
        ? toSamples("kind", {
            source: totals.sourceBytes,
            derived: totals.derivedBytes,
            render: totals.renderBytes,
            text: totals.textBytes,
          })
        : [],
    ),
    gauge(
      "offcut_backup_last_success_timestamp_seconds",
      "Start of the last backup, verification or drill without a problem, in Unix time.",
      Object.values(isAlive ? await readLastSuccesses(store.read) : {}).map(({ kind, started_at }) => ({
        labels: { kind },
        value: started_at / 1000,
      })),
    ),
    gauge("offcut_database_bytes", "Size of the database file.", await sample(() => readDatabaseBytes(store.read))),
  ];
}
