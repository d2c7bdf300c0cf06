/**
 * Voice activity detection: converts Silero's probabilities to speech spans, and refines their edges with the contour.
 */
import { join } from "node:path";
import { computePercentile } from "../domain/energy";
import { ENERGY_HOP } from "../domain/speech";
import { fromSeconds, type Span, type Ticks } from "../domain/time";
import { getFloats, loadGraph, toFloatTensor } from "./onnx-session";
import type { Checkpoint } from "./task-control";

/** Number of samples per probability, and number of preceding samples that are input again as context. */
export const WINDOW_SAMPLES = 512;
const CONTEXT_SAMPLES = 64;
const STATE_SIZE = 128;
const STATE_DIMS = [1, 1, STATE_SIZE];
export const STATE_VALUES = 2 * STATE_SIZE + CONTEXT_SAMPLES;

export async function loadVoiceDetector(folder: string) {
  const graph = await loadGraph(join(folder, "silero_vad.onnx"));
  return {
    /** Starts a recording, whose samples are added in order. With `state`, continues where another stream stopped. */
    start(state = new Float32Array(STATE_VALUES)) {
      let hidden = toFloatTensor(state.slice(0, STATE_SIZE), STATE_DIMS);
      let cell = toFloatTensor(state.slice(STATE_SIZE, 2 * STATE_SIZE), STATE_DIMS);
      const context = state.slice(2 * STATE_SIZE);
      return {
        /** Returns the state from which another stream can continue: `STATE_VALUES` values. */
        state(): Float32Array {
          const now = new Float32Array(STATE_VALUES);
          now.set(hidden.values as Float32Array);
          now.set(cell.values as Float32Array, STATE_SIZE);
          now.set(context, 2 * STATE_SIZE);
          return now;
        },
        /**
         * Returns the probability of speech per window of 512 samples. Pads with silence, so only the last call may be
         * partial.
         */
        async add(samples: Float32Array): Promise<Float32Array> {
          const count = Math.ceil(samples.length / WINDOW_SAMPLES);
          if (count === 0) return new Float32Array(0);
          const windows = createWindows(samples, count, context);
          const out = await graph.run({
            windows: toFloatTensor(windows, [count, CONTEXT_SAMPLES + WINDOW_SAMPLES]),
            hidden,
            cell,
          });
          context.set(windows.subarray(windows.length - CONTEXT_SAMPLES));
          hidden = out.next_hidden!;
          cell = out.next_cell!;
          return getFloats(out, "speech");
        },
      };
    },
  };
}

export type VoiceDetector = Awaited<ReturnType<typeof loadVoiceDetector>>;

function createWindows(samples: Float32Array, count: number, context: Float32Array): Float32Array {
  const width = CONTEXT_SAMPLES + WINDOW_SAMPLES;
  const windows = new Float32Array(count * width);
  for (let i = 0; i < count; i++) {
    const from = i * WINDOW_SAMPLES;
    if (i === 0) windows.set(context);
    windows.set(
      samples.subarray(Math.max(0, from - CONTEXT_SAMPLES), from + WINDOW_SAMPLES),
      i * width + (i === 0 ? CONTEXT_SAMPLES : 0),
    );
  }
  return windows;
}

/** Speech starts at a probability of `on` and ends when it stays below `off`. */
export type VadThresholds = { on: number; off: number; minSpeechSeconds: number; minSilenceSeconds: number };
export const DEFAULT_VAD_THRESHOLDS: VadThresholds = {
  on: 0.5,
  off: 0.35,
  minSpeechSeconds: 0.1,
  minSilenceSeconds: 0.2,
};

export const WINDOW_SECONDS = WINDOW_SAMPLES / 16_000;

/** Returns the speech spans in the probabilities of consecutive windows: sorted, disjoint, whole windows. */
export function findSpeechSpans(probabilities: Float32Array, thresholds = DEFAULT_VAD_THRESHOLDS): Span[] {
  const spans: Span[] = [];
  const close = (from: number, to: number) => {
    if ((to - from) * WINDOW_SECONDS < thresholds.minSpeechSeconds) return;
    spans.push({ start: fromSeconds(from * WINDOW_SECONDS), end: fromSeconds(to * WINDOW_SECONDS) });
  };
  let from = -1;
  let quietFrom = -1;
  for (let i = 0; i < probabilities.length; i++) {
    const p = probabilities[i]!;
    if (from < 0) {
      if (p >= thresholds.on) from = i;
      quietFrom = -1;
      continue;
    }
    if (p >= thresholds.off) {
      quietFrom = -1;
      continue;
    }
    if (quietFrom < 0) quietFrom = i;
    if ((i - quietFrom + 1) * WINDOW_SECONDS < thresholds.minSilenceSeconds) continue;
    close(from, quietFrom);
    from = -1;
  }
  if (from >= 0) close(from, quietFrom >= 0 ? quietFrom : probabilities.length);
  return spans;
}

/** Number of spans per safe point: a few milliseconds of work. */
const SPANS_PER_STEP = 64;
/** Maximum distance that an edge may move outward and inward. */
const MAX_OUTWARD_TICKS: Ticks = 250_000;
const MAX_INWARD_TICKS: Ticks = 120_000;

/**
 * Moves the edges of each span to where the audio becomes audible or silent: outward while it is audible, inward while
 * it is silent. The threshold is computed from the surroundings of the span. Spans stay sorted, disjoint and within
 * `duration`. `check` is called at safe points.
 */
export async function refineEdges(
  spans: Span[],
  energy: Float32Array,
  duration: Ticks,
  check: Checkpoint = () => {},
): Promise<Span[]> {
  const placed: Span[] = [];
  for (const [i, span] of spans.entries()) {
    if (i % SPANS_PER_STEP === 0) await check();
    const before = placed.at(-1)?.end ?? 0;
    const after = spans[i + 1]?.start ?? duration;
    const around = energy.subarray(toHop(Math.max(0, span.start - 1_000_000)), toHop(span.end + 1_000_000));
    const floor = computePercentile(around, 0.05);
    const inside = computePercentile(energy.subarray(toHop(span.start), toHop(span.end)), 0.9);
    const level = Math.max(inside - 35, Math.min(floor + 8, inside - 10));
    const isAudible = (at: number) => (energy[at] ?? Number.NEGATIVE_INFINITY) >= level;
    let first = toHop(span.start);
    if (isAudible(first))
      while (first > toHop(Math.max(before, span.start - MAX_OUTWARD_TICKS)) && isAudible(first - 1)) first--;
    else while (first < toHop(Math.min(span.end, span.start + MAX_INWARD_TICKS)) && !isAudible(first)) first++;
    let last = Math.max(first + 1, toHop(span.end));
    if (isAudible(last - 1))
      while (last < toHop(Math.min(after, span.end + MAX_OUTWARD_TICKS)) && isAudible(last)) last++;
    else
      while (
        last > toHop(Math.max(span.start, span.end - MAX_INWARD_TICKS)) &&
        last > first + 1 &&
        !isAudible(last - 1)
      )
        last--;
    const start = Math.max(before, first * ENERGY_HOP);
    const end = Math.min(duration, last * ENERGY_HOP);
    if (end > start) placed.push({ start, end });
  }
  return placed;
}

const toHop = (time: Ticks): number => Math.floor(time / ENERGY_HOP);
