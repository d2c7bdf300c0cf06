/** Reads the resource usage of processes from `/proc`. */
import { readFileSync } from "node:fs";

/** Resident memory, and CPU time of all threads since the start. Child processes are not included. */
export type ProcessUsage = { memoryBytes: number; cpuSeconds: number };

const PAGE_BYTES = 4096;
const CLOCK_TICKS_PER_SECOND = 100;
/** A sandbox wrapper and its helper are at most this many levels above the program. */
const MAX_DEPTH = 4;

/** Returns the current usage of a process; null if it has exited. Takes about ten microseconds. */
export function readProcessUsage(pid: number): ProcessUsage | null {
  const statm = readProcFile(pid, "statm");
  const stat = readProcFile(pid, "stat");
  if (statm === null || stat === null) return null;
  const pages = Number(statm.split(" ")[1]);
  // The process name in parentheses may contain any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { memoryBytes: pages * PAGE_BYTES, cpuSeconds: ticks / CLOCK_TICKS_PER_SECOND };
}

/**
 * Returns the ID of the process whose first argument is `program`: `pid` itself or, below a sandbox wrapper, one of its
 * descendants. Null if it has not started yet.
 */
export function findProcessRunning(pid: number, program: string): number | null {
  let level = [pid];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    for (const candidate of level) if (readProcFile(candidate, "cmdline")?.split("\0")[0] === program) return candidate;
    level = level.flatMap(listChildren);
  }
  return null;
}

const listChildren = (pid: number): number[] =>
  (readProcFile(pid, `task/${pid}/children`) ?? "").split(" ").filter(Boolean).map(Number);

function readProcFile(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return null;
  }
}
