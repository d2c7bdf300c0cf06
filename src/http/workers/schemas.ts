/** The bodies that workers send. Every text, list and number is bounded. */
import { Type } from "@sinclair/typebox";
import { SANDBOX_MODES } from "../../domain/states";
import { MAX_COPIED_ASSETS, MAX_REASON_LENGTH, WORKER_JOBS } from "../../domain/workers";
import { MAX_OUTPUT_FILES } from "../../work/cluster/incoming-files";
import { nullable, oneOf, strictObject, uuidField } from "../fields";

const MAX_SLOTS = 256;
const MAX_LANGUAGES = 300;

const bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const shortText = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const workerId = uuidField("ID of the worker");
const bootId = uuidField("ID of the worker's process");

/** What every version of the protocol announces. */
export const versionSchema = Type.Object({ protocol: Type.Integer({ minimum: 0 }), version: shortText(64) });

export const announcementSchema = strictObject({
  protocol: Type.Integer({ minimum: 0 }),
  version: shortText(64),
  boot_id: bootId,
  jobs: Type.Array(oneOf(...WORKER_JOBS), { minItems: 1, maxItems: WORKER_JOBS.length, uniqueItems: true }),
  slots: Type.Integer({ minimum: 1, maximum: MAX_SLOTS }),
  encoding: strictObject({
    ffmpeg: shortText(200),
    libavutil: Type.Integer({ minimum: 0 }),
    encoder: shortText(64),
    has_zscale: Type.Boolean(),
  }),
  sandbox: strictObject({ mode: oneOf(...SANDBOX_MODES), reason: nullable(shortText(MAX_REASON_LENGTH)) }),
  languages: Type.Array(shortText(16), { maxItems: MAX_LANGUAGES }),
  free_bytes: bytes,
});

const progress = nullable(Type.Number({ minimum: 0, maximum: 1 }));

export const heartbeatSchema = strictObject({
  worker_id: workerId,
  boot_id: bootId,
  free_bytes: bytes,
  has_redis: Type.Optional(Type.Boolean()),
  running: Type.Array(strictObject({ execution: uuidField("ID of an execution"), progress }), {
    maxItems: 2 * MAX_SLOTS,
  }),
});

export const bootSchema = strictObject({ worker_id: workerId, boot_id: bootId });

/** Assets that a worker has copies of. It asks again for more. */
export const copiesSchema = strictObject({
  assets: Type.Array(uuidField("ID of an asset"), { maxItems: MAX_COPIED_ASSETS }),
});

/** Executions that a worker has work folders of. */
export const endedSchema = strictObject({
  executions: Type.Array(uuidField("ID of an execution"), { maxItems: MAX_COPIED_ASSETS }),
});

const sentFiles = Type.Array(
  strictObject({ name: shortText(200), bytes, sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }) }),
  { maxItems: MAX_OUTPUT_FILES },
);

export const checkpointSchema = strictObject({ checkpoint: Type.Unknown(), files: sentFiles });

/** Which fields are there depends on the status. */
export const resultSchema = strictObject({
  status: oneOf("completed", "failed", "yielded", "released"),
  output: Type.Optional(Type.Unknown()),
  files: Type.Optional(sentFiles),
  error: Type.Optional(Type.Object({})),
});
