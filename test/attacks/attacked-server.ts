/**
 * The compiled server under attack: a watchdog samples the memory of the server's process, a prober asks `/healthz` without a pause. Each
 * test ends with `expectUnharmed`, which checks both. A bare server in a separate process is probed in parallel: what a busy machine adds to its
 * answers is allowed to the attacked server, too.
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
  /** Fails when the server restarted, answered a probe `maxProbeMs` later than the bare server did, or grew by 700 MB or more. */
  expectUnharmed(limits: { maxProbeMs: number }): void;
};

/** Starts the server in a fresh folder with watchdog and prober. `settings` are as in the environment, without the prefix. */
export async function startAttackedServer(settings: Record<string, string> = {}): Promise<AttackedServer> {
  const server = await startServer(settings);
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

  const bare = await startBareServer();
  const prober = startProber(() => `${server.url()}/healthz`);
  const bareProber = startProber(() => bare.url);
  const slowestProbeMs = prober.slowestMs;
  const memoryGrowthMegabytes = () => peak - baseline;
  return {
    ...server,
    slowestProbeMs,
    memoryGrowthMegabytes,
    expectUnharmed: ({ maxProbeMs }) => {
      expect(server.pid()).toBe(pid);
      expect(slowestProbeMs()).toBeLessThan(maxProbeMs + bareProber.slowestMs());
      expect(memoryGrowthMegabytes()).toBeLessThan(MAX_GROWTH_MEGABYTES);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(watchdog);
      await Promise.all([prober.stop(), bareProber.stop()]);
      bare.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Prober = { slowestMs(): number; stop(): Promise<void> };

/** Asks again and again. A probe that is still unanswered counts with its age, one that is refused as infinite. */
function startProber(url: () => string): Prober {
  const stopping = new AbortController();
  let slowest = 0;
  let pendingSince: number | null = null;
  const probing = (async () => {
    while (!stopping.signal.aborted) {
      pendingSince = performance.now();
      const isAnswered = await fetch(url(), { keepalive: false, signal: stopping.signal })
        .then((answer) => answer.ok)
        .catch(() => false);
      if (stopping.signal.aborted) return;
      slowest = isAnswered ? Math.max(slowest, performance.now() - pendingSince) : Number.POSITIVE_INFINITY;
      pendingSince = null;
      await Bun.sleep(PROBE_EVERY_MS);
    }
  })();
  return {
    slowestMs: () => Math.max(slowest, pendingSince === null ? 0 : performance.now() - pendingSince),
    stop: async () => {
      stopping.abort();
      await probing;
    },
  };
}

const BARE_SERVER =
  'console.log(Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") }).url.href)';

/** A server that does nothing but answer. */
async function startBareServer(): Promise<{ url: string; stop(): void }> {
  const child = Bun.spawn([process.execPath, "-e", BARE_SERVER], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const { value } = await child.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
  if (!value) throw new Error("the bare server did not start");
  return { url: value.trim(), stop: () => child.kill("SIGKILL") };
}
