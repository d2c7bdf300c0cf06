/**
 * Host names whose DNS servers never answer. With `getaddrinfo` they took the threads that write uploads: twelve names delayed another
 * user's 50 bytes by 50 s.
 */
import { expect, test } from "bun:test";
import { dnsServer } from "../dns-server";
import { receiver } from "../http/receiver";
import { until } from "../until";
import { startAttackedServer } from "./attacked-server";

const SLOW_NAMES = 30;
const CHUNK_BYTES = 50;
const MAX_PATCH_MS = 500;

test("slow names of one user do not delay another user's uploads", async () => {
  await using dns = await dnsServer({}, "hang");
  await using server = await startAttackedServer({ DNS_SERVERS: dns.address });
  const [attacker, other] = [await server.user(), await server.user()];
  const chunks = 40;
  const { id } = await other.open(chunks * CHUNK_BYTES);

  const register = (n: number) =>
    attacker.call("POST", "/v1/webhook-endpoints", {
      json: { url: `https://slow-${n}.example.test/`, event_types: ["cut.completed"] },
    });
  const attacks = Array.from({ length: SLOW_NAMES }, (_, n) => register(n));
  await until("the first lookups", () => dns.asked.length > 0);
  let slowest = 0;
  for (let n = 0; n < chunks; n++) {
    const started = performance.now();
    const sent = await other.patch(id, n * CHUNK_BYTES, new Uint8Array(CHUNK_BYTES));
    expect(sent.status).toBe(204);
    slowest = Math.max(slowest, performance.now() - started);
  }
  expect(slowest).toBeLessThan(MAX_PATCH_MS);

  const statuses = (await Promise.all(attacks)).map((reply) => reply.status);
  // 4 at a time and 8 that wait are looked up; nobody waits longer than that takes.
  expect(statuses.filter((status) => status === 422)).toHaveLength(12);
  expect(statuses.filter((status) => status === 429)).toHaveLength(SLOW_NAMES - 12);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);

test("slow names of one user do not delay another user's lookup or delivery", async () => {
  await using hook = receiver();
  await using dns = await dnsServer({ "hooks.example.test": ["127.0.0.1"] }, "hang");
  await using server = await startAttackedServer({ DNS_SERVERS: dns.address, WEBHOOKS_ALLOW_LOOPBACK: "true" });
  const [attacker, other] = [await server.user(), await server.user()];
  const url = hook.url.replace("127.0.0.1", "hooks.example.test");

  const attacks = Array.from({ length: 4 }, (_, n) =>
    attacker.call("POST", "/v1/webhook-endpoints", {
      json: { url: `https://slow-${n}.example.test/`, event_types: ["cut.completed"] },
    }),
  );
  await until("the first lookups", () => dns.asked.length > 0);
  const started = performance.now();
  const endpoint = await other.must<{ id: string }>("POST", "/v1/webhook-endpoints", {
    json: { url, event_types: ["cut.completed"] },
  });
  await other.must("POST", `/v1/webhook-endpoints/${endpoint.id}/test`);
  await until("the test event", () => hook.received.length > 0);
  expect(performance.now() - started).toBeLessThan(2_000);
  await Promise.all(attacks);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);
