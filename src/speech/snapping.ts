/** Snaps word edges to silences in the energy contour. */
import { computePercentile, computeSilenceThreshold } from "../domain/energy";
import type { TimedWord } from "./word-timing";

const HOP_SECONDS = 0.005;
const MIN_SILENCE_HOPS = 20;
/** Maximum distance that an edge may move to a silence. */
const MAX_SNAP_HOPS = 50;
/** Maximum distance that an edge between two touching words may move to the quietest position. */
const MAX_LOCAL_SNAP_HOPS = 2;
const MIN_WORD_SECONDS = 0.03;
/** Silences longer than this are equally preferred. */
const LONG_SILENCE_HOPS = 60;

type SilentHops = { from: number; to: number };

/**
 * Moves the edges of words to nearby silences or, where two words touch, to the quietest position nearby. `energy` is
 * the contour of the segment, and word times are relative to its start.
 */
export function snapWordEdges(words: TimedWord[], energy: Float32Array): TimedWord[] {
  const silences = findSilences(energy);
  const snapped = words.map((w) => ({ ...w }));
  for (let i = 0; i <= snapped.length; i++) snapBoundary(snapped[i - 1], snapped[i], silences, energy);
  return snapped;
}

/** Returns the silences of a segment. At its start and end, silence of any length counts. */
export function findSilences(energy: Float32Array): SilentHops[] {
  if (computePercentile(energy, 0.95) - computePercentile(energy, 0.1) < 6) return [];
  const threshold = computeSilenceThreshold(energy);
  const runs: SilentHops[] = [];
  for (let i = 0; i < energy.length; ) {
    if (energy[i]! >= threshold) {
      i++;
      continue;
    }
    let to = i;
    while (to < energy.length && energy[to]! < threshold) to++;
    if (to - i >= MIN_SILENCE_HOPS || i === 0 || to === energy.length) runs.push({ from: i, to });
    i = to;
  }
  return runs;
}

function snapBoundary(
  left: TimedWord | undefined,
  right: TimedWord | undefined,
  silences: SilentHops[],
  energy: Float32Array,
) {
  const end = (left?.end ?? 0) / HOP_SECONDS;
  const start = right ? right.start / HOP_SECONDS : energy.length;
  const low = left ? (left.start + left.end) / 2 / HOP_SECONDS : 0;
  const high = right ? (right.start + right.end) / 2 / HOP_SECONDS : energy.length;
  const silence = findNearestSilence(silences, Math.min(end, start), Math.max(end, start), low, high);
  if (silence) {
    if (left && silence.from * HOP_SECONDS > left.start + MIN_WORD_SECONDS) left.end = silence.from * HOP_SECONDS;
    if (right && silence.to * HOP_SECONDS < right.end - MIN_WORD_SECONDS) right.start = silence.to * HOP_SECONDS;
    return;
  }
  if (!left || !right) return;
  const at = findQuietestHop(energy, Math.round((end + start) / 2)) * HOP_SECONDS + HOP_SECONDS / 2;
  left.end = Math.max(at, left.start);
  right.start = Math.min(at, right.end);
}

/** Returns the silence that overlaps the boundary most or is nearest to it, with a slight preference for long ones. */
function findNearestSilence(
  silences: SilentHops[],
  from: number,
  to: number,
  low: number,
  high: number,
): SilentHops | null {
  let best: SilentHops | null = null;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const run of silences) {
    if (run.to < low || run.from > high) continue;
    const overlap = Math.min(run.to, to) - Math.max(run.from, from);
    const score = overlap + 0.2 * Math.min(run.to - run.from, LONG_SILENCE_HOPS);
    if (overlap > -MAX_SNAP_HOPS && score > bestScore) {
      best = run;
      bestScore = score;
    }
  }
  return best;
}

function findQuietestHop(energy: Float32Array, middle: number): number {
  let best = Math.min(Math.max(0, middle), energy.length - 1);
  let lowest = Number.POSITIVE_INFINITY;
  const from = Math.max(0, middle - MAX_LOCAL_SNAP_HOPS);
  const to = Math.min(energy.length - 1, middle + MAX_LOCAL_SNAP_HOPS);
  for (let i = from; i <= to; i++) {
    const value = energy[i]! + 0.02 * Math.abs(i - middle) ** 1.2;
    if (value >= lowest) continue;
    lowest = value;
    best = i;
  }
  return best;
}
