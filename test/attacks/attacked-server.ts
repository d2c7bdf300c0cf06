/**
 * The compiled server under attack: a watchdog samples the memory of the server's process, a prober asks `/healthz` without a pause. Each
 * test ends with `expectUnharmed`, which checks both.
 */
import { expect } from "bun:test";
import { memoryOf, type Server, startServer } from "../e2e/server";

const SAMPLE_EVERY_MS = 50;
const PROBE_EVERY_MS = 25;
const MAX_GROWTH_MEGABYTES = 700;

export type AttackedServer = Server & {
  /** The longest that `/healthz` took so far, in milliseconds; a probe that is still unanswered counts with its age. */
  slowestProbeMs(): number;
  /** How far the server's resident memory rose above what it was before the attack, in megabytes. */
  memoryGrowthMegabytes(): number;
  /** Fails when the server restarted, answered a probe later than `maxProbeMs`, or grew by 700 MB or more. */
  expectUnharmed(limits: { maxProbeMs: number }): void;
};

/** Starts the server in a fresh folder with watchdog and prober. `settings` are as in the environment, without the prefix. */
export async function startAttackedServer(settings: Record<string, string> = {}): Promise<AttackedServer> {
  const server = await startServer(settings);
  const pid = server.pid();
  const baseline = await memoryOf(pid, "VmRSS");
  let peak = baseline;
  let slowest = 0;
  let pendingSince: number | null = null;
  let stopped = false;

  const watchdog = setInterval(() => {
    memoryOf(pid, "VmRSS").then(
      (megabytes) => {
        peak = Math.max(peak, megabytes);
      },
      () => {},
    );
  }, SAMPLE_EVERY_MS);

  const probing = (async () => {
    while (!stopped) {
      pendingSince = performance.now();
      const isAnswered = await fetch(`${server.url()}/healthz`, { keepalive: false })
        .then((answer) => answer.ok)
        .catch(() => false);
      if (stopped) return;
      slowest = isAnswered ? Math.max(slowest, performance.now() - pendingSince) : Number.POSITIVE_INFINITY;
      pendingSince = null;
      await Bun.sleep(PROBE_EVERY_MS);
    }
  })();

  const slowestProbeMs = () => Math.max(slowest, pendingSince === null ? 0 : performance.now() - pendingSince);
  const memoryGrowthMegabytes = () => peak - baseline;
  return {
    ...server,
    slowestProbeMs,
    memoryGrowthMegabytes,
    expectUnharmed: ({ maxProbeMs }) => {
      expect(server.pid()).toBe(pid);
      expect(slowestProbeMs()).toBeLessThan(maxProbeMs);
      expect(memoryGrowthMegabytes()).toBeLessThan(MAX_GROWTH_MEGABYTES);
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      clearInterval(watchdog);
      await server[Symbol.asyncDispose]();
      await probing;
    },
  };
}
