/** Converts the source's clock to frames of the timeline. Every boundary is rounded here, once. */
import type { MediaInfo } from "../media";
import {
  type FrameTimes,
  getFrameAtOrAfter,
  getFrameAtOrBefore,
  getFrameCount,
  getFrameTime,
  type Rational,
  TICKS_PER_SECOND,
  type Ticks,
} from "../time";
import { convertFrames, divideRounded, isSameRate } from "./frame-rate";

/** A boundary in the plan: its time, and its source frame if the plan has one. */
export type PlanBoundary = { time: Ticks; frame: number | null };

export type FrameGrid = {
  /** The duration of the source. */
  length: number;
  /** Returns the first frame of a kept span, or the frame after its last. Never beyond the source. */
  start(boundary: PlanBoundary): number;
  end(boundary: PlanBoundary): number;
  nearest(time: Ticks): number;
};

/** Creates the grid of a source on a timeline of `rate`. Frame 0 is the first video frame, or the start of audio. */
export function createFrameGrid(info: MediaInfo, frames: FrameTimes | null, rate: Rational): FrameGrid {
  return frames && getFrameCount(frames) > 0 ? createVideoGrid(frames, rate) : createAudioGrid(info.duration, rate);
}

function createVideoGrid(frames: FrameTimes, rate: Rational): FrameGrid {
  const count = getFrameCount(frames);
  const first = getFrameTime(frames, 0);
  const toTimelineFrame = (frame: number): number => {
    const index = Math.min(Math.max(0, frame), count);
    if (frames.kind === "constant") return convertFrames(index, frames.rate, rate);
    return roundToFrames(getFrameTime(frames, index) - first, rate);
  };
  const length = Math.max(1, isOnGrid(frames, rate) ? count : floorToFrames(getFrameTime(frames, count) - first, rate));
  return {
    length,
    start: ({ time, frame }) => toTimelineFrame(frame ?? getFrameAtOrBefore(frames, time)),
    end: ({ time, frame }) => Math.min(length, toTimelineFrame(frame ?? getFrameAtOrAfter(frames, time))),
    nearest: (time) => Math.min(length, Math.max(0, roundToFrames(time - first, rate))),
  };
}

/** Creates the grid of an audio source. Starts are rounded down and ends are rounded up, so that no word is clipped. */
function createAudioGrid(duration: Ticks, rate: Rational): FrameGrid {
  const length = Math.max(1, floorToFrames(duration, rate));
  const clampToSource = (frame: number) => Math.min(length, Math.max(0, frame));
  return {
    length,
    start: ({ time }) => clampToSource(floorToFrames(time, rate)),
    end: ({ time }) => clampToSource(-floorToFrames(-time, rate)),
    nearest: (time) => clampToSource(roundToFrames(time, rate)),
  };
}

const BIG_TICKS_PER_SECOND = BigInt(TICKS_PER_SECOND);

const roundToFrames = (time: Ticks, { num, den }: Rational): number =>
  divideRounded(BigInt(Math.round(time)) * BigInt(num), BigInt(den) * BIG_TICKS_PER_SECOND);

function floorToFrames(time: Ticks, { num, den }: Rational): number {
  const [a, b] = [BigInt(Math.round(time)) * BigInt(num), BigInt(den) * BIG_TICKS_PER_SECOND];
  const quotient = a / b;
  return Number(a < 0n && quotient * b !== a ? quotient - 1n : quotient);
}

/** Returns whether a source's frames coincide with the timeline's. */
export const isOnGrid = (frames: FrameTimes, rate: Rational): boolean =>
  frames.kind === "constant" && isSameRate(frames.rate, rate);
