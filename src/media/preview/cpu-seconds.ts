/**
 * Measures the processor time of encoders that requests wait for. `bwrap` ends before the kernel could report that of
 * its descendants.
 */
import type { ChildProcess } from "../../lib/process";
import { findProcessRunning, readProcessUsage } from "../../lib/process-usage";
import type { Ffmpeg } from "../ffmpeg";

const SAMPLE_MS = 25;
/** The start and the end of a process, which no sample sees. */
export const UNSEEN_SECONDS = 0.05;

/** Returns the processor seconds of an ffmpeg process when it has ended, also when it was killed. Never rejects. */
export async function measureCpuSeconds(child: ChildProcess, { path }: Pick<Ffmpeg, "path">): Promise<number> {
  let pid: number | null = null;
  let seconds = 0;
  const timer = setInterval(() => {
    pid ??= findProcessRunning(child.pid, path);
    if (pid !== null) seconds = readProcessUsage(pid)?.cpuSeconds ?? seconds;
  }, SAMPLE_MS);
  await child.exited;
  clearInterval(timer);
  return seconds + UNSEEN_SECONDS;
}
