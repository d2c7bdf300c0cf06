/** Receivers that hang: one user's do not delay another user's events, and test events do not pile up. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "../http/client";
import { receiver } from "../http/receiver";
import { until } from "../until";
import { type AttackedServer, startAttackedServer } from "./attacked-server";

let server: AttackedServer;
beforeAll(async () => {
  server = await startAttackedServer({ WEBHOOKS_ALLOW_LOOPBACK: "true" });
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const ENDPOINTS = 50;
const MAX_IN_FLIGHT = 8;
const MAX_QUEUED_TESTS = 10;
const TESTS = 30;
const MAX_ARRIVAL_MS = 5_000;

const register = (user: Client, url: string) =>
  user.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json: { url, event_types: ["asset.failed"] } });
/** Uploads a file that is not a recording. Its failure is an event for each endpoint. */
const failAsset = (user: Client) => user.upload(new Uint8Array(64));

test("while one user's receivers hang, another user's event arrives", async () => {
  await using hanging = receiver();
  hanging.answer("hang");
  await using hook = receiver();
  const [attacker, other] = [await server.user(), await server.user()];
  for (let n = 0; n < ENDPOINTS; n++) await register(attacker, `${hanging.url}/${n}`);
  await register(other, hook.url);
  await Promise.all([failAsset(attacker), failAsset(attacker)]);
  await until("receivers that hang", () => hanging.received.length >= MAX_IN_FLIGHT, 30);

  const asset = await failAsset(other);
  await other.prepared(asset);
  const failed = performance.now();
  await until("the other user's event", () => hook.received.length > 0, 30);
  expect(performance.now() - failed).toBeLessThan(MAX_ARRIVAL_MS);
  expect(hook.received[0]!.body).toContain(asset);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 90_000);

test("an eleventh test event waits until one was delivered, another user's does not", async () => {
  await using hanging = receiver();
  hanging.answer("hang");
  await using hook = receiver();
  const [attacker, other] = [await server.user(), await server.user()];
  const endpoints = [await register(attacker, `${hanging.url}/1`), await register(attacker, `${hanging.url}/2`)];
  const sendTest = (user: Client, { id }: { id: string }) =>
    user.call<{ error: { code: string } }>("POST", `/v1/webhook-endpoints/${id}/test`);
  const replies = await Promise.all(Array.from({ length: TESTS }, (_, n) => sendTest(attacker, endpoints[n % 2]!)));
  expect(replies.filter((reply) => reply.status === 202)).toHaveLength(MAX_QUEUED_TESTS);
  const refused = replies.filter((reply) => reply.status === 429);
  expect(refused).toHaveLength(TESTS - MAX_QUEUED_TESTS);
  expect(refused[0]!.body.error.code).toBe("rate_limited");
  expect(Number(refused[0]!.headers.get("retry-after"))).toBeGreaterThan(0);

  expect((await sendTest(other, await register(other, hook.url))).status).toBe(202);
  await until("the other user's test event", () => hook.received.length > 0, 5);
  // Without the endpoint, no delivery is waiting.
  await attacker.must("DELETE", `/v1/webhook-endpoints/${endpoints[0]!.id}`);
  expect((await sendTest(attacker, endpoints[1]!)).status).toBe(202);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);
