/** Rows of the contract: webhook endpoints and their events. */
import { expect } from "bun:test";
import { Webhook } from "standardwebhooks";
import { EVENT_TYPES } from "../../../src/domain/webhooks";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import { type Receiver, receiver } from "../../http/receiver";
import type { Paged } from "../../http/resources";
import { until } from "../../until";
import { type Fixtures, limitRow, type Row } from "./fixtures";

const HOOK = { url: "http://127.0.0.1:8080/hook", event_types: ["render.completed"] };

type Endpoint = { id: string; url: string; event_types: string[]; state: string; secret?: string };
type Delivery = { id: string; state: string; attempts: number; event_type: string };

const register = async ({ call }: Fixtures, json: object = HOOK) =>
  (await call<Endpoint>("POST", "/v1/webhook-endpoints", json)).body;

const verified = (hook: Receiver, endpoint: Endpoint) =>
  hook.received.map(
    ({ body, headers }) =>
      new Webhook(endpoint.secret!).verify(body, Object.fromEntries(headers)) as {
        type: string;
        data: Record<string, unknown>;
      },
  );

export const webhookRows: Row[] = [
  [
    "POST /v1/webhook-endpoints: 201 with Location and the secret, which is shown once",
    async (fixtures) => {
      const made = await fixtures.call<Endpoint>("POST", "/v1/webhook-endpoints", HOOK);
      expect(made.status).toBe(201);
      const path = `/v1/webhook-endpoints/${made.body.id}`;
      expect(made.headers.get("location")).toBe(path);
      expect(made.body).toMatchObject({ ...HOOK, state: "enabled", secret: expect.stringMatching(/^whsec_/) });
      const read = await fixtures.call<Endpoint>("GET", path);
      expect(read.body).not.toHaveProperty("secret");
      expect(await fixtures.ids("/v1/webhook-endpoints?limit=1")).toContain(made.body.id);
      expect(await fixtures.getOutcome("DELETE", path)).toBe("204");
      expect(await fixtures.getOutcome("GET", path)).toBe("404 not_found");
    },
  ],
  [
    "url: http or https, without user name, no port of another service, no cloud metadata or link-local address",
    async ({ getOutcome }) => {
      const hosts = [
        "http://169.254.169.254/",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://0xa9fea9fe/",
      ];
      const others = ["ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://127.0.0.1:25/", "http://10.0.0.1/", "x", ""];
      for (const url of [...hosts, ...others]) {
        const said = await getOutcome("POST", "/v1/webhook-endpoints", { ...HOOK, url });
        expect([url, said]).toEqual([url, "422 validation_error body.url"]);
      }
    },
  ],
  [
    "event_types: one or more of the eight event types",
    async ({ getOutcome, call }) => {
      const bad = (event_types: unknown) => getOutcome("POST", "/v1/webhook-endpoints", { ...HOOK, event_types });
      expect(await bad(["cut.started"])).toBe("422 validation_error body.event_types.0");
      for (const none of [[], "cut.failed", null])
        expect(await bad(none)).toBe("422 validation_error body.event_types");
      const made = await call<Endpoint>("POST", "/v1/webhook-endpoints", { ...HOOK, event_types: [...EVENT_TYPES] });
      expect(made.body.event_types).toHaveLength(8);
      await call("DELETE", `/v1/webhook-endpoints/${made.body.id}`);
    },
  ],
  [
    "PATCH /v1/webhook-endpoints/{id}: url, event_types, state",
    async (fixtures) => {
      const { id } = await register(fixtures);
      const path = `/v1/webhook-endpoints/${id}`;
      const change = { url: "http://127.0.0.1:9090/", event_types: ["cut.failed"], state: "disabled" };
      const byHand = { disabled_reason: "manual", disabled_at: expect.any(String) };
      expect((await fixtures.call("PATCH", path, change)).body).toMatchObject({ ...change, ...byHand });
      expect(await fixtures.getOutcome("POST", `${path}/test`)).toBe("409 conflict");
      expect((await fixtures.call("PATCH", path, {})).body).toMatchObject(change);
      expect(await fixtures.getOutcome("PATCH", path, { state: "x" })).toBe("422 validation_error body.state");
      expect(await fixtures.getOutcome("PATCH", path, { secret: "x" })).toBe("422 validation_error body.secret");
      expect(await fixtures.getOutcome("PATCH", path, { url: "http://10.0.0.1/" })).toBe(
        "422 validation_error body.url",
      );
      const enabled = { state: "enabled", disabled_reason: null, disabled_at: null };
      expect((await fixtures.call("PATCH", path, { state: "enabled" })).body).toMatchObject(enabled);
      await fixtures.call("DELETE", path);
    },
  ],
  limitRow("/v1/webhook-endpoints", 100, 20),
  [
    "unknown and foreign webhook endpoints: 404; invalid UUID: 422",
    async (fixtures) => {
      const { id } = await register(fixtures);
      const calls = [
        ["GET", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["POST", "/rotate-secret"],
        ["POST", "/test"],
        ["GET", "/deliveries"],
        ["GET", `/deliveries/${NO_ID}`],
        ["POST", `/deliveries/${NO_ID}/resend`],
      ];
      for (const [method, tail] of calls) {
        const json = method === "PATCH" ? {} : undefined;
        const getOutcome = (path: string, as = fixtures.anna) =>
          fixtures.getOutcome(method!, `/v1/webhook-endpoints/${path}${tail}`, json, as);
        expect(await getOutcome(id, fixtures.bert)).toBe("404 not_found");
        expect(await getOutcome(NO_ID)).toBe("404 not_found");
        expect(await getOutcome("x")).toBe("422 validation_error path.endpoint_id");
      }
      await fixtures.call("DELETE", `/v1/webhook-endpoints/${id}`);
    },
  ],
  [
    "events: exactly type and data; signed as Standard Webhooks; webhook-id, -timestamp, -signature; one ID each",
    async (fixtures) => {
      await using hook = receiver();
      const endpoint = await register(fixtures, { url: hook.url, event_types: [...EVENT_TYPES] });
      const asset = await fixtures.anna.ready(await wav(2), { externalId: "scene 1" });
      const cut = await fixtures.anna.cutEnded((await fixtures.anna.startCut({ asset_id: asset.id })).id);
      const render = await fixtures.anna.renderEnded((await fixtures.anna.startRender({ asset_id: asset.id })).id);
      await until("three webhooks", () => hook.received.length >= 3);
      const data = { entity_id: asset.id, asset_id: asset.id, project_id: asset.project_id };
      expect(verified(hook, endpoint).toSorted((a, b) => a.type.localeCompare(b.type))).toEqual([
        { type: "asset.ready", data: { ...data, external_id: "scene 1", previous_state: "processing" } },
        { type: "cut.completed", data: { entity_id: cut.id, asset_id: asset.id } },
        { type: "render.completed", data: { entity_id: render.id, asset_id: asset.id, cut_id: null } },
      ]);
      const ids = hook.received.map(({ headers }) => headers.get("webhook-id")!);
      expect(new Set(ids).size).toBe(3);
      const listed = await fixtures.ids(`/v1/webhook-endpoints/${endpoint.id}/deliveries?limit=2`);
      expect(listed.toSorted()).toEqual(ids.toSorted());
      await fixtures.call("DELETE", `/v1/webhook-endpoints/${endpoint.id}`);
    },
  ],
  [
    "test, deliveries, resend: 202 with delivery_id; a resent one has the same ID; failures are retried",
    async (fixtures) => {
      await using hook = receiver();
      hook.answer(500, 204);
      const endpoint = await register(fixtures, { url: hook.url, event_types: ["cut.failed"] });
      const path = `/v1/webhook-endpoints/${endpoint.id}`;
      const sent = await fixtures.call<{ delivery_id: string }>("POST", `${path}/test`);
      expect(sent.status).toBe(202);
      const id = sent.body.delivery_id;
      const delivery = (wanted: (one: Delivery) => boolean) =>
        until("the delivery", async () => {
          const { body } = await fixtures.call<Paged<Delivery>>("GET", `${path}/deliveries`);
          return body.items.find((one) => one.id === id && wanted(one));
        });
      expect(await delivery((one) => one.attempts === 1)).toMatchObject({
        state: "pending",
        event_type: "webhook.test",
      });
      const resent = await fixtures.call<{ delivery_id: string }>("POST", `${path}/deliveries/${id}/resend`);
      expect([resent.status, resent.body.delivery_id]).toEqual([202, id]);
      await delivery((one) => one.state === "delivered");
      expect(await fixtures.ids(`${path}/deliveries?state=delivered`)).toEqual([id]);
      const { body } = await fixtures.call<Delivery & { payload: string }>("GET", `${path}/deliveries/${id}`);
      expect([body.state, body.payload]).toEqual(["delivered", hook.received[0]!.body]);
      expect(await fixtures.ids(`${path}/deliveries?state=failed`)).toEqual([]);
      expect(await fixtures.getOutcome("GET", `${path}/deliveries?state=x`)).toBe("422 validation_error query.state");
      expect(hook.received.map(({ headers }) => headers.get("webhook-id"))).toEqual([id, id]);
      expect(verified(hook, endpoint).map((event) => event.type)).toEqual(["webhook.test", "webhook.test"]);
      await fixtures.call("DELETE", path);
    },
  ],
  [
    "rotate-secret: 200 with a new secret; the old one stays valid for 24 h, until old_secret_expires_at",
    async (fixtures) => {
      await using hook = receiver();
      const endpoint = await register(fixtures, { url: hook.url, event_types: ["cut.failed"] });
      const path = `/v1/webhook-endpoints/${endpoint.id}`;
      const rotated = (await fixtures.call<Endpoint>("POST", `${path}/rotate-secret`)).body;
      expect(rotated.secret).not.toBe(endpoint.secret);
      expect([endpoint, rotated]).toMatchObject([
        { old_secret_expires_at: null },
        { old_secret_expires_at: expect.any(String) },
      ]);
      await fixtures.call("POST", `${path}/test`);
      await until("the message", () => hook.received.length === 1);
      for (const one of [endpoint, rotated]) expect(verified(hook, one)[0]!.type).toBe("webhook.test");
      await fixtures.call("DELETE", path);
    },
  ],
];
