/** The schemas of workers on other machines, as administrators see them. */
import { Type } from "@sinclair/typebox";
import { enumeration, id, integer, orNull, strictObject, text, time } from "../../../domain/schema-parts";
import { SANDBOX_MODES, WORKER_RUN_OUTCOMES, WORKER_STATES } from "../../../domain/states";
import { EXECUTION_KINDS, WORKER_JOBS } from "../../../domain/workers";

const kind = enumeration(EXECUTION_KINDS, "`split`, `chunk` and `join` are parts of a long render");
const step = Type.String({ format: "uuid", description: "the ID of the job in `GET admin/jobs`" });
const subject = Type.String({ format: "uuid", description: "the asset, cut or render that the job works on" });

const worker = strictObject({
  id,
  name: text,
  state: enumeration(
    WORKER_STATES,
    "`draining`: accepts nothing new, and completes its current work. `no_redis`: reaches this server but not Redis, and accepts nothing new",
  ),
  version: text,
  jobs: Type.Array(enumeration(WORKER_JOBS)),
  slots: Type.Integer({ description: "maximum number of concurrent runs" }),
  current: Type.Array(
    strictObject({
      id,
      kind,
      job_id: step,
      subject_id: subject,
      progress: orNull(Type.Number(), "0 to 1; null before the first report"),
      started_at: time,
    }),
    { description: "its current work" },
  ),
  speed: orNull(Type.Number(), "seconds of video encoded per second; null until measured"),
  last_seen_at: time,
});

const token = strictObject({
  id,
  name: text,
  worker_id: orNull(id, "null if no worker has joined with it"),
  created_at: time,
  last_used_at: orNull(time),
});

export const WORKER_SCHEMAS = {
  AdminWorker: worker,
  AdminWorkerDetail: strictObject({
    ...worker.properties,
    is_draining: Type.Boolean({ description: "also set while it is offline" }),
    protocol: Type.Integer({ description: "the version of the job protocol" }),
    ffmpeg: text,
    encoder: text,
    sandbox: strictObject({ mode: enumeration(SANDBOX_MODES), reason: orNull(text, "why it is not bwrap") }),
    languages: Type.Array(text, { description: "languages of its speech models, as ISO 639-1 codes" }),
    free_bytes: integer,
    created_at: time,
    revoked_at: orNull(time),
    runs: Type.Array(
      strictObject({
        id,
        kind,
        job_id: step,
        subject_id: subject,
        outcome: enumeration(WORKER_RUN_OUTCOMES),
        media_seconds: orNull(
          Type.Number(),
          "duration of the chunk, or of the recording that was cut or rendered; null if unknown",
        ),
        started_at: time,
        ended_at: time,
      }),
      { description: "the last 200 ended runs, newest first, kept for 30 days" },
    ),
  }),
  AdminWorkerToken: token,
  CreatedWorkerToken: strictObject({
    ...token.properties,
    token: orNull(
      Type.String({ description: "for `offcut worker --token`" }),
      "shown only once; null in a response replayed for an Idempotency-Key",
    ),
  }),
};
