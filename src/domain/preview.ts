/** The preview of an asset, which pages play, draw and cut. */

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

/** Previews with another version are created again. */
export const PREVIEW_VERSION = 1;

export const STORYBOARD_PICTURE = { width: 160, height: 90, columns: 10, rows: 10 } as const;
const MIN_STORYBOARD_INTERVAL_SECONDS = 2;
const MAX_STORYBOARD_PICTURES = 2_000;

/** Returns the storyboard for a recording of this duration. */
export function planStoryboard(durationSeconds: number): Storyboard {
  const { columns, rows } = STORYBOARD_PICTURE;
  const interval = Math.max(MIN_STORYBOARD_INTERVAL_SECONDS, durationSeconds / MAX_STORYBOARD_PICTURES);
  // Rounding must not add a thumbnail.
  const count = Math.min(MAX_STORYBOARD_PICTURES, Math.max(1, Math.ceil(durationSeconds / interval - 1e-6)));
  return { interval, count, ...STORYBOARD_PICTURE, sheets: Math.ceil(count / (columns * rows)) };
}
