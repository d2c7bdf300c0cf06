/** Measures the response time of a server without the delay of a busy machine. */
import { readFileSync } from "node:fs";

/**
 * Starts to measure. The function returns milliseconds without those in which this process or the server's waited for a
 * core.
 */
export function startStopwatch(serverPid: number): () => number {
  const readWaits = () => readCoreWaitMs(serverPid) + readCoreWaitMs("self");
  const waited = readWaits();
  const started = performance.now();
  return () => performance.now() - started - (readWaits() - waited);
}

/**
 * Returns how long the main thread of a process has run on a core, since its start; 0 where the system does not count
 * it.
 */
export const readCoreMs = (pid: number): number => readSchedule(pid)[0]!;

/**
 * Returns how long the main thread of a process was ready to run without a core, since its start; 0 where the system
 * does not count it.
 */
const readCoreWaitMs = (pid: number | "self"): number => readSchedule(pid)[1]!;

function readSchedule(pid: number | "self"): number[] {
  try {
    const times = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return times.map((time) => Number(time) / 1e6);
  } catch {
    return [0, 0];
  }
}
