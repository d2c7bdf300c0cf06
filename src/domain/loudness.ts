/**
 * Loudness and true peak of a recording in steps of 100 ms, from which those of every cut follow (EBU R128, ITU-R
 * BS.1770-4). Also the file format `OCL1` of the steps. Pure.
 */
import { TICKS_PER_SECOND, type Ticks } from "./time";

/**
 * `integrated` in LUFS; null if nothing is louder than the absolute gate of -70 LUFS. `peak` in dBTP; null for digital
 * silence.
 */
export type Loudness = { integrated: number | null; peak: number | null };

/** For each step the weighted mean square of all channels, and the true peak, 1 for full scale. */
export type LoudnessSteps = { energies: Float32Array; peaks: Float32Array };

export const STEPS_PER_SECOND = 10;
const STEP_TICKS: Ticks = TICKS_PER_SECOND / STEPS_PER_SECOND;
/** A gating block has 400 ms, and the next one starts 100 ms later. */
const BLOCK_STEPS = 4;
/** The loudness of a sine of 997 Hz at full scale in one channel is -3.01 LUFS. */
const OFFSET_LU = -0.691;
/** Below it, nothing counts. */
const ABSOLUTE_GATE_LUFS = -70;
const RELATIVE_GATE_LU = -10;

const toLufs = (energy: number): number => OFFSET_LU + 10 * Math.log10(energy);
const toEnergy = (lufs: number): number => 10 ** ((lufs - OFFSET_LU) / 10);

/** Returns the loudness of spans that play one after the other. They are sorted and disjoint. */
export function measureSpans(steps: LoudnessSteps, spans: readonly { start: Ticks; end: Ticks }[]): Loudness {
  return measureSteps(joinSpans(steps, spans));
}

export function measureSteps({ energies, peaks }: LoudnessSteps): Loudness {
  const blocks = listBlocks(energies);
  const absoluteGate = toEnergy(ABSOLUTE_GATE_LUFS);
  const relativeGate = getMeanAbove(blocks, absoluteGate) * 10 ** (RELATIVE_GATE_LU / 10);
  const mean = getMeanAbove(blocks, Math.max(absoluteGate, relativeGate));
  let peak = 0;
  for (let n = 0; n < peaks.length; n++) peak = Math.max(peak, peaks[n]!);
  return {
    integrated: mean === 0 ? null : toLufs(mean),
    peak: peak === 0 ? null : 20 * Math.log10(peak),
  };
}

