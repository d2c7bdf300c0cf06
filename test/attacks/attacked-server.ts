/**
 * The compiled server under attack: a watchdog samples the memory of the server's process, and `prober.ts` asks
 * `/healthz` without a pause. Each test ends with `expectUnharmed`, which checks both. Delays by a busy machine or disk
 * are not counted.
 */
import { expect } from "bun:test";
import { join } from "node:path";
import { BUNDLED, memoryOf, type Server, startServer } from "../e2e/server";
import { temporaryFolder } from "../temporary-folder";
import type { ProbeLine } from "./prober";

const SAMPLE_EVERY_MS = 50;
const MAX_GROWTH_MEGABYTES = 700;

export type AttackedServer = Server & {
  /**
   * The longest that `/healthz` took since the last check, in milliseconds; a probe that is still unanswered counts
   * with its age.
   */
  slowestProbeMs(): number;
  /** The longest that the disk took to flush a file since the last check, in milliseconds. */
  slowestFlushMs(): number;
  /** Returns by how many megabytes the server's resident memory grew since the start of the attack. */
  memoryGrowthMegabytes(): number;
  /**
   * Fails when the server restarted, since the last check answered a probe later than `maxProbeMs` and the slowest
   * flush of a file together, or grew by 700 MB or more.
   */
  expectUnharmed(limits: { maxProbeMs: number }): void;
};

/**
 * Starts the server in a fresh folder with watchdog and prober. `settings` are as in the environment, without the
 * prefix. `ffmpeg`: "system" for attacks on media parsers.
 */
export async function startAttackedServer(
  settings: Record<string, string> = {},
  ffmpeg: "bundled" | "system" = "bundled",
): Promise<AttackedServer> {
  const server = await startServer(ffmpeg === "bundled" ? { ...BUNDLED, ...settings } : settings);
  const pid = server.pid();
  const baseline = await memoryOf(pid, "VmRSS");
  let peak = baseline;

  const watchdog = setInterval(() => {
    memoryOf(pid, "VmRSS").then(
      (megabytes) => {
        peak = Math.max(peak, megabytes);
      },
      () => {},
    );
  }, SAMPLE_EVERY_MS);

  const folder = await temporaryFolder();
  const prober = startProber(`${server.url()}/healthz`, pid, join(folder.path, "flushed"));
  const memoryGrowthMegabytes = () => peak - baseline;
  return {
    ...server,
    slowestProbeMs: () => prober.slowest().probeMs,
    slowestFlushMs: () => prober.slowest().flushMs,
    memoryGrowthMegabytes,
    expectUnharmed: ({ maxProbeMs }) => {
      const { probeMs, flushMs } = prober.slowest();
      // A slow answer fails the test that caused it, not those after it.
      prober.reset();
      expect(server.pid()).toBe(pid);
      expect(probeMs).toBeLessThan(maxProbeMs + flushMs);
      expect(memoryGrowthMegabytes()).toBeLessThan(MAX_GROWTH_MEGABYTES);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(watchdog);
      await prober.stop();
      await folder[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Slowest = { probeMs: number; flushMs: number };
type Prober = { slowest(): Slowest; reset(): void; stop(): Promise<void> };

/** Starts the prober. A refused probe counts as infinite. */
function startProber(url: string, pid: number, path: string): Prober {
  let slowest: Slowest = { probeMs: 0, flushMs: 0 };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "prober.ts"), url, String(pid), path], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const { ms, flushMs } = JSON.parse(line) as ProbeLine;
        const probeMs = Math.max(slowest.probeMs, ms ?? Number.POSITIVE_INFINITY);
        slowest = { probeMs, flushMs: Math.max(slowest.flushMs, flushMs) };
      }
    }
  })();
  return {
    slowest: () => slowest,
    reset: () => {
      slowest = { probeMs: 0, flushMs: 0 };
    },
    stop: async () => {
      child.kill("SIGKILL");
      await reading;
    },
  };
}
