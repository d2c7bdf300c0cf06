/**
 * Reads the plan of a split render. A worker may have sent it, so that only numbers and names of the expected form are
 * taken from it.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ResolvedOutput } from "../../domain/media";
import { parseChunkSizes } from "../../media/chunks/sizes-file";
import type { VideoEncoder } from "../../media/encoder-arguments";
import type { SplitPlan } from "../../media/split-render";
import { AUDIO_NAME, CHUNK_NAME } from "../jobs/split-run";

const MAX_TASKS = 20_000;
/** Of one chunk. Planning makes 16 at most. */
const MAX_SEGMENTS = 64;
const MAX_FRAMES = 100_000_000;

const strict = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const frames = (minimum: number) => Type.Integer({ minimum, maximum: MAX_FRAMES });
const time = Type.Number({ minimum: 0 });
const rate = strict({ num: frames(1), den: frames(1) });
const bitrate = Type.Number({ minimum: 1 });

const segment = strict({ from: frames(0), to: frames(0), sourceStart: Type.Number(), outputStart: time });
const task = strict({
  chunk: strict({
    segments: Type.Array(segment, { minItems: 1, maxItems: MAX_SEGMENTS }),
    outputStart: time,
    outputEnd: time,
    frameCount: frames(1),
  }),
  timing: Type.Union([
    strict({ kind: Type.Literal("sequential"), rate }),
    strict({ kind: Type.Literal("resampled"), rate, phase: Type.Number() }),
  ]),
  frameCount: frames(1),
});

const planCheck = TypeCompiler.Compile(
  Type.Union([
    Type.Object({ strategy: Type.Literal("whole") }),
    strict({
      strategy: Type.Literal("chunked"),
      settings: strict({
        width: frames(1),
        height: frames(1),
        encoder: Type.String(),
        frameRate: rate,
        quality: Type.Union([strict({ bitrate }), strict({ maxBitrate: Type.Union([bitrate, Type.Null()]) })]),
        disableBFrames: Type.Boolean(),
      }),
      tasks: Type.Array(strict({ name: Type.String({ pattern: CHUNK_NAME.source }), task }), {
        minItems: 1,
        maxItems: MAX_TASKS,
      }),
      sizes: Type.Unknown(),
      frameCount: frames(1),
      audio: Type.Union([Type.String({ pattern: AUDIO_NAME.source }), Type.Null()]),
      seconds: time,
    }),
  ]),
);

/** Returns the plan if it is one of this output and of the encoder that the head knows. Throws a plain `Error`. */
export function parseSplitPlan(plan: unknown, { video, audio }: ResolvedOutput, encoder: string): SplitPlan {
  if (!planCheck.Check(plan)) throw invalid();
  if (plan.strategy === "whole") return { strategy: "whole" };
  const { settings, tasks, frameCount } = plan;
  const sizes = parseChunkSizes(plan.sizes, null);
  const isOfOutput =
    settings.width === video?.width && settings.height === video.height && (plan.audio === null) === (audio === null);
  const isComplete = tasks.reduce((sum, { task: { frameCount: count } }) => sum + count, 0) === frameCount;
  const areNamesUnique = new Set(tasks.map(({ name }) => name)).size === tasks.length;
  if (!isOfOutput || settings.encoder !== encoder || sizes === null || !isComplete || !areNamesUnique) throw invalid();
  return { ...plan, settings: { ...settings, encoder: encoder as VideoEncoder }, sizes };
}

const invalid = () => new Error("The plan of the split render is not valid.");
