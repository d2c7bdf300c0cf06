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
