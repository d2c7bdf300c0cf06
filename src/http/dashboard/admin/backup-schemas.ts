/** The schemas of backups, for administrators. */
import { Type } from "@sinclair/typebox";
import { BACKUP_RUN_KINDS, BACKUP_RUN_STATES } from "../../../domain/states";
import { strictObject } from "../../fields";
import { enumeration, id, integer, orNull, text, time } from "../../schema-parts";

const run = strictObject({
  id,
  kind: enumeration(BACKUP_RUN_KINDS, "`drill`: the backup was restored to a scratch folder and tried out"),
  state: enumeration(BACKUP_RUN_STATES),
  name: orNull(text, "the name of the backup; null while it is being written"),
  path: Type.String({ description: "of the backup, or of the folder that it is written to" }),
  is_available: Type.Boolean({ description: "the backup exists and can be verified" }),
  files: orNull(integer),
  bytes: orNull(integer, "of all files"),
  copied_bytes: orNull(integer, "of the files that the previous backup lacks; null for other kinds"),
  checked_files: orNull(integer, "whose contents were read and compared; null for a backup"),
  balances: orNull(integer, "workspaces whose credits were compared; null but for a drill"),
  render_frames: orNull(integer, "of the render that was rendered again and compared; null without one"),
  error: orNull(text, "why it failed"),
  started_at: time,
  ended_at: orNull(time),
});

const settings = strictObject({
  backup_to: orNull(text, "null: no backups are made, set it to a folder on another disk"),
  backup_at: Type.String({ description: "local time of the server, such as 02:00" }),
  backup_keep_daily: integer,
  backup_keep_weekly: integer,
  next_at: orNull(time, "when the next nightly backup is due"),
});

/** The schemas by their names in the OpenAPI documents. */
export const BACKUP_SCHEMAS = {
  BackupRun: run,
  BackupList: strictObject({
    items: Type.Array(run),
    total: Type.Integer({ description: "the items of all pages" }),
    limit: integer,
    offset: integer,
    running: orNull(run, "one at a time"),
    last_backup: orNull(run, "the last complete backup"),
    last_proven_restore: orNull(run, "the last drill without a problem"),
    last_failure: orNull(run, "the last failure, until a run of its kind succeeds"),
    settings,
  }),
};
