/** Webhook endpoints that are disabled because their receiver fails, and the notifications of their owner. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { tryCall } from "./outcome";
import { receiver } from "./receiver";
import type { Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

type Endpoint = { id: string; state: string; disabled_reason: string | null; disabled_at: string | null };
type Notice = { type: string; workspace_id: string; payload: object };

const DAY_MS = 24 * 3600_000;

let server: Harness;
beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Creates a user with an endpoint. */
async function register(url: string) {
  const user = await server.user();
  const json = { url, event_types: ["asset.ready"] };
  const { id } = await user.must<Endpoint>("POST", "/v1/webhook-endpoints", { json });
  const path = `/v1/webhook-endpoints/${id}`;
  return {
    user,
    id,
    path,
    sendTest: () => user.must("POST", `${path}/test`),
    enable: () => user.must<Endpoint>("PATCH", path, { json: { state: "enabled" } }),
    disabled: () =>
      until("disabled", async () => {
        const shown = await user.must<Endpoint>("GET", path);
        return shown.state === "disabled" && shown;
      }),
  };
}

const listNotices = async (user: Client): Promise<Notice[]> =>
  (await user.must<{ items: Notice[] }>("GET", "/api/v1/notifications")).items;

test("an endpoint that responds 410 is disabled and can be enabled again; its owner is notified each time", async () => {
  await using hook = receiver();
  hook.answer(410);
  const endpoint = await register(hook.url);
  const payload = { endpoint_id: endpoint.id, host: new URL(hook.url).host, reason: "gone" };
  const notice = { type: "webhook_disabled", workspace_id: endpoint.user.userId, payload };
  for (const expected of [[notice], [notice, notice]]) {
    await endpoint.sendTest();
    expect(await endpoint.disabled()).toMatchObject({ disabled_reason: "gone", disabled_at: expect.any(String) });
    expect(await tryCall(endpoint.user, "POST", `${endpoint.path}/test`)).toBe("409 conflict");
    expect(await listNotices(endpoint.user)).toMatchObject(expected);
    expect(await endpoint.enable()).toMatchObject({ state: "enabled", disabled_reason: null, disabled_at: null });
  }
});

test("an endpoint without a success in five days is disabled, and its owner is notified once", async () => {
  await using hook = receiver();
  hook.answer(500);
  const endpoint = await register(hook.url);
  await endpoint.sendTest();
  await until("the attempt", async () => {
    const { items } = await endpoint.user.must<Paged<{ attempts: number }>>("GET", `${endpoint.path}/deliveries`);
    return items[0]?.attempts === 1;
  });
  const since = server.services().now();
  server.advance(5 * DAY_MS + 1000);
  await endpoint.sendTest();
  expect((await endpoint.disabled()).disabled_reason).toBe("failing");
  const notices = await listNotices(endpoint.user);
  const { failing_since: from } = notices[0]!.payload as { failing_since: string };
  expect(Math.abs(Date.parse(from) - since)).toBeLessThan(60_000);
  const payload = { endpoint_id: endpoint.id, reason: "failing" };
  expect(notices).toMatchObject([{ type: "webhook_disabled", payload }]);
});
