/**
 * The messages between the head and its workers: one schema for each, which both ends check. Every text, list and
 * number is bounded. Pure.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { getChecker, oneOf, orNull, strictObject } from "./schema-parts";
import { SANDBOX_MODES } from "./states";
import { EXECUTION_KINDS, MAX_COPIED_ASSETS, MAX_OUTPUT_FILES, MAX_REASON_LENGTH, WORKER_JOBS } from "./workers";

const MAX_SLOTS = 256;
const MAX_LANGUAGES = 300;
const MAX_FILES = 100_000;
const MAX_KEY_CHARACTERS = 500;

const uuid = Type.String({
  pattern: "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
  errorText: "must be a UUID",
});
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const positive = Type.Number({ exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const shortText = (maxLength: number) => Type.String({ minLength: 1, maxLength });

/** One path component that no file system reads as something else. */
export const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const fileName = Type.String({ pattern: FILE_NAME.source });

/** Fields that every version of the protocol announces. */
export const programMessage = Type.Object({ protocol: Type.Integer({ minimum: 0 }), version: shortText(64) });
export type WorkerProgram = Static<typeof programMessage>;

/**
 * Response of the head to the check of a token. `isOnline`: the token's worker is running. `time`: the head's clock, in
 * milliseconds since 1970.
 */
export const tokenCheckMessage = Type.Object({
  name: Type.String(),
  version: Type.String(),
  isOnline: Type.Boolean(),
  time: Type.Number(),
});
export type TokenCheck = Static<typeof tokenCheckMessage>;

/**
 * Properties of a place that affect its encoded chunks. All places that encode chunks of one render have the same ones.
 */
const encodingFacts = strictObject({
  ffmpeg: shortText(200),
  libavutil: Type.Integer({ minimum: 0 }),
  encoder: shortText(64),
  hasZscale: Type.Boolean(),
});
export type EncodingFacts = Static<typeof encodingFacts>;

/** `reason`: why the mode is not `bwrap`, null when it is. */
const sandboxFacts = strictObject({ mode: oneOf(...SANDBOX_MODES), reason: orNull(shortText(MAX_REASON_LENGTH)) });
export type SandboxFacts = Static<typeof sandboxFacts>;

/**
 * Announcement of a worker when it joins. `bootId`: a new UUID at each start of the worker. `slots`: how many
 * executions it runs at the same time. `languages`: of its speech models, as ISO 639-1 codes.
 */
export const announcementMessage = strictObject({
  protocol: Type.Integer({ minimum: 0 }),
  version: shortText(64),
  bootId: uuid,
  jobs: Type.Array(oneOf(...WORKER_JOBS), { minItems: 1, maxItems: WORKER_JOBS.length, uniqueItems: true }),
  slots: Type.Integer({ minimum: 1, maximum: MAX_SLOTS }),
  encoding: encodingFacts,
  sandbox: sandboxFacts,
  languages: Type.Array(shortText(16), { maxItems: MAX_LANGUAGES }),
  freeBytes: count,
});
export type WorkerAnnouncement = Static<typeof announcementMessage>;

/**
 * `queue` is the name of the worker's queue. After `lostAfterMs` without a heartbeat, the head assigns the worker's
 * executions to other workers.
 */
export const membershipMessage = Type.Object({
  workerId: Type.String(),
  queue: Type.String(),
  heartbeatMs: positive,
  lostAfterMs: positive,
});
export type Membership = Static<typeof membershipMessage>;

/** The process of a worker that calls. */
export const bootMessage = strictObject({ workerId: uuid, bootId: uuid });
export type WorkerBoot = Static<typeof bootMessage>;

/** `hasRedis`: false when Redis does not answer the worker. `progress` is 0 to 1; null before the first report. */
export const heartbeatMessage = strictObject({
  ...bootMessage.properties,
  freeBytes: count,
  hasRedis: Type.Optional(Type.Boolean()),
  running: Type.Array(strictObject({ execution: uuid, progress: orNull(Type.Number({ minimum: 0, maximum: 1 })) }), {
    maxItems: 2 * MAX_SLOTS,
  }),
});
export type WorkerHeartbeat = Static<typeof heartbeatMessage>;

/** IDs of executions that must end at once, and of those that must end at their next safe point. */
export const heartbeatAnswerMessage = Type.Object({
  isDraining: Type.Boolean(),
  abort: Type.Array(Type.String()),
  yield: Type.Array(Type.String()),
});
export type HeartbeatAnswer = Static<typeof heartbeatAnswerMessage>;

/** Assets that a worker has copies of, and those of them that were deleted. It asks again for more. */
export const copiesMessage = strictObject({ assets: Type.Array(uuid, { maxItems: MAX_COPIED_ASSETS }) });
export const deletedMessage = Type.Object({ deleted: Type.Array(Type.String()) });

/** Executions that a worker has work folders of, and those of them whose steps have ended. */
export const executionsMessage = strictObject({ executions: Type.Array(uuid, { maxItems: MAX_COPIED_ASSETS }) });
export const endedMessage = Type.Object({ ended: Type.Array(Type.String()) });

/** Message in Redis: the URL from which a worker fetches one execution. */
export const ticketMessage = Type.Object({ execution: uuid, url: Type.String() });
export type Ticket = Static<typeof ticketMessage>;

/**
 * A file of an execution. `role`: read by it, left by an earlier attempt in its output folder, or in its work folder.
 * `key` names the content: equal keys are equal bytes. `modifiedAt` in whole seconds since 1970.
 */
const executionFile = Type.Object({
  name: fileName,
  role: oneOf("input", "output", "work"),
  bytes: count,
  key: shortText(MAX_KEY_CHARACTERS),
  modifiedAt: count,
});
export type ExecutionFile = Static<typeof executionFile>;

/**
 * Description of an execution that a worker receives at its start. `asset`: UUID of the recording; when it is deleted,
 * so are the worker's copies of its files. `owner` is a different opaque value for each workspace. `input`: the input
 * of the kind's `run`.
 */
export const manifestMessage = Type.Object({
  execution: uuid,
  kind: oneOf(...EXECUTION_KINDS),
  asset: uuid,
  owner: Type.String(),
  input: Type.Object({}),
  files: Type.Array(executionFile, { maxItems: MAX_FILES }),
});
export type ExecutionManifest = Omit<Static<typeof manifestMessage>, "input"> & { input: unknown };

/** A file that a worker has sent. `sha256` in hexadecimal digits. */
const sentFile = strictObject({
  name: shortText(200),
  bytes: count,
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type SentFile = Static<typeof sentFile>;
const sentFiles = Type.Array(sentFile, { maxItems: MAX_OUTPUT_FILES });

export const checkpointMessage = strictObject({ checkpoint: Type.Unknown(), files: sentFiles });

/**
 * Result of an execution. The status determines which fields are present. `error` as in
 * `work/job-child/error-codec.ts`.
 */
export const resultMessage = strictObject({
  status: oneOf("completed", "failed", "yielded", "released"),
  output: Type.Optional(Type.Unknown()),
  files: Type.Optional(sentFiles),
  error: Type.Optional(Type.Object({})),
});
export type ExecutionResult = Static<typeof resultMessage>;

/** Returns the value if it matches the schema of the message, otherwise null. */
export const parseMessage = <S extends TSchema>(schema: S, value: unknown): Static<S> | null =>
  getChecker(schema).Check(value) ? value : null;
