/** The file format `OCW1` of audio peaks. Pure. */

/** `OCW1`, peaks per second and number of peaks (32 bits each, little-endian). A byte for each peak follows. */
export const PEAKS_HEADER_BYTES = 12;

/** Returns the largest peak of each of `points` equal parts of a file of peaks. A shorter recording repeats peaks. */
export function reducePeaks(file: Uint8Array, points: number): Uint8Array<ArrayBuffer> {
  const peaks = file.subarray(PEAKS_HEADER_BYTES);
  const reduced = new Uint8Array(points);
  if (peaks.length === 0) return reduced;
  for (let point = 0; point < points; point++) {
    const start = Math.floor((point * peaks.length) / points);
    const end = Math.max(start + 1, Math.floor(((point + 1) * peaks.length) / points));
    for (let at = start; at < end; at++) if (peaks[at]! > reduced[point]!) reduced[point] = peaks[at]!;
  }
  return reduced;
}

/** Share of the peaks that fit into the lane. A few louder ones, such as a bump of the microphone, are clipped. */
const FITTING_SHARE = 0.99;
/** Lower peaks are silence, which does not count: otherwise it would set the height of a recording with few words. */
const MIN_AUDIBLE = 4;
/** Keeps noise low in a recording of nothing else. */
const MAX_GAIN = 8;
const FULL = 255;

/** Returns the factor with which the peaks of a recording, 0 to 255, fill the height in which they are drawn. */
export function findGain(peaks: Uint8Array): number {
  const counts = new Uint32Array(FULL + 1);
  for (let index = 0; index < peaks.length; index++) counts[peaks[index]!]!++;
  let left = 0;
  for (let peak = MIN_AUDIBLE; peak <= FULL; peak++) left += counts[peak]!;
  left *= 1 - FITTING_SHARE;
  let loudest = FULL;
  while (loudest > MIN_AUDIBLE && left >= counts[loudest]!) left -= counts[loudest--]!;
  return Math.min(MAX_GAIN, FULL / loudest);
}

/** Returns how high a peak is drawn, as a share of the full height. */
export const toHeight = (peak: number, gain: number): number => Math.min(1, (peak * gain) / FULL);
