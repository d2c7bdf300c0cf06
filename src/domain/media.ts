/** What a media file is, as probing finds it. Plain data: it is stored with the asset and handed to the planner and the renderer. */
import type { FrameTimes, Rational, Ticks } from "./time";

/** What the first bytes say, before the file is whole. `demuxer` is the ffmpeg demuxer that every later call is forced to use. */
export type SniffedMedia = { type: "audio" | "video"; extension: string; contentType: string; demuxer: string };

export type VideoStream = {
  /** ffmpeg's codec name: `h264`, `hevc`, `vp9`, … */
  codec: string;
  /** Pixels as shown: after rotation and with square pixels. */
  width: number;
  height: number;
  /** Pixels as stored. */
  codedWidth: number;
  codedHeight: number;
  /** Clockwise degrees a player turns the stored picture by. */
  rotation: 0 | 90 | 180 | 270;
  /** Width of a stored pixel over its height. */
  pixelAspect: Rational;
  /** The exact rate, snapped to a standard one when near; the mean rate when `variable`. */
  frameRate: Rational;
  variable: boolean;
  /** Bits per second, measured or declared; null when unknown. */
  bitrate: number | null;
  pixelFormat: string | null;
  bitDepth: number;
  /** ffmpeg's names, null when not tagged. */
  color: { primaries: string | null; transfer: string | null; matrix: string | null; range: "tv" | "pc" | null };
  interlaced: boolean;
};

export type AudioStream = {
  /** ffmpeg's index among the file's audio streams: the N of `0:a:N`. */
  index: number;
  codec: string;
  sampleRate: number;
  channels: number;
  /** Set when the channels have no known places, as those of a multitrack recorder. */
  discrete?: true;
  bitrate: number | null;
  language: string | null;
  title: string | null;
};

/**
 * The source's clock starts (0) at the earliest presentation time of its audio and video, which is `startPts` in the container.
 * All times in plans, transcripts and frame times are on this clock.
 */
export type MediaInfo = {
  type: "audio" | "video";
  /** The forced ffmpeg demuxer. */
  demuxer: string;
  duration: Ticks;
  startPts: Ticks;
  video: VideoStream | null;
  audio: AudioStream[];
  /** Start timecode `HH:MM:SS:FF` (`;` before the frames when drop-frame), null when the file has none. */
  timecode: string | null;
};

/** A probed file: what it is, and when its frames are shown (null without video). */
export type ProbedMedia = { info: MediaInfo; frames: FrameTimes | null };

/** What the finished file must be, with everything resolved; made by `resolveOutput` in `domain/render-output.ts`. */
export type ResolvedOutput = {
  format: "mp4" | "mov" | "m4a" | "mp3";
  /** Null for an audio output. Pixels as shown, even. `videoBitrate` null: by quality, as the source. */
  video: { width: number; height: number; frameRate: Rational | null; bitrate: number | null } | null;
  /** Null when the source has no sound. */
  audio: { bitrate: number } | null;
  /** Nothing but the segments differs from the source: what can be copied may be copied. */
  matchesSource: boolean;
};

/** What the renderer needs to know. `segments` null: the whole source. */
export type RenderRequest = {
  sourcePath: string;
  probed: ProbedMedia;
  segments: RenderSegment[] | null;
  output: ResolvedOutput;
  /** Kept between attempts, so that a repeated render goes on where it stopped; removed by the caller. */
  workDir: string;
  outputPath: string;
};

export type RenderSegment = { start: Ticks; end: Ticks; startFrame: number | null; endFrame: number | null };

export type RenderResult = {
  strategy: "smart" | "chunked" | "audio";
  /** How much of the picture was encoded anew, 0 to 1; null without a picture. */
  encodedShare: number | null;
  /** Why the picture was not copied, the first thing tried first; none when it was. */
  reasons: string[];
  sizeBytes: number;
  duration: Ticks;
  /** What had to change against the source, for the user. */
  warnings: string[];
};
