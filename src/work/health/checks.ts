/** Results of server checks, one line each, for `offcut doctor` and for administrators. Pure. */
import type { FolderProblem } from "../../blobs/folder-guard";
import { type Config, getMailSender, isExposedWithoutTls } from "../../config";
import { formatBytes } from "../../domain/bytes";
import type { JobName } from "../../domain/jobs";
import { WORKER_STATES } from "../../domain/states";
import type { SandboxFacts } from "../../domain/worker-messages";
import { WORKER_JOBS } from "../../domain/workers";
import { chooseEncoder, type Encoders } from "../../media/encoders";
import { type Ffmpeg, findFfmpegWarning } from "../../media/ffmpeg";
import type { readInstalledModels } from "../../speech/models/installed-models";
import { formatDatabaseDamage } from "../../store/database-file";
import type { JobFacts } from "../../store/job-list";
import type { ShortageCount } from "../cluster/other-places";
import type { RedisState } from "../cluster/redis-state";

export const CHECK_STATES = ["ok", "warning", "broken"] as const;

/** `about`: one line with the detail in use, or the problem and its solution. */
export type CheckResult = { state: (typeof CHECK_STATES)[number]; about: string };
export type HealthCheck = CheckResult & { name: string };

export const ok = (about: string): CheckResult => ({ state: "ok", about });
export const warning = (about: string): CheckResult => ({ state: "warning", about });
const broken = (about: string): CheckResult => ({ state: "broken", about });

/** Less free space than this above the reserve is a warning: a long recording may not fit. */
const MIN_COMFORTABLE_BYTES = 3 * 1024 ** 3;

export function describeDisk(
  { diskReserveBytes: reserve }: Pick<Config, "diskReserveBytes">,
  { folder, freeBytes }: { folder: string; freeBytes: number },
): CheckResult {
  const about = `${folder}, ${formatBytes(freeBytes)} free`;
  if (freeBytes <= reserve) {
    const limit = `the reserve of ${formatBytes(reserve)} (disk_reserve_bytes)`;
    return warning(`${about}, below ${limit}: uploads, renders and exports are rejected`);
  }
  const reserved = reserve > 0 ? `, ${formatBytes(reserve)} of it reserved` : "";
  const isLow = freeBytes - reserve < MIN_COMFORTABLE_BYTES;
  return isLow ? warning(`${about}${reserved}: little space for recordings`) : ok(`${about}${reserved}`);
}

export const describeOffline = ({ about }: Pick<FolderProblem, "about">): CheckResult =>
  broken(`${about}. Until then uploads, renders, exports and deletions are rejected, and jobs wait`);

/** Describes the ffmpeg in use; `path`: where to look for another one. */
export function describeFfmpeg(ffmpeg: Ffmpeg, path: string | undefined): CheckResult {
  const about = `${ffmpeg.path}, version ${ffmpeg.version}, ${ffmpeg.bundled ? "bundled" : "from the system"}`;
  const outdated = findFfmpegWarning(ffmpeg, path);
  return outdated === null ? ok(about) : warning(`${about}. ${outdated}`);
}

const SANDBOX_DESCRIPTIONS = {
  bwrap: "bwrap: media processes have no network access and see only the folders of their job",
  unshare: "unshare: media processes have no network access, but can read the files of this user",
  none: "none: media processes have network access and can read the files of this user",
};

export function describeSandbox({ mode, reason }: SandboxFacts): CheckResult {
  const about = SANDBOX_DESCRIPTIONS[mode];
  return reason === null ? ok(about) : warning(`${about} (${reason})`);
}

/** Describes the encoders that work. Throws an error if none works, or the configured one does not. */
export function describeEncoders(encoders: Encoders, { encoder }: Pick<Config, "encoder">): CheckResult {
  const found = [...encoders.video, ...encoders.audio].join(", ");
  return ok(`${chooseEncoder(encoders, encoder)} in use; available: ${found}`);
}

export function describeModels({ installed, damaged }: ReturnType<typeof readInstalledModels>): CheckResult {
  const available = installed.map(({ manifest }) => `${manifest.name} (${manifest.languages.join(", ")})`).join("; ");
  const problems = damaged.map(({ name, problem }) => `${name} is damaged: ${problem}. Add it again`);
  if (problems.length > 0) return warning([...problems, available].filter((text) => text !== "").join("; "));
  return ok(available || "none: recordings in languages other than English are cut at pauses only");
}

