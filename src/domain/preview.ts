/** The preview of an asset, which pages play, draw and cut. */
import type { VideoStream } from "./media";

/** The MIME types of previews, and of pieces that are encoded on request. */
export const PREVIEW_TYPES = {
  video: 'video/mp4; codecs="avc1.640028"',
  audio: 'audio/mp4; codecs="mp4a.40.2"',
} as const;

/** Thumbnails on JPEG sheets. Thumbnail n shows the recording at `n * interval` seconds. */
export type Storyboard = {
  interval: number;
  count: number;
  width: number;
  height: number;
  columns: number;
  rows: number;
  sheets: number;
};

/** A track of the preview, and the location of its samples in the index file. */
export type PreviewTrack = {
  /** For a `SourceBuffer`: `video/mp4; codecs="avc1.640028"`. */
  mimeType: string;
  timescale: number;
  /** The track's entry in the box `stsd`, in base64: parameter sets, size, channels. */
  sampleEntry: string;
  /** Position of the track's first record in the index file, and the number of its records. */
  firstRecord: number;
  sampleCount: number;
};

/** The description of a preview's other files in `preview.json`. */
export type PreviewFacts = {
  version: typeof PREVIEW_VERSION;
  video: PreviewTrack | null;
  audio: PreviewTrack | null;
  storyboard: Storyboard | null;
};

/**
 * A video track of the source whose packets browsers may decode. Its samples are in decode order. `keys` has the
 * location of records for its keyframes, which contain the number of the sample in place of an offset.
 */
export type SourceVideoTrack = PreviewTrack & {
  /** Size of the coded pictures, and the clockwise rotation by the player. */
  width: number;
  height: number;
  rotation: VideoStream["rotation"];
  keys: Pick<PreviewTrack, "firstRecord" | "sampleCount">;
  /** Times of keyframes about `PIECE_SECONDS` apart, in seconds. Pieces that start there need no other frames. */
  starts: number[];
};

/** Approximate duration of the pieces that players ask for. */
export const PIECE_SECONDS = 8;

/** The description of the index of a source in `source.json`. A track is null if browsers cannot play its packets. */
export type SourceFacts = {
  version: typeof SOURCE_INDEX_VERSION;
  video: SourceVideoTrack | null;
  audio: PreviewTrack | null;
  /** Made of the source's keyframes; null if only the preview has one. */
  storyboard: Storyboard | null;
};

/** Tracks of an index with another version are not played. */
export const SOURCE_INDEX_VERSION = 2;

/** Previews with another version are created again. */
export const PREVIEW_VERSION = 1;

export const STORYBOARD_PICTURE = { width: 160, height: 90, columns: 10, rows: 10 } as const;
const MIN_STORYBOARD_INTERVAL_SECONDS = 2;
const MAX_STORYBOARD_PICTURES = 2_000;
export const MAX_STORYBOARD_SHEETS = Math.ceil(
  MAX_STORYBOARD_PICTURES / (STORYBOARD_PICTURE.columns * STORYBOARD_PICTURE.rows),
);

export function planStoryboard(durationSeconds: number): Storyboard {
  const { columns, rows } = STORYBOARD_PICTURE;
  const interval = Math.max(MIN_STORYBOARD_INTERVAL_SECONDS, durationSeconds / MAX_STORYBOARD_PICTURES);
  // Rounding must not add a thumbnail.
  const count = Math.min(MAX_STORYBOARD_PICTURES, Math.max(1, Math.ceil(durationSeconds / interval - 1e-6)));
  return { interval, count, ...STORYBOARD_PICTURE, sheets: Math.ceil(count / (columns * rows)) };
}
