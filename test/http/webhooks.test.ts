import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { EVENT_TYPES } from "../../src/domain/webhooks";
import { disableUser } from "../../src/work/access/command-accounts";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness } from "./harness";
import { wav } from "./media";
import { NO_ID, tryCall } from "./outcome";
import { type Received, receiver } from "./receiver";
import type { Paged } from "./resources";

type Endpoint = { id: string; url: string; event_types: string[]; state: string; created_at: string; secret?: string };
type Delivery = {
  id: string;
  event_type: string;
  state: string;
  attempts: number;
  response_status: number | null;
  error: string | null;
  next_attempt_at: string | null;
};

const HOUR = 3_600_000;

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" }, { sharesChild: true });
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const register = (url: string, eventTypes: readonly string[] = EVENT_TYPES, user = anna) =>
  user.must<Endpoint>("POST", "/v1/webhook-endpoints", { json: { url, event_types: eventTypes } });
const deliveries = async (endpoint: Endpoint) =>
  (await anna.must<Paged<Delivery>>("GET", `/v1/webhook-endpoints/${endpoint.id}/deliveries`)).items;
const sendTest = async (endpoint: Endpoint) =>
  (await anna.must<{ delivery_id: string }>("POST", `/v1/webhook-endpoints/${endpoint.id}/test`)).delivery_id;
const deliveryIn = (endpoint: Endpoint, id: string, wanted: (delivery: Delivery) => boolean) =>
  until(`delivery ${id}`, async () => (await deliveries(endpoint)).find((d) => d.id === id && wanted(d)));
const remove = (endpoint: Endpoint) => anna.must("DELETE", `/v1/webhook-endpoints/${endpoint.id}`);

/** Throws unless the standardwebhooks library accepts the message. */
const verify = (received: Received, secret: string) =>
  new Webhook(secret).verify(received.body, Object.fromEntries(received.headers)) as {
    type: string;
    data: Record<string, unknown>;
  };

