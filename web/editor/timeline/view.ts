/**
 * The visible part of the timeline. Its functions are pure: changes return a new view. Times are in microseconds,
 * positions in CSS pixels.
 */
import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { findFirst } from "../../../src/domain/time";
import type { EditorPlan, Range } from "../model/plan";

/**
 * `start` is the place at the left edge, `duration` that of the end, and `scale` is in microseconds per pixel. Places
 * are times, unless `warp` collapses removed spans.
 */
export type View = { start: number; scale: number; width: number; duration: number; warp?: Warp | null };

const placeOf = ({ warp }: View, time: number): number => (warp ? toPlace(warp, time) : time);
const timeOf = ({ warp }: View, place: number): number => (warp ? fromPlace(warp, place) : place);

/** At this scale, a frame is about 20 pixels wide. */
export const MIN_SCALE = 2_000;

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

const fitScale = ({ duration, width }: { duration: number; width: number }): number =>
  Math.max(1, duration) / Math.max(1, width);

/** Returns the view of the whole recording. */
export const fitView = (duration: number, width: number): View => ({
  start: 0,
  scale: fitScale({ duration, width }),
  width,
  duration,
});

/** Clamps the view to its limits. */
export function limitView(view: View): View {
  const most = fitScale(view);
  const scale = clamp(view.scale, Math.min(MIN_SCALE, most), most);
  const start = clamp(view.start, 0, Math.max(0, view.duration - view.width * scale));
  return { ...view, start, scale };
}

export const toX = (view: View, time: number): number => (placeOf(view, time) - view.start) / view.scale;
export const toTime = (view: View, x: number): number => timeOf(view, view.start + x * view.scale);
/** Returns the time at the right edge. */
export const endOf = (view: View): number =>
  timeOf(view, Math.min(view.duration, view.start + view.width * view.scale));

/** Zooms around a position. A factor above 1 shows more detail. */
export const zoomAt = (view: View, factor: number, x: number): View => {
  const scale = limitView({ ...view, scale: view.scale / factor }).scale;
  return limitView({ ...view, scale, start: view.start + x * (view.scale - scale) });
};

/** Returns the view with a time at a position, at a scale. */
export const placeAt = (view: View, time: number, x: number, scale: number): View =>
  limitView({ ...view, scale, start: placeOf(view, time) - x * limitView({ ...view, scale }).scale });

export const scrollBy = (view: View, pixels: number): View =>
  limitView({ ...view, start: view.start + pixels * view.scale });

/**
 * Changes the width. A view of the whole recording keeps showing all of it; otherwise the time at the left edge stays.
 */
export function resizeView(view: View, width: number): View {
  if (view.width === width) return view;
  return isFit(view) ? { ...view, ...fitView(view.duration, width) } : limitView({ ...view, width });
}

export const isFit = (view: View): boolean => view.scale >= fitScale(view);

export const isInView = (view: View, time: number): boolean => time >= toTime(view, 0) && time <= endOf(view);

/** Scrolls to a time that is out of view. `share` is its new position as a share of the width. */
export function reveal(view: View, time: number, share: number): View {
  if (isInView(view, time)) return view;
  return limitView({ ...view, start: placeOf(view, time) - view.width * view.scale * share });
}

/** Returns the indices of the sorted ranges in view: the first, and the one after the last. */
export function findInView(ranges: readonly Range[], view: View): [from: number, to: number] {
  const [start, end] = [toTime(view, 0), endOf(view)];
  const from = findFirst(ranges.length, (index) => ranges[index]!.end > start);
  let to = from;
  while (to < ranges.length && ranges[to]!.start < end) to++;
  return [from, to];
}

const STEPS = [0.04, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].map((s) => s * 1e6);

/** Returns the distance between the ruler's labels, for labels of a given width. */
export const chooseStep = ({ scale }: View, labelWidth: number): number =>
  STEPS.find((step) => step / scale >= labelWidth) ?? STEPS.at(-1)!;

/** Seconds that a timeline shows at first: pauses of 0.3 s are then a few pixels wide. */
const OPENING = 72e6;

/** Returns the first view of a recording, from its start. */
const openView = (view: View): View => limitView({ ...view, start: 0, scale: OPENING / Math.max(1, view.width) });

/** Collapses removed spans, or shows all of the time for null. The time at `x` stays there. */
export function warpView(view: View, warp: Warp | null, duration: number, x: number): View {
  const time = toTime(view, x);
  const next = { ...view, warp, duration };
  if (isFit(view)) return { ...next, ...fitView(duration, view.width) };
  return placeAt(next, time, x, view.scale);
}

/**
 * Returns the view and the height of an element. The view follows its width, and the playhead while that is in view
 * and nothing is dragged.
 */
export function useView(
  element: RefObject<HTMLElement | null>,
  duration: number,
  playhead: ReadonlySignal<number>,
  { isPlaying, isDragging }: { isPlaying?: ReadonlySignal<boolean>; isDragging: ReadonlySignal<boolean> },
  warp: Warp | null,
): { view: Signal<View>; height: ReadonlySignal<number> } {
  const height = useSignal(0);
  const view = useSignal(fitView(duration, 0));
  useEffect(() => {
    const current = view.peek();
    if (current.warp === warp && (warp || current.duration === duration)) return;
    const x = isInView(current, playhead.peek()) ? toX(current, playhead.peek()) : current.width / 2;
    view.value = warpView(current, warp, warp === null ? duration : getWarpLength(warp), x);
  }, [duration, warp]);
  useEffect(() => {
    const resize = (width: number) => {
      const isFirst = view.peek().width === 0;
      const resized = resizeView(view.peek(), Math.round(width));
      view.value = isFirst && width > 0 ? reveal(openView(resized), playhead.peek(), 0.5) : resized;
    };
    // The observer also reports the first width, with the layout of the first frame. Measuring here would force another
    // layout.
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      height.value = Math.round(entry.contentRect.height);
      resize(entry.contentRect.width);
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);

  const before = useRef(0);
  useSignalEffect(() => {
    const time = playhead.value;
    if (isDragging.peek()) return;
    const plays = isPlaying?.peek() ?? true;
    // If the user has scrolled away during playback, the view stays there.
    const follows = !plays || isInView(view.peek(), before.current);
    if (follows && view.peek().width > 0) view.value = reveal(view.peek(), time, plays ? 0.1 : 0.5);
    before.current = time;
  });
  return { view, height };
}

/** Sorted times at which the axis changes its speed, and their places. Both in microseconds. */
export type Warp = { times: Float64Array; places: Float64Array };

/** Length of a removed span on the axis. Shorter spans keep theirs. */
const SEAM = 240_000;

/** Returns an axis on which removed spans are narrow seams. */
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
