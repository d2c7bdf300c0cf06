/**
 * Downmix of stereo to mono for speech recognition, weighted by the power of each channel, so that a dead or phase-inverted channel does no
 * harm. Pure.
 */

const BLOCK_SECONDS = 0.02;
/** Weights follow about the last second. */
const SMOOTHING = 0.03;
const MAX_REVERSED_CORRELATION = -0.9;
const SILENCE_POWER = 1e-9;

/** Creates a stateful mixer for interleaved stereo. Each call returns one sample per pair. */
export function createDownmix(rate: number): (stereo: Float32Array) => Float32Array<ArrayBuffer> {
  const block = Math.round(rate * BLOCK_SECONDS);
  let left = 0;
  let right = 0;
  let cross = 0;
  let weight = 0.5;
  return (stereo) => {
    const count = stereo.length >> 1;
    const mono = new Float32Array(count);
    for (let start = 0; start < count; start += block) {
      const end = Math.min(count, start + block);
      const share = SMOOTHING * ((end - start) / block);
      const power = measurePower(stereo, start, end);
      // The first block has no history.
      const smoothing = left + right < SILENCE_POWER ? 1 : share;
      left += smoothing * (power.left - left);
      right += smoothing * (power.right - right);
      cross += smoothing * (power.cross - cross);
      const next = computeLeftWeight(left, right, cross, weight);
      for (let n = start; n < end; n++) {
        const gain = weight + ((next - weight) * (n - start)) / (end - start);
        mono[n] = stereo[2 * n]! * gain + stereo[2 * n + 1]! * (1 - gain);
      }
      weight = next;
    }
    return mono;
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

/** Returns the weight of the left channel. */
function computeLeftWeight(left: number, right: number, cross: number, previous: number): number {
  if (left + right < SILENCE_POWER) return previous;
  if (cross < MAX_REVERSED_CORRELATION * Math.sqrt(left * right)) return left >= right ? 1 : 0;
  return (left * left) / (left * left + right * right);
}
