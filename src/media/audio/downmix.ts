/** Mixes two channels into one, weighted by power, so that silent or phase-reversed channels cost no loudness. Pure. */
import { joinSamples } from "./sink";

const BLOCK_SECONDS = 0.02;
/** Weights follow about the last second. */
const SMOOTHING = 0.03;
const MAX_REVERSED_CORRELATION = -0.9;
const SILENCE_POWER = 1e-9;

/**
 * Creates a mixer for interleaved stereo. Weights change from block to block, and blocks are counted from the first
 * sample, so the result does not depend on how the stream is divided between calls.
 */
export function createDownmix(sampleRate: number) {
  const block = Math.round(sampleRate * BLOCK_SECONDS);
  let rest: Float32Array<ArrayBufferLike> = new Float32Array(0);
  let left = 0;
  let right = 0;
  let cross = 0;
  let weight = 0.5;

  function mixBlock(stereo: Float32Array, mono: Float32Array, start: number, end: number): void {
    const share = SMOOTHING * ((end - start) / block);
    const power = measurePower(stereo, start, end);
    // The first block has no history.
    const memory = left + right < SILENCE_POWER ? 1 : share;
    left += memory * (power.left - left);
    right += memory * (power.right - right);
    cross += memory * (power.cross - cross);
    const next = computeLeftWeight(left, right, cross, weight);
    for (let n = start; n < end; n++) {
      const gain = weight + ((next - weight) * (n - start)) / (end - start);
      mono[n] = stereo[2 * n]! * gain + stereo[2 * n + 1]! * (1 - gain);
    }
    weight = next;
  }

  function mix(stereo: Float32Array, count: number): Float32Array<ArrayBuffer> {
    const mono = new Float32Array(count);
    for (let start = 0; start < count; start += block) mixBlock(stereo, mono, start, Math.min(count, start + block));
    return mono;
  }

  return {
    /** Returns the mono samples of all whole blocks so far: zero or more, in order. */
    add(stereo: Float32Array): Float32Array<ArrayBuffer> {
      const all = rest.length === 0 ? stereo : joinSamples(rest, stereo);
      const count = (all.length >> 1) - ((all.length >> 1) % block);
      rest = all.slice(2 * count);
      return mix(all, count);
    },
    /** Returns the mono samples of the last, incomplete block. */
    end: () => mix(rest, rest.length >> 1),
  };
}

function measurePower(stereo: Float32Array, start: number, end: number) {
  let left = 0;
  let right = 0;
  let cross = 0;
  for (let n = start; n < end; n++) {
    const [l, r] = [stereo[2 * n]!, stereo[2 * n + 1]!];
    left += l * l;
    right += r * r;
    cross += l * r;
  }
  const count = Math.max(1, end - start);
  return { left: left / count, right: right / count, cross: cross / count };
}

function computeLeftWeight(left: number, right: number, cross: number, previous: number): number {
  if (left + right < SILENCE_POWER) return previous;
  if (cross < MAX_REVERSED_CORRELATION * Math.sqrt(left * right)) return left >= right ? 1 : 0;
  return (left * left) / (left * left + right * right);
}
