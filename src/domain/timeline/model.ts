/** The one timeline that every export format is written from. Frames everywhere: whole numbers of the timeline's rate. */
import type { RemovalReason } from "../plan";
import type { Rational } from "../time";
import type { Timebase } from "./frame-rate";
import type { MediaLocation } from "./media-location";

/** `tight`: the kept parts, end to end. `review`: the whole recording, removed parts disabled, the other takes above. */
export type ExportLayout = "tight" | "review";

/** A stretch of the source on the timeline. `record` counts from the timeline's start, `source` from the file's first frame. */
export type Clip = {
  record: number;
  source: number;
  length: number;
  enabled: boolean;
  /** Why it was removed; null for kept parts and other takes. */
  reason: RemovalReason | null;
  /** What is said in it, or which take it is. */
  text: string;
  /** Why an editor should look at it. */
  review: string | null;
};

/** `join`: what was removed here; `review`: what an editor should look at. `length` is that of the stretch it speaks of. */
export type Marker = { record: number; length: number; kind: "join" | "review"; text: string };

export type TimelineMedia = MediaLocation & {
  /** The file's name, which editors find the media by. */
  name: string;
  /** The file's own constant rate; the timeline's when the file has none. */
  rate: Rational;
  /** The whole length in frames of the timeline, and in frames of `rate`. */
  length: number;
  nativeLength: number;
  /**
   * The file's start timecode, as frames from 00:00:00:00: counted at the timeline's rate, and at `rate`. `dropFrame` is how labels of the
   * source side are written on the timeline.
   */
  start: { frame: number; nativeFrame: number; dropFrame: boolean };
  video: { width: number; height: number; colorSpace: string | null } | null;
  audio: { channels: number; sampleRate: number } | null;
};

export type Timeline = {
  layout: ExportLayout;
  /** What the project is called. */
  title: string;
  rate: Rational;
  timebase: Timebase;
  dropFrame: boolean;
  length: number;
  /** The main track: end to end from 0 without gaps, in record order. Its record offsets are running sums of its lengths. */
  clips: Clip[];
  /** Tracks above it with the other takes, all disabled; each sorted and free of overlaps. */
  alternates: Clip[][];
  markers: Marker[];
  media: TimelineMedia;
  /** What the user should know about this export. */
  warnings: string[];
};

/** The frame after a clip on the timeline. */
export const getRecordEnd = (clip: Clip): number => clip.record + clip.length;
