/** Backups, their verifications and drills, for administrators. */
import { basename, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { MANIFEST_NAME, parseBackupName } from "../../../domain/backup";
import { conflict } from "../../../domain/errors";
import { isOffsite } from "../../../domain/offsite";
import { oneOf, strictObject } from "../../../domain/schema-parts";
import { BACKUP_RUN_KINDS } from "../../../domain/states";
import { findFileSize } from "../../../lib/file-size";
import { type BackupRun, findBackupRun, listBackupRuns } from "../../../store/backup-runs";
import { createRunRecorder, readBackupStatus } from "../../../work/backup/backup-status";
import type { RecordRun, StartedBackupRun } from "../../../work/backup/backups";
import { withIdempotencyKey } from "../../../work/idempotency";
import { type Call, ok, type Reply } from "../../call";
import { offsetParameters } from "../../list-route";
import { respondsWith } from "../../response-docs";
import { type ResourceLoader, route } from "../../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../../schemas";
import { toCallActor } from "../sign-in-client";

async function showRun(run: BackupRun): Promise<Resource<"BackupRun">> {
  const { figures } = run;
  const name = basename(run.path);
  const isNamed = parseBackupName(name) !== null;
  return showRow(SCHEMAS.BackupRun, run, {
    name: isNamed ? name : null,
    is_available: isNamed && (await isAvailable(run)),
    files: figures?.files ?? null,
    bytes: figures?.bytes ?? null,
    copied_bytes: figures?.copied_bytes ?? null,
    checked_files: figures?.checked_files ?? null,
    balances: figures?.balances ?? null,
    render_frames: figures?.render_frames ?? null,
  });
}

const showOrNull = async (run: BackupRun | null) => (run === null ? null : await showRun(run));

/** A pruned backup, or one whose disk is offline, has no manifest. A bucket is queried only by a verification. */
const isAvailable = async ({ path, state }: BackupRun): Promise<boolean> =>
  isOffsite(path) ? state === "completed" : (await findFileSize(join(path, MANIFEST_NAME)).catch(() => null)) !== null;

export const list = route({
  summary: "List backups, their verifications and drills, newest first, with the state of the backups",
  query: strictObject({ ...offsetParameters, kind: Type.Optional(oneOf(...BACKUP_RUN_KINDS)) }),
  responses: { 200: respondsWith("BackupList", "A page of runs, and a summary of the newest ones") },
  handle: async ({ services }, { query: { limit, offset, kind } }) => {
    const { rows, total } = await listBackupRuns(services.store.read, { kind }, { limit, offset });
    const status = await readBackupStatus(services);
    const { backupTo, backupAt, backupKeepDaily, backupKeepWeekly } = services.config;
    return ok({
      items: await Promise.all(rows.map(showRun)),
      total,
      limit,
      offset,
      running: await showOrNull(status.running),
      last_backup: await showOrNull(status.lastBackup),
      last_proven_restore: await showOrNull(status.lastProvenRestore),
      last_failure: await showOrNull(status.lastFailure),
      settings: {
        backup_to: backupTo,
        backup_at: backupAt,
        backup_keep_daily: backupKeepDaily,
        backup_keep_weekly: backupKeepWeekly,
        next_at: formatTime(status.nextAt),
      },
    } satisfies Resource<"BackupList">);
  },
});

/** Returns the folder of the backups. Throws `AppError` `conflict` when none is configured. */
function requireTarget({ services }: Call): string {
  const { backupTo } = services.config;
  if (backupTo !== null) return backupTo;
  throw conflict("No backup folder is configured. Set backup_to and restart Offcut.");
}

/** Starts a run and responds with its row, from which the audit log and a stored reply are also written. */
async function respondWithRun(
  call: Call,
  start: (record: RecordRun) => Promise<StartedBackupRun<unknown>>,
): Promise<Reply> {
  const { now } = call.services;
  const recordActor = createRunRecorder(toCallActor(call), now);
  let reply: Reply | null = null;
  await start(async (tx, run) => {
    await recordActor(tx, run);
    const shown = await showRun(run);
    const respond = async () => ({ status: 202, body: shown, headers: {} });
    reply = await withIdempotencyKey(tx, call.idempotency, now(), respond);
  });
  return reply!;
}

const START = { idempotent: true, errors: ["conflict" as const] };

export const create = route({
  ...START,
  summary: "Start a backup to the configured folder",
  responses: { 202: respondsWith("BackupRun", "The backup, which is `running`") },
  handle: async (call) => {
    const options = { target: requireTarget(call), hasMedia: true };
    return respondWithRun(call, (record) => call.services.backups.create(options, record));
  },
});

export const drill = route({
  ...START,
  summary:
    "Prove that the newest backup can be restored: restore it to a scratch folder, start a server on it and check it",
  responses: { 202: respondsWith("BackupRun", "The drill, which is `running`") },
  handle: async (call) => {
    const options = { path: requireTarget(call) };
    return respondWithRun(call, (record) => call.services.backups.drill(options, record));
  },
});

const load: ResourceLoader<BackupRun> = {
  name: "Backup",
  find: async ({ services, params }) => {
    const run = await findBackupRun(services.store.read, params.run_id!);
    return run?.kind === "backup" ? run : null;
  },
};

export const verify = route({
  ...START,
  summary: "Verify a backup: read all of its files and compare them with its manifest",
  load,
  responses: { 202: respondsWith("BackupRun", "The verification, which is `running`") },
  handle: async (call, { resource }) => {
    const { path, state } = resource;
    if (state !== "completed") throw conflict("Only a complete backup can be verified.");
    if (!(await isAvailable(resource)))
      throw conflict(`${path} does not exist. It was removed, or its disk is not connected.`);
    return respondWithRun(call, (record) => call.services.backups.verify({ path, sample: 1 }, record));
  },
});