describe("registering an endpoint", () => {
  test("replayed for its Idempotency-Key returns the endpoint without its secret", async () => {
    const json = { url: "http://127.0.0.1:8080/once", event_types: ["cut.failed"] };
    const options = { json, headers: { "Idempotency-Key": "hook" } };
    const made = await anna.call<Endpoint>("POST", "/v1/webhook-endpoints", options);
    const again = await anna.call<Endpoint>("POST", "/v1/webhook-endpoints", options);
    expect([made.status, again.status]).toEqual([201, 201]);
    expect(made.body.secret).toMatch(/^whsec_/);
    expect(again.body).toEqual({ ...made.body, secret: null } as never);
    await remove(made.body);
  });

  test("replayed for its Idempotency-Key succeeds although its host name no longer resolves", async () => {
    const services = server.services();
    const { resolverFor } = services;
    const json = { url: "http://hooks.studio.test:8080/", event_types: ["cut.failed"] };
    const options = { json, headers: { "Idempotency-Key": "resolved once" } };
    services.resolverFor = () => async () => [{ address: "127.0.0.1", family: 4 }];
    const made = await anna.call<Endpoint>("POST", "/v1/webhook-endpoints", options);
    services.resolverFor = () => async () => [];
    const again = await anna.call<Endpoint>("POST", "/v1/webhook-endpoints", options);
    const other = await anna.call("POST", "/v1/webhook-endpoints", { json });
    services.resolverFor = resolverFor;
    expect([made.status, again.status, other.status]).toEqual([201, 201, 422]);
    expect(again.body.id).toBe(made.body.id);
    await remove(made.body);
  });

  test("returns the endpoint with its secret, once", async () => {
    const made = await anna.call<Endpoint>("POST", "/v1/webhook-endpoints", {
      json: { url: "http://127.0.0.1:8080/a", event_types: ["cut.completed", "cut.completed"] },
    });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/v1/webhook-endpoints/${made.body.id}`);
    expect(made.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(made.body.event_types).toEqual(["cut.completed"]);
    const { secret: _, ...shown } = made.body;
    expect(await anna.must<Endpoint>("GET", `/v1/webhook-endpoints/${made.body.id}`)).toEqual(shown);
    const listed = await anna.must<Paged<Endpoint>>("GET", "/v1/webhook-endpoints");
    expect(listed.items.find((e) => e.id === made.body.id)).toEqual(shown);
    await remove(made.body);
  });

  test.each<[string, unknown, string]>([
    ["without a URL", { event_types: ["cut.completed"] }, "422 validation_error body.url"],
    ["without event types", { url: "http://127.0.0.1:8080/" }, "422 validation_error body.event_types"],
    [
      "with no event types",
      { url: "http://127.0.0.1:8080/", event_types: [] },
      "422 validation_error body.event_types",
    ],
    [
      "with an unknown one",
      { url: "http://127.0.0.1:8080/", event_types: ["cut.begun"] },
      "422 validation_error body.event_types.0",
    ],
    [
      "of the cloud metadata address",
      { url: "http://169.254.169.254/", event_types: ["cut.failed"] },
      "422 validation_error body.url",
    ],
    ["of a private address", { url: "http://10.0.0.1/", event_types: ["cut.failed"] }, "422 validation_error body.url"],
    ["of a file", { url: "file:///etc/passwd", event_types: ["cut.failed"] }, "422 validation_error body.url"],
    [
      "with a password",
      { url: "http://a:b@127.0.0.1:8080/", event_types: ["cut.failed"] },
      "422 validation_error body.url",
    ],
  ])("%s is refused", async (_what, json, expected) => {
    expect(await tryCall(anna, "POST", "/v1/webhook-endpoints", json)).toBe(expected);
  });

  test("another user's endpoint is a 404", async () => {
    const bert = await server.user();
    const endpoint = await register("http://127.0.0.1:8080/mine");
    const path = `/v1/webhook-endpoints/${endpoint.id}`;
    for (const [method, tail] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate-secret"],
      ["GET", "/deliveries"],
    ] as const) {
      expect(await tryCall(bert, method, `${path}${tail}`)).toBe("404 not_found");
    }
    expect(await tryCall(anna, "POST", `${path}/deliveries/${NO_ID}/resend`)).toBe("404 not_found");
    await remove(endpoint);
  });
});

describe("events", () => {
  test("of an asset, its cut and its render are each delivered once, signed, to each subscribed endpoint", async () => {
    await using all = receiver();
    await using cutsOnly = receiver();
    const [first, second] = [await register(all.url), await register(cutsOnly.url, ["cut.completed", "cut.failed"])];
    const asset = await anna.ready(await wav(4), { externalId: "reel 7" });
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
    await until("three webhooks", () => all.received.length >= 3 && cutsOnly.received.length >= 1);

    const messages = all.received.map((r) => verify(r, first.secret!)).sort((a, b) => a.type.localeCompare(b.type));
    expect(messages).toEqual([
      {
        type: "asset.ready",
        data: {
          entity_id: asset.id,
          asset_id: asset.id,
          project_id: asset.project_id,
          external_id: "reel 7",
          previous_state: "processing",
        },
      },
      { type: "cut.completed", data: { entity_id: cut.id, asset_id: asset.id } },
      { type: "render.completed", data: { entity_id: render.id, asset_id: asset.id, cut_id: cut.id } },
    ]);
    expect(cutsOnly.received.map((r) => verify(r, second.secret!).type)).toEqual(["cut.completed"]);
    const ids = [...all.received, ...cutsOnly.received].map((r) => r.headers.get("webhook-id"));
    expect(new Set(ids).size).toBe(4);
    await Promise.all([remove(first), remove(second)]);
  });

  test("have a signature that matches no other secret or body", async () => {
    await using hook = receiver();
    const endpoint = await register(hook.url);
    await sendTest(endpoint);
    const [message] = await until("the message", () => hook.received.length > 0 && hook.received);
    expect(() => verify(message!, `whsec_${Buffer.from("another secret, as long").toString("base64")}`)).toThrow();
    expect(() => verify({ ...message!, body: `${message!.body} ` }, endpoint.secret!)).toThrow();
    expect(verify(message!, endpoint.secret!).type).toBe("webhook.test");
    await remove(endpoint);
  });

  test("are signed with both secrets for a day after a rotation, then with the new one", async () => {
    await using hook = receiver();
    const endpoint = await register(hook.url);
    const rotated = await anna.must<Endpoint>("POST", `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`);
    expect(rotated.secret).not.toBe(endpoint.secret);
    await sendTest(endpoint);
    const [during] = await until("the first", () => hook.received.length === 1 && hook.received);
    expect(during!.headers.get("webhook-signature")!.split(" ")).toHaveLength(2);
    for (const secret of [endpoint.secret!, rotated.secret!]) expect(verify(during!, secret).type).toBe("webhook.test");
    server.advance(24 * HOUR + 1000);
    await sendTest(endpoint);
    const after = (await until("the second", () => hook.received.length === 2 && hook.received))[1]!;
    expect(after.headers.get("webhook-signature")!.split(" ")).toHaveLength(1);
    await remove(endpoint);
  });
});

describe("a failing receiver", () => {
  test("is retried on the schedule with the same ID and a new timestamp until it succeeds", async () => {
    await using hook = receiver();
    hook.answer(500, 503, 204);
    const endpoint = await register(hook.url);
    const id = await sendTest(endpoint);
    const first = await deliveryIn(endpoint, id, (d) => d.attempts === 1);
    expect(first).toMatchObject({ state: "pending", response_status: 500 });
    for (const [attempt, wait] of [
      [2, 6_000],
      [3, 5 * 60_000 + 1000],
    ] as const) {
      server.advance(wait);
      // Any write wakes the deliverer.
      await anna.project();
      await deliveryIn(endpoint, id, (d) => d.attempts === attempt);
    }
    expect(await deliveryIn(endpoint, id, (d) => d.state === "delivered")).toMatchObject({
      attempts: 3,
      response_status: 204,
      next_attempt_at: null,
    });
    expect(new Set(hook.received.map((r) => r.headers.get("webhook-id")))).toEqual(new Set([id]));
    expect(new Set(hook.received.map((r) => r.headers.get("webhook-timestamp"))).size).toBe(3);
    await remove(endpoint);
  });

  test("that redirects is not followed", async () => {
    await using hook = receiver();
    hook.answer("redirect");
    const endpoint = await register(hook.url);
    const id = await sendTest(endpoint);
    const tried = await deliveryIn(endpoint, id, (d) => d.attempts === 1);
    expect(tried).toMatchObject({ state: "pending", response_status: 302, error: "redirects are not followed" });
    expect(hook.received.map((r) => r.path)).toEqual(["/hook"]);
    await remove(endpoint);
  });

  test("that is offline gets the event when it is back", async () => {
    await using hook = receiver();
    const endpoint = await register(hook.url);
    await hook.goAway();
    const id = await sendTest(endpoint);
    const tried = await deliveryIn(endpoint, id, (d) => d.attempts === 1);
    expect(tried).toMatchObject({ state: "pending", response_status: null });
    hook.comeBack();
    server.advance(6_000);
    await anna.project();
    expect(await deliveryIn(endpoint, id, (d) => d.state === "delivered")).toMatchObject({ attempts: 2 });
    await remove(endpoint);
  });

  test("whose last attempt failed can get it again with the same ID", async () => {
    await using hook = receiver();
    hook.answer(500);
    const endpoint = await register(hook.url);
    const id = await sendTest(endpoint);
    const waits = [0, 6_000, 5 * 60_000, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
    for (const [n, wait] of waits.entries()) {
      server.advance(wait + 1000);
      await anna.project();
      await deliveryIn(endpoint, id, (d) => d.attempts === n + 1);
    }
    expect(await deliveryIn(endpoint, id, (d) => d.state === "failed")).toMatchObject({
      attempts: 8,
      next_attempt_at: null,
    });
    hook.answer(204);
    await anna.must("POST", `/v1/webhook-endpoints/${endpoint.id}/deliveries/${id}/resend`);
    expect(await deliveryIn(endpoint, id, (d) => d.state === "delivered")).toMatchObject({ attempts: 1 });
    expect(hook.received.at(-1)!.headers.get("webhook-id")).toBe(id);
    await remove(endpoint);
  });

  test("never has its response body shown", async () => {
    await using hook = receiver();
    hook.answer(400);
    const endpoint = await register(hook.url);
    const id = await sendTest(endpoint);
    const shown = await deliveryIn(endpoint, id, (d) => d.attempts === 1);
    expect(JSON.stringify(shown)).not.toContain("confidence");
    await remove(endpoint);
  });

  test("has at most ten pending test events, new or resent", async () => {
    await using hook = receiver();
    hook.answer(204, 500);
    const bert = await server.user();
    const endpoint = await register(hook.url, EVENT_TYPES, bert);
    const path = `/v1/webhook-endpoints/${endpoint.id}`;
    const test = () => tryCall(bert, "POST", `${path}/test`);
    const { delivery_id: first } = await bert.must<{ delivery_id: string }>("POST", `${path}/test`);
    const delivered = async () => (await bert.must<Paged<Delivery>>("GET", `${path}/deliveries`)).items[0]!;
    await until("the first", async () => (await delivered()).state === "delivered");
    for (let n = 0; n < 10; n++) expect(await test()).toBe("202");
    expect(await test()).toBe("429 rate_limited");
    expect(await tryCall(bert, "POST", `${path}/deliveries/${first}/resend`)).toBe("429 rate_limited");
    expect(await tryCall(anna, "GET", "/v1/webhook-endpoints")).toBe("200");
  });

  test("gets nothing while its account is disabled, and pending events afterwards", async () => {
    await using hook = receiver();
    const bert = await server.user();
    const email = `${bert.userId}@example.test`;
    const endpoint = await register(hook.url, EVENT_TYPES, bert);
    await hook.goAway();
    await bert.must("POST", `/v1/webhook-endpoints/${endpoint.id}/test`);
    const shown = () => bert.must<Paged<Delivery>>("GET", `/v1/webhook-endpoints/${endpoint.id}/deliveries`);
    await until("a failed attempt", async () => (await shown()).items[0]!.attempts === 1);
    await disableUser(server.services(), { email, disabled: true });
    hook.comeBack();
    server.advance(6_000);
    // A later event of another account has arrived: this account's was skipped.
    await using other = receiver();
    const others = await register(other.url);
    await sendTest(others);
    await until("the other account's event", () => other.received.length === 1);
    expect(hook.received).toHaveLength(0);
    await disableUser(server.services(), { email, disabled: false });
    await until("the event", () => hook.received.length === 1);
    await remove(others);
    await bert.must("DELETE", `/v1/webhook-endpoints/${endpoint.id}`);
  });
});
