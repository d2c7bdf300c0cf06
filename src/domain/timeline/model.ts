/** The timeline from which every export is written. All positions and lengths are in frames at the timeline's rate. */
import type { RemovalReason } from "../planning/rules";
import type { Rational } from "../time";
import type { Timebase } from "./frame-rate";
import type { MediaLocation } from "./media-location";

/** `tight`: kept segments end to end. `review`: the whole recording, removed spans disabled, alternate takes above. */
export type ExportLayout = "tight" | "review";

/** A span of the source. `record` counts from the timeline's start, `source` from the file's first frame. */
export type Clip = {
  record: number;
  source: number;
  length: number;
  enabled: boolean;
  /** Why the clip was removed; null for kept segments and alternate takes. */
  reason: RemovalReason | null;
  /** The clip's words, or the name of the take. */
  text: string;
  /** Why an editor should check the clip. */
  review: string | null;
};

/** `join` describes removed content, `review` content to check. `length` is the length of the described span. */
export type Marker = { record: number; length: number; kind: "join" | "review"; text: string };

export type TimelineMedia = MediaLocation & {
  /** The file name by which editors find the media. */
  name: string;
  /** The file's own constant rate, or the timeline's if it has none. */
  rate: Rational;
  /** The file's length, in frames of the timeline and in frames of `rate`. */
  length: number;
  nativeLength: number;
  /**
   * The file's start timecode as frames from 00:00:00:00, at the timeline's rate and at `rate`. `dropFrame` is the
   * notation of source timecode on the timeline.
   */
  start: { frame: number; nativeFrame: number; dropFrame: boolean };
  video: { width: number; height: number; colorSpace: string | null } | null;
  audio: { channels: number; sampleRate: number } | null;
};

export type Timeline = {
  layout: ExportLayout;
  /** Name of the project. */
  title: string;
  rate: Rational;
  timebase: Timebase;
  dropFrame: boolean;
  length: number;
  /** The main track: starts at 0, without gaps, in record order. Record offsets are running sums of the lengths. */
  clips: Clip[];
  /** Tracks above it with the alternate takes, all disabled. Each track is sorted and without overlaps. */
  alternates: Clip[][];
  markers: Marker[];
  media: TimelineMedia;
  warnings: string[];
};

/** Returns the frame after a clip on the timeline. */
export const getRecordEnd = (clip: Clip): number => clip.record + clip.length;

/** Returns the frame after a clip in the file. */
export const getSourceEnd = (clip: Clip): number => clip.source + clip.length;

/** Lists the tracks from the main one up. */
export const listLayers = ({ clips, alternates }: Timeline): Clip[][] => [clips, ...alternates];

export const getTimecodeFormats = ({ timebase: { base }, dropFrame, media }: Timeline) => ({
  record: { base, dropFrame },
  source: { base, dropFrame: media.start.dropFrame },
});
