/**
 * Host names whose DNS servers never answer. With `getaddrinfo` they took the threads that write uploads: twelve names
 * delayed another user's 50 bytes by 50 s.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DnsServer, dnsServer } from "../dns-server";
import type { Client } from "../http/client";
import { receiver } from "../http/receiver";
import { until } from "../until";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { startStopwatch } from "./stopwatch";

const HOOK_NAME = "hooks.example.test";

let dns: DnsServer;
let server: AttackedServer;
beforeAll(async () => {
  dns = await dnsServer({ [HOOK_NAME]: ["127.0.0.1"] }, "hang");
  server = await startAttackedServer({ DNS_SERVERS: dns.address, WEBHOOKS_ALLOW_LOOPBACK: "true" });
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

const SLOW_NAMES = 30;
const CHUNK_BYTES = 50;
/** Below the time that a lookup takes, which uploads must not wait for. */
const MAX_PATCH_MS = 1_000;
/** Flushes of a PATCH: the bytes and the database. */
const PATCH_FLUSHES = 2;
const MAX_DELIVERY_MS = 2_000;
/** Flushes of a delivery: the endpoint, its test event and its delivery. */
const DELIVERY_FLUSHES = 3;

/** Registers receivers whose names, `<test>-<n>`, are never resolved. */
const registerSlowNames = (user: Client, test: string, count: number) =>
  Array.from({ length: count }, (_, n) =>
    user.call("POST", "/v1/webhook-endpoints", {
      json: { url: `https://${test}-${n}.example.test/`, event_types: ["cut.completed"] },
    }),
  );
const wasAsked = (test: string) => dns.asked.some((question) => question.includes(` ${test}-`));

// Both mostly wait for lookups, of different users.
test.concurrent("slow names of one user do not delay another user's uploads", async () => {
  const [attacker, other] = [await server.user(), await server.user()];
  const chunks = 40;
  const { id } = await other.open(chunks * CHUNK_BYTES);

  const attacks = registerSlowNames(attacker, "uploads", SLOW_NAMES);
  await until("the first lookups", () => wasAsked("uploads"));
  let slowest = 0;
  for (let n = 0; n < chunks; n++) {
    const tookMs = startStopwatch(server.pid());
    const sent = await other.patch(id, n * CHUNK_BYTES, new Uint8Array(CHUNK_BYTES));
    expect(sent.status).toBe(204);
    slowest = Math.max(slowest, tookMs());
  }
  expect(slowest).toBeLessThan(MAX_PATCH_MS + PATCH_FLUSHES * server.slowestFlushMs());

  const statuses = (await Promise.all(attacks)).map((reply) => reply.status);
  // 4 at a time and 8 that wait are looked up; no lookup waits longer than that takes.
  expect(statuses.filter((status) => status === 422)).toHaveLength(12);
  expect(statuses.filter((status) => status === 429)).toHaveLength(SLOW_NAMES - 12);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);

test.concurrent("slow names of one user do not delay another user's lookup or delivery", async () => {
  await using hook = receiver();
  const [attacker, other] = [await server.user(), await server.user()];
  const url = hook.url.replace("127.0.0.1", HOOK_NAME);

  const attacks = registerSlowNames(attacker, "deliveries", 4);
  await until("the first lookups", () => wasAsked("deliveries"));
  const tookMs = startStopwatch(server.pid());
  const endpoint = await other.must<{ id: string }>("POST", "/v1/webhook-endpoints", {
    json: { url, event_types: ["cut.completed"] },
  });
  await other.must("POST", `/v1/webhook-endpoints/${endpoint.id}/test`);
  await until("the test event", () => hook.received.length > 0);
  expect(tookMs()).toBeLessThan(MAX_DELIVERY_MS + DELIVERY_FLUSHES * server.slowestFlushMs());
  await Promise.all(attacks);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);
