/** The timeline from which every export format is written. All positions and lengths are whole frames at the timeline's rate. */
import type { RemovalReason } from "../planning/rules";
import type { Rational } from "../time";
import type { Timebase } from "./frame-rate";
import type { MediaLocation } from "./media-location";

/** `tight`: the kept segments, end to end. `review`: the whole recording with removed spans disabled, and the alternate takes above. */
export type ExportLayout = "tight" | "review";

/** A span of the source on the timeline. `record` counts from the start of the timeline, `source` from the file's first frame. */
export type Clip = {
  record: number;
  source: number;
  length: number;
  enabled: boolean;
  /** Why it was removed; null for kept segments and alternate takes. */
  reason: RemovalReason | null;
  /** Its words, or which take it is. */
  text: string;
  /** Why an editor should look at it. */
  review: string | null;
};

/** `join`: what was removed here. `review`: what an editor should look at. `length`: the length of the span that it describes. */
export type Marker = { record: number; length: number; kind: "join" | "review"; text: string };

export type TimelineMedia = MediaLocation & {
  /** The file name by which editors find the media. */
  name: string;
  /** The file's own constant rate; the timeline's when the file has none. */
  rate: Rational;
  /** The file's length in frames of the timeline, and in frames of `rate`. */
  length: number;
  nativeLength: number;
  /**
   * The file's start timecode as frames from 00:00:00:00, at the timeline's rate and at `rate`. `dropFrame`: how source timecode is written
   * on the timeline.
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
  /** The main track: from 0 without gaps, in record order. Record offsets are running sums of the lengths. */
  clips: Clip[];
  /** Tracks above it with the alternate takes, all disabled; each track is sorted and without overlaps. */
  alternates: Clip[][];
  markers: Marker[];
  media: TimelineMedia;
  /** Warnings for the user about this export. */
  warnings: string[];
};

/** Returns the frame after a clip on the timeline. */
export const getRecordEnd = (clip: Clip): number => clip.record + clip.length;
