/** The encoding speed of a place, from its report of a whole render. Pure. */
import type { EncodingFigures } from "./media";

/** A render that has ended. `frames` of its file, and `seconds` from its start to its end, as the head knows them. */
export type MeasuredRender = {
  reported: EncodingFigures;
  /** Of a frame. */
  pixels: number;
  /** Of the place. */
  slots: number;
  /** Every frame was encoded. Else only the place knows how many were. */
  isEncoded: boolean;
  seconds: number;
  /** The speed of the place so far, and that expected of one that was not measured, in pixels per second of a slot. */
  known: number | null;
  fallback: number;
};

/** Shorter renders measure the start of a process rather than encoding. */
const MIN_FRAMES = 48;
const MIN_SECONDS = 1;
/** Fetching the recording and sending the file are part of the time that the head measures. */
const MAX_FASTER = 5;

/**
 * Returns the pixels per second of one slot; null when the render says nothing. A report that is faster than the head's clock allows makes a place
 * no faster than it was, or than one that was not measured.
 */
export function measureRender(render: MeasuredRender): number | null {
  const { reported, pixels, slots, isEncoded, seconds, known, fallback } = render;
  const { frames, processes } = reported;
  if (frames < MIN_FRAMES || reported.seconds < MIN_SECONDS || slots < 1 || processes < 1) return null;
  const speed = ((frames * pixels) / reported.seconds) * (processes / slots);
  const byClock = isEncoded && seconds > 0 ? ((frames * pixels) / seconds) * MAX_FASTER : 0;
  return Math.min(speed, Math.max(byClock, known ?? fallback));
}
