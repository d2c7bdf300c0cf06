/** Sources and plans for the tests of the exports. */
import fc from "fast-check";
import type { MediaInfo } from "../../../../src/domain/media";
import type { PlanJson } from "../../../../src/domain/plan-json";
import type { RemovalReason } from "../../../../src/domain/planning/rules";
import { type FrameTimes, getFrameTime, TICKS_PER_SECOND, toSeconds } from "../../../../src/domain/time";
import { labelFrames, type Rate } from "./readers";

export const RATES: Record<string, Rate> = {
  "23.976": { num: 24_000, den: 1001 },
  "24": { num: 24, den: 1 },
  "25": { num: 25, den: 1 },
  "29.97": { num: 30_000, den: 1001 },
  "30": { num: 30, den: 1 },
  "59.94": { num: 60_000, den: 1001 },
};

export const STRANGE_NAMES = [
  "talk.mp4",
  "two words & more.mov",
  `"quoted" it's <b>.mp4`,
  "Vortrag über Käse 🎬.mkv",
  "100% done #1 ?x=y;z.mp4",
  "a: b|c*d.mp4",
  "講演 第一回.mp4",
  "=cmd.csv.mp4",
  "no extension",
  "]]>--><!--.mp4",
];

/** `channels` 0: no audio. `rate` null: no video. */
export function mediaInfo(options: {
  rate: Rate | null;
  channels: number;
  timecode: string | null;
  seconds: number;
}): MediaInfo {
  const { rate, channels, timecode, seconds } = options;
  return {
    type: rate ? "video" : "audio",
    demuxer: "mov",
    duration: Math.round(seconds * TICKS_PER_SECOND),
    startPts: 0,
    video: rate && {
      codec: "h264",
      width: 1920,
      height: 1080,
      codedWidth: 1920,
      codedHeight: 1080,
      rotation: 0,
      pixelAspect: { num: 1, den: 1 },
      frameRate: rate,
      variable: false,
      bitrate: null,
      pixelFormat: "yuv420p",
      bitDepth: 8,
      color: { primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv" },
      interlaced: false,
    },
    audio:
      channels === 0
        ? []
        : [{ index: 0, codec: "aac", sampleRate: 48_000, channels, bitrate: null, language: null, title: null }],
    timecode,
  };
}

export const constantFrames = (rate: Rate, count: number): FrameTimes => ({ kind: "constant", rate, first: 0, count });

/** A stretch of `frames` frames, kept or removed. */
export type Stretch = { keep: boolean; frames: number };

const REASONS: RemovalReason[] = ["silence", "filler", "retake", "off_script", "noise", "manual"];

/** Returns the plan that keeps and removes these stretches in order. Adjacent stretches of one kind stay separate. */
export function planOf(stretches: readonly Stretch[], frames: FrameTimes, takes: PlanJson["takes"] = []): PlanJson {
  const plan: PlanJson = {
    source_duration: 0,
    kept_duration: 0,
    frame_rate: frames.rate,
    segments: [],
    removed: [],
    takes,
    missing: [],
    warnings: [],
  };
  let at = 0;
  for (const [i, { keep, frames: count }] of stretches.entries()) {
    const [start, end] = [toSeconds(getFrameTime(frames, at)), toSeconds(getFrameTime(frames, at + count))];
    if (keep) {
      const review = i % 3 === 0 ? `look at "${i}" & <decide>` : null;
      plan.segments.push({ start, end, start_frame: at, end_frame: at + count, text: `Part ${i}.`, review });
      plan.kept_duration += end - start;
    } else
      plan.removed.push({ start, end, reason: REASONS[i % REASONS.length]!, rule: null, text: "um, <no> & \u0007 no" });
    at += count;
  }
  plan.source_duration = toSeconds(getFrameTime(frames, at));
  return plan;
}

/** At least one kept stretch. Kept stretches are never adjacent. */
export const stretches = fc
  .array(fc.record({ keep: fc.boolean(), frames: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 400 })) }), {
    minLength: 1,
    maxLength: 25,
  })
  .map((list) => list.filter((each, i) => !each.keep || !list[i - 1]?.keep))
  .filter((list) => list.some(({ keep }) => keep));

/** A start timecode that is valid at the rate, sometimes with drop frames where these exist. */
export const timecode = (rate: Rate): fc.Arbitrary<string | null> => {
  const base = Math.round(rate.num / rate.den);
  const two = (value: number) => String(value).padStart(2, "0");
  const canDrop = rate.den === 1001 && base !== 24;
  return fc.option(
    fc
      .tuple(fc.nat(21), fc.nat(59), fc.nat(59), fc.nat(base - 1), canDrop ? fc.boolean() : fc.constant(false))
      .map(([h, m, s, f, drop]) => {
        const isSkipped = drop && m % 10 !== 0 && s === 0 && f < base / 15;
        return `${two(h)}:${two(m)}:${two(isSkipped ? 1 : s)}${drop ? ";" : ":"}${two(f)}`;
      }),
  );
};

export const startFrames = (label: string | null, rate: Rate): number => (label ? labelFrames(label, rate) : 0);
