/**
 * Many simultaneous sign-ins: each costs a core and 64 MiB for a while, and the server must still respond to all other
 * users.
 */
import { expect, test } from "bun:test";
import { fullOr, isFullSize } from "../full-size";
import { startAttackedServer } from "./attacked-server";

const SIGN_INS = fullOr(200, 40);
const MAX_P99_MS = 100;
const MAX_GROWTH_MEGABYTES = 300;
const PROBE_EVERY_MS = 10;

/** The account that `server.user()` creates first. */
const ACCOUNT = { email: "user1@example.test", password: "correct horse battery" };

type Latency = { p99: number; slowest: number; count: number };

/** Asks again and again until it is stopped. */
function startProbes(url: string, headers: Record<string, string> = {}): { stop(): Promise<Latency> } {
  const times: number[] = [];
  let isStopped = false;
  const probing = (async () => {
    while (!isStopped) {
      const started = performance.now();
      const { ok } = await fetch(url, { headers });
      expect(ok).toBe(true);
      times.push(performance.now() - started);
      await Bun.sleep(PROBE_EVERY_MS);
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await probing;
      times.sort((a, b) => a - b);
      return { p99: times[Math.floor(times.length * 0.99)]!, slowest: times.at(-1)!, count: times.length };
    },
  };
}

test(`${SIGN_INS} simultaneous sign-ins delay no other user`, async () => {
  await using server = await startAttackedServer();
  const user = await server.user();
  const idle = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") });
  const signIn = () =>
    fetch(`${server.url()}/api/v1/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(ACCOUNT),
    });

  const probes = {
    health: startProbes(`${server.url()}/healthz`),
    read: startProbes(`${server.url()}/api/v1/projects`, { Authorization: `Bearer ${user.key}` }),
    bare: startProbes(idle.url.href),
  };
  const started = performance.now();
  const statuses = await Promise.all(Array.from({ length: SIGN_INS }, async () => (await signIn()).status));
  const seconds = (performance.now() - started) / 1000;
  const [health, read, bare] = await Promise.all([probes.health.stop(), probes.read.stop(), probes.bare.stop()]);
  idle.stop(true);

  const count = (status: number) => statuses.filter((one) => one === status).length;
  const show = ({ p99, slowest, count: probed }: Latency) =>
    `p99 ${p99.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms of ${probed}`;
  console.log(
    `${SIGN_INS} sign-ins in ${seconds.toFixed(1)} s: ${count(200)} signed in, ${count(503)} refused with 503; ` +
      `/healthz ${show(health)}; a read ${show(read)}; a bare server ${show(bare)}; ` +
      `memory +${server.memoryGrowthMegabytes().toFixed(0)} MB`,
  );
  expect(count(200) + count(503)).toBe(SIGN_INS);
  expect(count(200)).toBeGreaterThan(0);
  // The delay that a busy machine adds to a bare server is allowed here too; it is too unsteady beside other tests.
  if (isFullSize) expect(Math.max(health.p99, read.p99)).toBeLessThan(MAX_P99_MS + bare.p99);
  expect(server.memoryGrowthMegabytes()).toBeLessThan(MAX_GROWTH_MEGABYTES);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 180_000);
