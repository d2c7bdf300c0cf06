/** Shows removed spans as narrow seams: maps times of the recording to places on a shorter axis, and back. Pure. */
import { findFirst } from "../../../src/domain/time";
import type { EditorPlan } from "../model/plan";

/** Sorted times at which the axis changes its speed, and their places. Both in microseconds. */
export type Warp = { times: Float64Array; places: Float64Array };

/** Length of a removed span on the axis. Shorter spans keep theirs. */
const SEAM = 240_000;

export function createWarp({ spans, duration }: EditorPlan): Warp {
  const times = new Float64Array(spans.length + 1);
  const places = new Float64Array(spans.length + 1);
  let place = 0;
  for (const [index, { start, end, isKept }] of spans.entries()) {
    times[index] = start;
    places[index] = place;
    place += isKept ? end - start : Math.min(SEAM, end - start);
  }
  times[spans.length] = duration;
  places[spans.length] = place;
  return { times, places };
}

/** Returns an axis on which places equal times. */
export const createFlatWarp = (duration: number): Warp => ({
  times: new Float64Array([0, duration]),
  places: new Float64Array([0, duration]),
});

/** Interpolates between two axes of the same recording: `share` 0 is the first one, 1 the second one. */
export function blendWarps(from: Warp, to: Warp, share: number): Warp {
  const count = from.times.length + to.times.length;
  const [times, places] = [new Float64Array(count), new Float64Array(count)];
  // Both are sorted, so a merge of thousands of spans takes a fraction of a frame.
  for (let [at, i, j] = [0, 0, 0]; at < count; at++) {
    const isFirst = j === to.times.length || (i < from.times.length && from.times[i]! <= to.times[j]!);
    const time = isFirst ? from.times[i++]! : to.times[j++]!;
    times[at] = time;
    places[at] = findPlace(from, i, time) * (1 - share) + findPlace(to, j, time) * share;
  }
  return { times, places };
}

/** Returns the place of a time between the times at `next - 1` and `next`. */
function findPlace({ times, places }: Warp, next: number, time: number): number {
  if (next === 0 || next === times.length) return places[Math.max(0, next - 1)]!;
  const [start, end] = [times[next - 1]!, times[next]!];
  const passed = end === start ? 0 : (time - start) / (end - start);
  return places[next - 1]! + passed * (places[next]! - places[next - 1]!);
}

/**
 * Returns the value of `to` that corresponds to a value of `from`. Outside of the axis, both advance at the same speed.
 */
function map(from: Float64Array, to: Float64Array, value: number): number {
  const last = from.length - 1;
  if (value <= 0 || last < 1) return value;
  if (value >= from[last]!) return to[last]! + value - from[last]!;
  const index = Math.max(0, findFirst(last, (one) => from[one]! > value) - 1);
  const length = from[index + 1]! - from[index]!;
  const share = length === 0 ? 0 : (value - from[index]!) / length;
  return to[index]! + share * (to[index + 1]! - to[index]!);
}

export const toPlace = ({ times, places }: Warp, time: number): number => map(times, places, time);
export const fromPlace = ({ times, places }: Warp, place: number): number => map(places, times, place);
export const getWarpLength = ({ places }: Warp): number => places.at(-1) ?? 0;