export function describeWebhooks(config: Pick<Config, "webhooksAllowLoopback" | "webhooksAllowPrivate">): CheckResult {
  const allowed: string[] = [];
  if (config.webhooksAllowLoopback) allowed.push("this machine (webhooks_allow_loopback)");
  if (config.webhooksAllowPrivate) allowed.push("private networks (webhooks_allow_private)");
  if (allowed.length === 0) return ok("public addresses only");
  return warning(`may also target ${allowed.join(" and ")}: any API key can make the server send requests there`);
}

export function describeBilling(
  config: Pick<Config, "billing" | "price" | "stripeSecretKey" | "publicUrl">,
): CheckResult {
  const { billing, price: prices, stripeSecretKey, publicUrl } = config;
  if (billing === "off") return ok("off: nothing costs credits");
  if (prices.length === 0) return ok("nothing is sold: add [[price]] to the configuration file");
  const active = `${prices.filter((price) => price.active).length} active prices`;
  if (stripeSecretKey === null) return ok(`${active}, an administrator approves orders`);
  const about = `${active}, payments with Stripe`;
  return publicUrl === null ? warning(`${about}: set public_url, to which users return from Stripe`) : ok(about);
}

/** Describes the mail server; `base`: the URL of links in mails; `problem`: why it cannot be used. */
export function describeMail(config: Config, base: string, problem: string | null): CheckResult {
  if (config.smtpUrl === null) return ok("none: set smtp_url to send invitations, password resets and sign-in codes");
  const { host } = new URL(config.smtpUrl);
  if (problem !== null) return warning(`${host} cannot be used: ${problem}`);
  const about = `${host}, mails are from ${getMailSender(config, base)}, their links start with ${base}`;
  return config.publicUrl === null ? warning(`${about}: set public_url`) : ok(about);
}

/** Describes the place of the nightly backups; `problem`: why they cannot be written, as a sentence. */
export function describeBackups({ backupTo, backupAt }: Pick<Config, "backupTo" | "backupAt">, problem: string | null) {
  if (backupTo === null) return ok("no nightly backup: set backup_to to a folder on another disk or to a bucket");
  if (problem === null) return ok(`${backupTo}, each night at ${backupAt}`);
  const text = problem.replace(/\.$/, "");
  return warning(text.includes(backupTo) ? text : `${backupTo} cannot be used: ${text}`);
}

/** Describes the database; `bytes` null: it does not respond. `damage`: in SQLite's words, null without. */
export const describeDatabase = (bytes: number | null, damage: string | null): CheckResult => {
  if (damage !== null) return broken(formatDatabaseDamage(damage));
  return bytes === null
    ? broken("does not respond: check the log for database errors, and whether the disk is full or read-only")
    : ok(`responds, ${formatBytes(bytes)}`);
};

export const missingFfmpeg = (path: string): CheckResult =>
  broken(`${path} no longer exists: restart the server to unpack or find it again`);

/** Describes the encoders of a running server; null while they are being tried, `inUse` null: none can be used. */
export function describeTriedEncoders(
  tried: (Encoders & { inUse: string | null }) | null,
  { encoder }: Pick<Config, "encoder">,
): CheckResult {
  if (tried === null) return ok("encoders are being tested");
  if (tried.inUse !== null) return describeEncoders(tried, { encoder });
  const about = encoder === null ? "no video encoder works" : `${encoder} does not work on this machine`;
  return broken(`${about}: renders fail. Run offcut doctor, and remove or change the setting encoder`);
}

/** A job that has waited this long indicates too few slots, or stuck jobs. */
const MAX_WAIT_MS = 3600_000;
const MIN_FAILURES = 3;
const MAX_FAILED_SHARE = 0.5;

