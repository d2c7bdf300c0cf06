/** The schemas of backups, for administrators. */
import { Type } from "@sinclair/typebox";
import { enumeration, id, integer, orNull, strictObject, text, time } from "../../../domain/schema-parts";
import { BACKUP_RUN_KINDS, BACKUP_RUN_STATES } from "../../../domain/states";

const run = strictObject({
  id,
  kind: enumeration(BACKUP_RUN_KINDS, "`drill`: the backup was restored to a scratch folder and tested"),
  state: enumeration(BACKUP_RUN_STATES),
  name: orNull(text, "the name of the backup; null while it is being written"),
  path: Type.String({ description: "path of the backup, or of the folder to which it is written" }),
  is_available: Type.Boolean({ description: "whether the backup exists and can be verified" }),
  files: orNull(integer),
  bytes: orNull(integer, "total size of all files"),
  copied_bytes: orNull(integer, "size of the files that the previous backup lacks; null for other kinds"),
  checked_files: orNull(integer, "number of files whose contents were read and compared; null for a backup"),
  balances: orNull(integer, "number of workspaces whose credits were compared; null except for a drill"),
  render_frames: orNull(integer, "number of frames of the render that was repeated and compared; null without one"),
  error: orNull(text, "why the run failed"),
  started_at: time,
  ended_at: orNull(time),
});

const settings = strictObject({
  backup_to: orNull(text, "null if backups are disabled; set it to a folder on another disk"),
  backup_at: Type.String({ description: "local time of the server, such as 02:00" }),
  backup_keep_daily: integer,
  backup_keep_weekly: integer,
  next_at: orNull(time, "when the next nightly backup is due"),
});

export const BACKUP_SCHEMAS = {
  BackupRun: run,
  BackupList: strictObject({
    items: Type.Array(run),
    total: Type.Integer({ description: "number of items on all pages" }),
    limit: integer,
    offset: integer,
    running: orNull(run, "the current run; there is at most one"),
    last_backup: orNull(run, "the last complete backup"),
    last_proven_restore: orNull(run, "the last drill without a problem"),
    last_failure: orNull(
      run,
      "the last failure, until a run of its kind succeeds, or after a verification until the next backup to the same place",
    ),
    settings,
  }),
};