/** Returns the mean of the values above a gate, 0 without any. */
function getMeanAbove(values: Float64Array, gate: number): number {
  let sum = 0;
  let count = 0;
  // A loop: array methods are noticeably slower for a day of blocks.
  for (let n = 0; n < values.length; n++) {
    if (!(values[n]! > gate)) continue;
    sum += values[n]!;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** Audio that is shorter than a block has none. */
function listBlocks(energies: Float32Array): Float64Array {
  const blocks = new Float64Array(Math.max(0, energies.length - BLOCK_STEPS + 1));
  for (let n = 0; n < blocks.length; n++) {
    let sum = 0;
    for (let k = 0; k < BLOCK_STEPS; k++) sum += energies[n + k]!;
    blocks[n] = sum / BLOCK_STEPS;
  }
  return blocks;
}

/** Returns the steps of a cut. The energy of a step is taken to be the same in all of its parts. */
function joinSpans(steps: LoudnessSteps, spans: readonly { start: Ticks; end: Ticks }[]): LoudnessSteps {
  const total = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const count = Math.floor(total / STEP_TICKS);
  const joined: LoudnessSteps = {
    energies: new Float32Array(count),
    peaks: new Float32Array(Math.ceil(total / STEP_TICKS)),
  };
  let at = 0;
  for (const { start, end } of spans)
    for (let time = start; time < end; ) {
      const from = Math.floor(time / STEP_TICKS);
      const to = Math.floor(at / STEP_TICKS);
      // Up to the next border of a step, in the recording or in the cut.
      const length = Math.min(end - time, (from + 1) * STEP_TICKS - time, (to + 1) * STEP_TICKS - at);
      if (to < count) joined.energies[to]! += ((steps.energies[from] ?? 0) * length) / STEP_TICKS;
      joined.peaks[to] = Math.max(joined.peaks[to]!, steps.peaks[from] ?? 0);
      time += length;
      at += length;
    }
  return joined;
}

/** Returns the steps of a cut whose spans have gains. They are in the time of the cut, sorted. */
export function amplifySteps(
  steps: LoudnessSteps,
  gains: readonly { start: Ticks; end: Ticks; gainDb: number }[],
  stepsPerSecond: number,
): LoudnessSteps {
  if (gains.length === 0) return steps;
  const stepTicks = TICKS_PER_SECOND / stepsPerSecond;
  let next = 0;
  const factors = Float32Array.from(steps.energies, (_, n) => {
    while (next < gains.length - 1 && gains[next]!.end <= (n + 0.5) * stepTicks) next++;
    return 10 ** (gains[next]!.gainDb / 20);
  });
  return {
    energies: steps.energies.map((energy, n) => energy * factors[n]! ** 2),
    peaks: steps.peaks.map((peak, n) => peak * factors[n]!),
  };
}

const MAGIC = "OCL1";
const HEADER_BYTES = 12;
/** Two days. */
const MAX_STEPS = 2 * 86_400 * STEPS_PER_SECOND;
/** A level of 1 is `MIN_LEVEL_DB`, 0 is silence. */
const MIN_LEVEL_DB = -200;
const LEVELS_PER_DB = 100;
const MAX_LEVEL = 0xffff;

/**
 * Writes steps: `OCL1`, steps per second and their number (32 bits each, little-endian), then 16 bits for each energy
 * and 16 bits for each peak: hundredths of a decibel above -200 dB, 0 for silence.
 */
export function writeLoudness({ energies, peaks }: LoudnessSteps): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES + 4 * energies.length);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode(MAGIC));
  view.setUint32(4, STEPS_PER_SECOND, true);
  view.setUint32(8, energies.length, true);
  const toLevel = (decibels: number) =>
    Number.isFinite(decibels)
      ? Math.max(1, Math.min(MAX_LEVEL, Math.round((decibels - MIN_LEVEL_DB) * LEVELS_PER_DB)))
      : 0;
  for (let n = 0; n < energies.length; n++) {
    view.setUint16(HEADER_BYTES + 2 * n, toLevel(10 * Math.log10(energies[n]!)), true);
    view.setUint16(HEADER_BYTES + 2 * (energies.length + n), toLevel(20 * Math.log10(peaks[n]!)), true);
  }
  return file;
}

/** Parses the file. Throws `RangeError` if it is damaged. */
export function readLoudness(bytes: ArrayBuffer): LoudnessSteps {
  if (bytes.byteLength < HEADER_BYTES) throw new RangeError("Loudness file is shorter than its header.");
  const header = new DataView(bytes, 0, HEADER_BYTES);
  const magic = String.fromCharCode(...new Uint8Array(bytes, 0, MAGIC.length));
  if (magic !== MAGIC || header.getUint32(4, true) !== STEPS_PER_SECOND) throw new RangeError("Not a loudness file.");
  const count = header.getUint32(8, true);
  if (count > MAX_STEPS) throw new RangeError(`Loudness file has ${count} steps, more than ${MAX_STEPS}.`);
  if (bytes.byteLength !== HEADER_BYTES + 4 * count)
    throw new RangeError(`Loudness file has ${bytes.byteLength - HEADER_BYTES} bytes for ${count} steps.`);
  const levels = new DataView(bytes, HEADER_BYTES);
  const read = (first: number, divisor: number) =>
    Float32Array.from({ length: count }, (_, n) => {
      const level = levels.getUint16(2 * (first + n), true);
      return level === 0 ? 0 : 10 ** ((level / LEVELS_PER_DB + MIN_LEVEL_DB) / divisor);
    });
  return { energies: read(0, 10), peaks: read(count, 20) };
}
