/** The shapes of what workers report. A hijacked worker could send anything, and what is stored is shown and computed with. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { MediaInfo, SniffedMedia } from "../../domain/media";
import { MAX_PLAN_FILE_BYTES } from "../../domain/plan-file";
import type { CutOutput } from "../jobs/cut-run";
import type { RenderOutput } from "../jobs/render-run";

/** A worker reported something that no run returns. Another attempt may run elsewhere. */
export class InvalidResultError extends Error {
  constructor(what: string) {
    super(`The worker's result is not valid: ${what}`);
    this.name = "InvalidResultError";
  }
}

const text = (maxLength: number) => Type.String({ maxLength });
const textOrNull = (maxLength: number) => Type.Union([text(maxLength), Type.Null()]);
const count = (maximum = Number.MAX_SAFE_INTEGER) => Type.Integer({ minimum: 0, maximum });
const countOrNull = Type.Union([Type.Number({ minimum: 0, maximum: 1e12 }), Type.Null()]);
const ticks = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const ratio = Type.Object({ num: Type.Integer({ minimum: 1 }), den: Type.Integer({ minimum: 1 }) });
const side = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const mediaType = Type.Union([Type.Literal("audio"), Type.Literal("video")]);
const MAX_STREAMS = 1_000;

const videoStream = Type.Object({
  codec: text(64),
  width: side,
  height: side,
  codedWidth: side,
  codedHeight: side,
  rotation: Type.Union([Type.Literal(0), Type.Literal(90), Type.Literal(180), Type.Literal(270)]),
  pixelAspect: ratio,
  frameRate: ratio,
  variable: Type.Boolean(),
  bitrate: countOrNull,
  pixelFormat: textOrNull(64),
  bitDepth: count(64),
  color: Type.Object({
    primaries: textOrNull(64),
    transfer: textOrNull(64),
    matrix: textOrNull(64),
    range: Type.Union([Type.Literal("tv"), Type.Literal("pc"), Type.Null()]),
  }),
  interlaced: Type.Boolean(),
});

const audioStream = Type.Object({
  index: count(MAX_STREAMS),
  codec: text(64),
  sampleRate: count(10_000_000),
  channels: count(1_024),
  discrete: Type.Optional(Type.Literal(true)),
  bitrate: countOrNull,
  language: textOrNull(256),
  title: textOrNull(4_096),
});

const mediaInfo = Type.Object({
  type: mediaType,
  demuxer: text(64),
  duration: count(),
  startPts: ticks,
  video: Type.Union([videoStream, Type.Null()]),
  audio: Type.Array(audioStream, { maxItems: MAX_STREAMS }),
  timecode: textOrNull(32),
});

const probeFacts = Type.Object({
  info: mediaInfo,
  sniffed: Type.Object({
    type: mediaType,
    extension: Type.String({ pattern: "^[a-z0-9]{1,16}$" }),
    contentType: Type.String({ pattern: "^(audio|video)/[A-Za-z0-9.+-]{1,64}$" }),
    demuxer: text(64),
  }),
});

const renderFacts = Type.Object({
  strategy: Type.Union([Type.Literal("smart"), Type.Literal("chunked"), Type.Literal("audio")]),
  encodedShare: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
  reasons: Type.Array(text(1_000), { maxItems: 100 }),
  warnings: Type.Array(text(4_096), { maxItems: 100 }),
  madeWith: Type.Optional(text(200)),
  encoding: Type.Optional(
    Type.Object({ frames: count(), seconds: Type.Number({ minimum: 0, maximum: 1e9 }), processes: count(4_096) }),
  ),
});

const cutResult = Type.Object({
  plan: text(MAX_PLAN_FILE_BYTES),
  recognized: Type.Object({ windows: count(), audio_ms: count(), duration_ms: count() }),
});

/** Returns only the properties that the schema has. */
function parse<S extends TSchema>(schema: S, value: unknown, what: string): Static<S> {
  if (!Value.Check(schema, value)) throw new InvalidResultError(what);
  return Value.Clean(schema, structuredClone(value)) as Static<S>;
}

/** Returns whether it is what a probe finds. */
export const isMediaInfo = (value: unknown): value is MediaInfo => Value.Check(mediaInfo, value);

/** Returns what a probe found. Throws `InvalidResultError`. */
export const requireProbeFacts = (value: unknown): { info: MediaInfo; sniffed: SniffedMedia } =>
  parse(probeFacts, value, "probe result");

/** Returns what a render reports about its file. Throws `InvalidResultError`. */
export const parseRenderFacts = (value: unknown): Omit<RenderOutput, "blobs"> =>
  parse(renderFacts, value, "render result");

/** Returns the plan of a cut as a text that is not checked. Throws `InvalidResultError`. */
export const parseCutResult = (value: unknown): Pick<CutOutput, "plan" | "recognized"> =>
  parse(cutResult, value, "cut result");
