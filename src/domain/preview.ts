/** The preview of an asset: what pages play, draw and cut from. */

/** Pictures on JPEG sheets. Picture n shows the recording at `n * interval` seconds. */
export type Storyboard = {
  interval: number;
  count: number;
  width: number;
  height: number;
  columns: number;
  rows: number;
  sheets: number;
};

/** A track of the preview, and where its samples are in the index file. */
export type PreviewTrack = {
  /** For a `SourceBuffer`: `video/mp4; codecs="avc1.640028"`. */
  mimeType: string;
  timescale: number;
  /** Its entry of the box `stsd`, in base64: parameter sets, size, channels. */
  sampleEntry: string;
  /** Position of its first record in the index file, and the number of its records. */
  firstRecord: number;
  sampleCount: number;
};

/** What `preview.json` says about the other files of a preview. */
export type PreviewFacts = {
  version: typeof PREVIEW_VERSION;
  video: PreviewTrack | null;
  audio: PreviewTrack | null;
  storyboard: Storyboard | null;
};

/** Previews of another version are made again. */
export const PREVIEW_VERSION = 1;

export const STORYBOARD_PICTURE = { width: 160, height: 90, columns: 10, rows: 10 } as const;
const MIN_STORYBOARD_INTERVAL_SECONDS = 2;
const MAX_STORYBOARD_PICTURES = 2_000;

/** Returns the storyboard of a recording of this duration. */
export function planStoryboard(durationSeconds: number): Storyboard {
  const { columns, rows } = STORYBOARD_PICTURE;
  const interval = Math.max(MIN_STORYBOARD_INTERVAL_SECONDS, durationSeconds / MAX_STORYBOARD_PICTURES);
  // Rounding may not add a picture.
  const count = Math.min(MAX_STORYBOARD_PICTURES, Math.max(1, Math.ceil(durationSeconds / interval - 1e-6)));
  return { interval, count, ...STORYBOARD_PICTURE, sheets: Math.ceil(count / (columns * rows)) };
}
