/** Resource limits of a job child. The ffmpeg processes that it starts have their own limits. */
import type { JobOperations } from "./operations";

const GIBIBYTE = 1024 ** 3;

/** Resident memory of a job child that reads the files of a preparation and not the source. */
export const MAX_PLAN_MEMORY_BYTES = 1.5 * GIBIBYTE;

const MIN_MEMORY_BYTES = 1 * GIBIBYTE;
const MAX_MEMORY_BYTES = 3 * GIBIBYTE;
const MEMORY_PER_SOURCE_BYTE = 8;

/**
 * Returns the limit of the resident memory of a job child that reads a source of this size. The packet tables of long
 * recordings take the most: 0.46 GB were measured for three hours at 60 frames per second in 75 MB. Small files get
 * less, because a damaged one may ask for any amount.
 */
export const getMaxMediaMemoryBytes = (sourceBytes: number): number =>
  Math.min(MAX_MEMORY_BYTES, MIN_MEMORY_BYTES + MEMORY_PER_SOURCE_BYTE * sourceBytes);

/** CPU time and wall time of one operation. */
export type TimeLimits = { cpuSeconds: number; wallSeconds: number };

/** Seconds for any recording, and seconds for each second of the recording. */
const TIME_LIMITS: Record<keyof JobOperations, { cpu: [number, number]; wall: [number, number] }> = {
  probe: { cpu: [120, 0], wall: [1_300, 0] },
  extract: { cpu: [120, 0.2], wall: [600, 4] },
  indexSource: { cpu: [120, 0.1], wall: [600, 1] },
  storyboard: { cpu: [120, 0.1], wall: [600, 1] },
  poster: { cpu: [120, 0.1], wall: [600, 0] },
  filmstrip: { cpu: [120, 0.1], wall: [3_000, 0] },
  peaks: { cpu: [120, 0.1], wall: [600, 1] },
  loudness: { cpu: [120, 0.2], wall: [600, 4] },
  cleanAudio: { cpu: [60, 0], wall: [180, 0] },
  indexPreview: { cpu: [60, 0.1], wall: [600, 1] },
  // Waits for the speech worker, which other users share.
  plan: { cpu: [120, 0.02], wall: [3_600, 2] },
  export: { cpu: [60, 0], wall: [60, 0] },
  subtitle: { cpu: [60, 0], wall: [60, 0] },
  transcript: { cpu: [60, 0], wall: [60, 0] },
  checkPlan: { cpu: [30, 0], wall: [120, 0] },
  edit: { cpu: [60, 0], wall: [60, 0] },
  keepAll: { cpu: [60, 0], wall: [60, 0] },
  explain: { cpu: [60, 0], wall: [60, 0] },
  render: { cpu: [600, 0.5], wall: [7_200, 60] },
  planSplit: { cpu: [120, 0.1], wall: [600, 1] },
  encodeChunk: { cpu: [300, 0.2], wall: [7_200, 2] },
  encodeAudio: { cpu: [300, 0.5], wall: [3_600, 4] },
  checkChunk: { cpu: [60, 0], wall: [900, 0] },
  // Its caller sets limits by the size of the file.
  hashFile: { cpu: [60, 0], wall: [300, 0] },
  checkPrepared: { cpu: [60, 0], wall: [300, 0] },
  checkRender: { cpu: [60, 0], wall: [300, 0] },
};

export function getTimeLimits(operation: keyof JobOperations, recordingSeconds: number): TimeLimits {
  const { cpu, wall } = TIME_LIMITS[operation];
  return { cpuSeconds: cpu[0] + cpu[1] * recordingSeconds, wallSeconds: wall[0] + wall[1] * recordingSeconds };
}

const BYTES_PER_MEGABYTE = 1_000_000;

/**
 * Returns the limits of probing a file of this size. A small damaged file must not occupy its slot for as long as a
 * recording of a day.
 */
export function getProbeTimeLimits(fileBytes: number): TimeLimits {
  const megabytes = fileBytes / BYTES_PER_MEGABYTE;
  const max = getTimeLimits("probe", 0);
  return {
    cpuSeconds: Math.min(max.cpuSeconds, 15 + 3 * megabytes),
    wallSeconds: Math.min(max.wallSeconds, 180 + 2 * megabytes),
  };
}
