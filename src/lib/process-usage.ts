/** What a process uses, read from `/proc`. */
import { readFileSync } from "node:fs";

/** Resident memory, and processor time of all threads since the start, without that of child processes. */
export type ProcessUsage = { memoryBytes: number; cpuSeconds: number };

const PAGE_BYTES = 4096;
const CLOCK_TICKS_PER_SECOND = 100;
/** A wrapper, its helper, the program: it is never far down. */
const MAX_DEPTH = 4;

/** Returns what a process uses now; null when it has gone. Costs some ten microseconds. */
export function readProcessUsage(pid: number): ProcessUsage | null {
  const statm = readProcFile(pid, "statm");
  const stat = readProcFile(pid, "stat");
  if (statm === null || stat === null) return null;
  const pages = Number(statm.split(" ")[1]);
  // The name in brackets may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { memoryBytes: pages * PAGE_BYTES, cpuSeconds: ticks / CLOCK_TICKS_PER_SECOND };
}

/**
 * Returns the process that runs `program` (as its first argument names it): `pid` itself, or the first of its descendants, when a wrapper
 * starts it. Null when there is none yet.
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
