/** Runs the weekly check of all files on a server under test. */
import { runScrub, type ScrubReport } from "../../src/work/upkeep/scrub";
import type { Harness } from "./harness";

const WEEK_MS = 7 * 24 * 3600 * 1000;

/**
 * Checks the files that are due a number of weeks from now. Only the check uses that time, because advancing the
 * server's clock would end sessions.
 */
export function scrub(server: Harness, weeks: number): Promise<ScrubReport> {
  const services = server.services();
  const time = services.now() + weeks * WEEK_MS;
  const isOnline = async () => (await services.folders.guard.check()) === null;
  const signal = new AbortController().signal;
  return runScrub({ ...services, now: () => time }, server.tools(), { isOnline, maxYieldMs: 0 }, signal);
}