/** Describes the queue; null: the database does not respond. */
export function describeQueue(jobs: JobFacts | null, slots: Record<JobName, number>): CheckResult {
  if (jobs === null) return broken("unknown while the database does not respond");
  const { running, pending, longestWaitMs, ended, failed } = jobs;
  const now = `${running} running, ${pending} waiting, ${failed} of ${ended} jobs failed in the last 24 hours`;
  if (longestWaitMs > MAX_WAIT_MS) {
    const minutes = Math.round(longestWaitMs / 60_000);
    return warning(
      `${now}. A job has waited for ${minutes} minutes: raise render_jobs (${slots.render}) or prepare_jobs (${slots.prepare})`,
    );
  }
  if (failed >= MIN_FAILURES && failed > ended * MAX_FAILED_SHARE)
    return warning(`${now}: open the failed jobs to see their errors`);
  return ok(now);
}

export function describeRedis(redis: RedisState): CheckResult {
  if (redis.problem !== null) return broken(`${redis.host} cannot be used: ${redis.problem}. Workers get no work`);
  const about = `${redis.host}, version ${redis.version}`;
  if (redis.policy !== "noeviction")
    return warning(
      `${about}: set its maxmemory-policy to noeviction (now ${redis.policy}), or it drops work when it is full`,
    );
  return redis.isExposed ? warning(`${about}: links to recordings are sent unencrypted, use rediss://`) : ok(about);
}

const STATE_WORDS: Record<(typeof WORKER_STATES)[number], string> = {
  online: "online",
  draining: "draining",
  no_redis: "cannot reach Redis",
  offline: "offline",
};

export type CheckedWorker = {
  name: string;
  state: (typeof WORKER_STATES)[number];
  jobs: readonly string[];
  sandbox: SandboxFacts;
};

/**
 * Describes the workers. `slots`: this machine's slots by job name; `pending`: waiting jobs; `shortages`: requirements
 * of some of those that no place meets, such as a model.
 */
export function describeWorkers(
  workers: readonly CheckedWorker[],
  queue: { slots: Record<JobName, number>; pending: Partial<Record<JobName, number>>; shortages: ShortageCount[] },
): CheckResult {
  const online = workers.filter((worker) => worker.state === "online");
  const names = WORKER_STATES.map((state) => ({ state, found: workers.filter((worker) => worker.state === state) }))
    .filter(({ found }) => found.length > 0)
    .map(({ state, found }) => `${found.length} ${STATE_WORDS[state]} (${found.map(({ name }) => name).join(", ")})`);
  const about = names.join(", ") || "none: create a token with offcut worker token create";
  const missing = WORKER_JOBS.filter(
    (name) => queue.slots[name] === 0 && !online.some(({ jobs }) => jobs.includes(name)),
  );
  const problems: string[] = [];
  if (missing.length > 0) {
    const waiting = missing.map((name) => `${name} (${queue.pending[name] ?? 0} waiting)`).join(", ");
    const canResume = workers.some(
      ({ state, jobs }) => state === "draining" && missing.some((job) => jobs.includes(job)),
    );
    const advice = canResume ? "resume or start a worker" : "start a worker";
    problems.push(`No worker does ${waiting}, and this machine has no slots for it: ${advice}`);
  }
  const shortages = queue.shortages.filter(({ lacks, job }) => lacks !== "worker" || !missing.includes(job));
  if (shortages.length > 0)
    problems.push(`No machine can do what waits: ${shortages.map(describeShortage).join("; ")}`);
  const open = workers.filter(({ state, sandbox }) => state !== "offline" && sandbox.reason !== null);
  for (const { name, sandbox } of open) problems.push(`${name}: ${describeSandbox(sandbox).about}`);
  return problems.length > 0 ? warning([about, ...problems].join(". ")) : ok(about);
}

function describeShortage({ lacks, languages, bytes, job, steps }: ShortageCount): string {
  const jobs = steps === 1 ? `1 ${job} job needs` : `${steps} ${job} jobs need`;
  switch (lacks) {
    case "worker":
      return `${jobs} a worker that does it and reaches Redis`;
    case "model":
      return `${jobs} a worker with speech models for ${languages.join(", ")} (there: offcut models add)`;
    case "space":
      return `${jobs} a worker with ${formatBytes(bytes)} of free space`;
  }
}

export const describeConnection = (config: Config): CheckResult =>
  isExposedWithoutTls(config)
    ? warning(
        "traffic is not encrypted, including passwords and recordings: set tls_cert and tls_key, or listen on 127.0.0.1 behind a TLS proxy",
      )
    : ok(config.tlsCert === null ? "reachable from this machine, or through a TLS proxy" : "TLS");
