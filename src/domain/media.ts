/** The description of a media file from probing. Plain data that is stored and passed to planner and renderer. */
import type { FrameTimes, Rational, Ticks } from "./time";
import type { VoiceActivity } from "./voice-activity";

/** The type of a file by its first bytes. Every later call is forced to use the ffmpeg demuxer `demuxer`. */
export type SniffedMedia = { type: "audio" | "video"; extension: string; contentType: string; demuxer: string };

export type VideoStream = {
  /** ffmpeg's codec name: `h264`, `hevc`, `vp9`, … */
  codec: string;
  /** Display size in pixels, after rotation and with square pixels. */
  width: number;
  height: number;
  /** Size of the coded pictures. */
  codedWidth: number;
  codedHeight: number;
  /** Rotation by the player, in degrees clockwise. */
  rotation: 0 | 90 | 180 | 270;
  /** Pixel aspect ratio: the width of a coded pixel over its height. */
  pixelAspect: Rational;
  /** The exact rate, snapped to a standard one if close; the mean rate if `variable`. */
  frameRate: Rational;
  variable: boolean;
  /** Bits per second, measured or declared; null if unknown. */
  bitrate: number | null;
  pixelFormat: string | null;
  bitDepth: number;
  /** Named as in ffmpeg; null if not tagged. */
  color: { primaries: string | null; transfer: string | null; matrix: string | null; range: "tv" | "pc" | null };
  interlaced: boolean;
};

export type AudioStream = {
  /** ffmpeg's index among the file's audio streams: N in `0:a:N`. */
  index: number;
  codec: string;
  sampleRate: number;
  channels: number;
  /** Set when the channels have no speaker positions, as in files from a multitrack recorder. */
  discrete?: true | undefined;
  bitrate: number | null;
  language: string | null;
  title: string | null;
};

/**
 * The source's clock starts (0) at the earliest presentation time of its audio and video, which is `startPts` in the
 * container. All times in plans, transcripts and frame times are on this clock.
 */
export type MediaInfo = {
  type: "audio" | "video";
  /** The forced ffmpeg demuxer. */
  demuxer: string;
  duration: Ticks;
  startPts: Ticks;
  video: VideoStream | null;
  audio: AudioStream[];
  /** Start timecode `HH:MM:SS:FF` (`;` before the frames for drop-frame); null if the file has none. */
  timecode: string | null;
};

/** A probed file and its frame times (null without video). */
export type ProbedMedia = { info: MediaInfo; frames: FrameTimes | null };

/** Returns the frame rate of a recording's plans; null without video. */
export const findPlanFrameRate = ({ info, frames }: ProbedMedia): Rational | null =>
  frames ? (info.video?.frameRate ?? frames.rate) : null;

export const NOISE_REDUCTION_MODES = ["light", "strong"] as const;
export type NoiseReduction = (typeof NOISE_REDUCTION_MODES)[number];

/** What a render does with the audio besides encoding it. Without a field, it does nothing. */
export type AudioProcessing = {
  /** The integrated loudness of the output, in LUFS. */
  loudness?: number;
  noiseReduction?: NoiseReduction;
  /** Evens out the levels of takes and voices. */
  levelSpeakers?: true;
};

/** The output of a render with every field resolved; created by `resolveOutput` in `domain/render-output.ts`. */
export type ResolvedOutput = {
  format: "mp4" | "mov" | "m4a" | "mp3";
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
