/** How much of the machine a job child may use itself; the ffmpeg processes that it starts have limits of their own. */
import type { JobOperations } from "./operations";

const GIBIBYTE = 1024 ** 3;

/** Resident memory of a job child that reads what the preparation left, not the source. */
export const MAX_PLAN_MEMORY_BYTES = 1.5 * GIBIBYTE;

const MIN_MEMORY_BYTES = 1 * GIBIBYTE;
const MAX_MEMORY_BYTES = 3 * GIBIBYTE;
const MEMORY_PER_SOURCE_BYTE = 8;

/**
 * Resident memory of a job child that reads a source of so many bytes. It needs most for the tables of long recordings: measured 0.46 GB for
 * three hours at 60 frames a second in 75 MB. A small file that is damaged has no right to as much.
 */
export const maxMediaMemoryBytes = (sourceBytes: number): number =>
  Math.min(MAX_MEMORY_BYTES, MIN_MEMORY_BYTES + MEMORY_PER_SOURCE_BYTE * sourceBytes);

/** Processor and wall time of one operation, in seconds. */
export type TimeLimits = { cpuSeconds: number; wallSeconds: number };

/** A start, and how much more for each second of the recording. */
const TIME_LIMITS: Record<keyof JobOperations, { cpu: [number, number]; wall: [number, number] }> = {
  probe: { cpu: [120, 0], wall: [1_300, 0] },
  extract: { cpu: [120, 0.1], wall: [600, 2] },
  waveform: { cpu: [120, 0.1], wall: [600, 1] },
  poster: { cpu: [120, 0.1], wall: [600, 0] },
  filmstrip: { cpu: [120, 0.1], wall: [3_000, 0] },
  preview: { cpu: [120, 0.1], wall: [1_200, 10] },
  // Waits for speech work that is shared with other users.
  plan: { cpu: [120, 0.02], wall: [3_600, 2] },
  export: { cpu: [60, 0], wall: [60, 0] },
  subtitle: { cpu: [60, 0], wall: [60, 0] },
  edit: { cpu: [60, 0], wall: [60, 0] },
  render: { cpu: [600, 0.5], wall: [7_200, 60] },
};

/** The limits of an operation on a recording of so many seconds. */
export function timeLimits(operation: keyof JobOperations, recordingSeconds: number): TimeLimits {
  const { cpu, wall } = TIME_LIMITS[operation];
  return { cpuSeconds: cpu[0] + cpu[1] * recordingSeconds, wallSeconds: wall[0] + wall[1] * recordingSeconds };
}

const BYTES_PER_MEGABYTE = 1_000_000;

/** The limits of probing a file of so many bytes: a small one that is damaged must not hold its slot as long as a recording of a day. */
export function probeTimeLimits(fileBytes: number): TimeLimits {
  const megabytes = fileBytes / BYTES_PER_MEGABYTE;
  const most = timeLimits("probe", 0);
  return {
    cpuSeconds: Math.min(most.cpuSeconds, 15 + 3 * megabytes),
    wallSeconds: Math.min(most.wallSeconds, 180 + 2 * megabytes),
  };
}
