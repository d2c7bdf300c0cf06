/** The description of a media file from probing. Plain data that is stored and passed to planner and renderer. */
import type { Static } from "@sinclair/typebox";
import type { audioStream, mediaInfo, sniffedMedia, videoStream } from "./probe-schema";
import type { FrameTimes, Rational, Ticks } from "./time";
import type { VoiceActivity } from "./voice-activity";

/** The type of a file by its first bytes. Every later call is forced to use the ffmpeg demuxer `demuxer`. */
export type SniffedMedia = Static<typeof sniffedMedia>;

export type VideoStream = Static<typeof videoStream>;
export type AudioStream = Static<typeof audioStream>;

/**
 * The source's clock starts (0) at the earliest presentation time of its audio and video, which is `startPts` in the
 * container. All times in plans, transcripts and frame times are on this clock.
 */
export type MediaInfo = Static<typeof mediaInfo>;

/** A probed file and its frame times (null without video). */
export type ProbedMedia = { info: MediaInfo; frames: FrameTimes | null };

/** Returns the frame rate of a recording's plans; null without video. */
export const findPlanFrameRate = ({ info, frames }: ProbedMedia): Rational | null =>
  frames ? (info.video?.frameRate ?? frames.rate) : null;

export const NOISE_REDUCTION_MODES = ["light", "strong"] as const;
export type NoiseReduction = (typeof NOISE_REDUCTION_MODES)[number];
export const NOISE_REDUCTIONS = ["off", ...NOISE_REDUCTION_MODES] as const;

export const OUTPUT_FORMATS = ["mp4", "mov", "m4a", "mp3"] as const;

/** Audio processing of a render, apart from encoding. An absent field disables that step. */
export type AudioProcessing = {
  /** The integrated loudness of the output, in LUFS. */
  loudness?: number;
  noiseReduction?: NoiseReduction;
  /** Evens out the levels of takes and voices. */
  levelSpeakers?: true;
};

/** The output of a render with every field resolved; created by `resolveOutput` in `domain/render-output.ts`. */
export type ResolvedOutput = {
  format: (typeof OUTPUT_FORMATS)[number];
  /** Null for audio. Even display size; `frameRate` null: the source's times; `bitrate` null: constant quality. */
  video: { width: number; height: number; frameRate: Rational | null; bitrate: number | null } | null;
  /** Null if the source has no audio. */
  audio: ({ bitrate: number } & AudioProcessing) | null;
  /** Whether only the segments differ from the source, so that packets may be copied. */
  matchesSource: boolean;
};

/** The input of the renderer. `segments` null renders the whole source. */
export type RenderRequest = {
  sourcePath: string;
  probed: ProbedMedia;
  segments: RenderSegment[] | null;
  output: ResolvedOutput;
  /** For noise reduction. Null or missing: unknown. */
  voice?: VoiceActivity | null;
  /** Kept between attempts, so that a repeated render resumes. The caller removes it. */
  workDir: string;
  outputPath: string;
};

export type RenderSegment = { start: Ticks; end: Ticks; startFrame: number | null; endFrame: number | null };

export type RenderResult = {
  strategy: "smart" | "chunked" | "audio";
  /** Share of the video that was encoded, 0 to 1; null without video. */
  encodedShare: number | null;
  /** Why the video was not copied, in the order of the strategies tried; if it was, what else was changed. */
  reasons: string[];
  sizeBytes: number;
  duration: Ticks;
  /** Differences from the source, for the user. */
  warnings: string[];
  /** Whether parts that earlier renders have encoded were used. */
  usesCache: boolean;
};
