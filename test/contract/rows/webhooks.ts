/** Rows of the contract: webhook endpoints and their events. */
import { expect } from "bun:test";
import { Webhook } from "standardwebhooks";
import { EVENT_TYPES } from "../../../src/domain/webhooks";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import { type Receiver, receiver } from "../../http/receiver";
import type { Paged } from "../../http/resources";
import { until } from "../../until";
import { limitRow, type Row, type World } from "./world";

const HOOK = { url: "http://127.0.0.1:8080/hook", event_types: ["render.completed"] };

type Endpoint = { id: string; url: string; event_types: string[]; state: string; secret?: string };
type Delivery = { id: string; state: string; attempts: number; event_type: string };

const register = async ({ ask }: World, json: object = HOOK) =>
  (await ask<Endpoint>("POST", "/v1/webhook-endpoints", json)).body;

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
    "POST /v1/webhook-endpoints: 201 with Location and the secret, which is shown this once",
    async (world) => {
      const made = await world.ask<Endpoint>("POST", "/v1/webhook-endpoints", HOOK);
      expect(made.status).toBe(201);
      const path = `/v1/webhook-endpoints/${made.body.id}`;
      expect(made.headers.get("location")).toBe(path);
      expect(made.body).toMatchObject({ ...HOOK, state: "enabled", secret: expect.stringMatching(/^whsec_/) });
      const read = await world.ask<Endpoint>("GET", path);
      expect(read.body).not.toHaveProperty("secret");
      expect(await world.ids("/v1/webhook-endpoints?limit=1")).toContain(made.body.id);
      expect(await world.says("DELETE", path)).toBe("204");
      expect(await world.says("GET", path)).toBe("404 not_found");
    },
  ],
  [
    "a webhook's url: http or https, no user name, no port of another service, never metadata or link-local",
    async ({ says }) => {
      const hosts = [
        "http://169.254.169.254/",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://0xa9fea9fe/",
      ];
      const others = ["ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://127.0.0.1:25/", "http://10.0.0.1/", "x", ""];
      for (const url of [...hosts, ...others]) {
        const said = await says("POST", "/v1/webhook-endpoints", { ...HOOK, url });
        expect([url, said]).toEqual([url, "422 validation_error body.url"]);
      }
    },
  ],
  [
    "event_types: one or more of the eight event types",
    async ({ says, ask }) => {
      const bad = (event_types: unknown) => says("POST", "/v1/webhook-endpoints", { ...HOOK, event_types });
      expect(await bad(["cut.started"])).toBe("422 validation_error body.event_types.0");
      for (const none of [[], "cut.failed", null])
        expect(await bad(none)).toBe("422 validation_error body.event_types");
      const made = await ask<Endpoint>("POST", "/v1/webhook-endpoints", { ...HOOK, event_types: [...EVENT_TYPES] });
      expect(made.body.event_types).toHaveLength(8);
      await ask("DELETE", `/v1/webhook-endpoints/${made.body.id}`);
    },
  ],
  [
    "PATCH /v1/webhook-endpoints/{id}: url, event_types, state",
    async (world) => {
      const { id } = await register(world);
      const path = `/v1/webhook-endpoints/${id}`;
      const change = { url: "http://127.0.0.1:9090/", event_types: ["cut.failed"], state: "disabled" };
      expect((await world.ask("PATCH", path, change)).body).toMatchObject(change);
      expect(await world.says("POST", `${path}/test`)).toBe("409 conflict");
      expect((await world.ask("PATCH", path, {})).body).toMatchObject(change);
      expect(await world.says("PATCH", path, { state: "x" })).toBe("422 validation_error body.state");
      expect(await world.says("PATCH", path, { secret: "x" })).toBe("422 validation_error body.secret");
      expect(await world.says("PATCH", path, { url: "http://10.0.0.1/" })).toBe("422 validation_error body.url");
      await world.ask("DELETE", path);
    },
  ],
  limitRow("/v1/webhook-endpoints", 100, 20),
  [
    "webhook endpoints of none and of other users: 404; invalid UUID: 422",
    async (world) => {
      const { id } = await register(world);
      const calls = [
        ["GET", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["POST", "/rotate-secret"],
        ["POST", "/test"],
        ["GET", "/deliveries"],
        ["POST", `/deliveries/${NO_ID}/resend`],
      ];
      for (const [method, tail] of calls) {
        const json = method === "PATCH" ? {} : undefined;
        const says = (path: string, as = world.anna) =>
          world.says(method!, `/v1/webhook-endpoints/${path}${tail}`, json, as);
        expect(await says(id, world.bert)).toBe("404 not_found");
        expect(await says(NO_ID)).toBe("404 not_found");
        expect(await says("x")).toBe("422 validation_error path.endpoint_id");
      }
      await world.ask("DELETE", `/v1/webhook-endpoints/${id}`);
    },
  ],
  [
    "events: exactly type and data; signed by the standard; webhook-id, -timestamp, -signature; one id each",
    async (world) => {
      await using hook = receiver();
      const endpoint = await register(world, { url: hook.url, event_types: [...EVENT_TYPES] });
      const asset = await world.anna.ready(await wav(2), { externalId: "scene 1" });
      const cut = await world.anna.cutEnded((await world.anna.startCut({ asset_id: asset.id })).id);
      const render = await world.anna.renderEnded((await world.anna.startRender({ asset_id: asset.id })).id);
      await until("three webhooks", () => hook.received.length >= 3);
      const data = { entity_id: asset.id, asset_id: asset.id, project_id: asset.project_id };
      expect(verified(hook, endpoint).toSorted((a, b) => a.type.localeCompare(b.type))).toEqual([
        { type: "asset.ready", data: { ...data, external_id: "scene 1", previous_state: "processing" } },
        { type: "cut.completed", data: { entity_id: cut.id, asset_id: asset.id } },
        { type: "render.completed", data: { entity_id: render.id, asset_id: asset.id, cut_id: null } },
      ]);
      const ids = hook.received.map(({ headers }) => headers.get("webhook-id")!);
      expect(new Set(ids).size).toBe(3);
      const listed = await world.ids(`/v1/webhook-endpoints/${endpoint.id}/deliveries?limit=2`);
      expect(listed.toSorted()).toEqual(ids.toSorted());
      await world.ask("DELETE", `/v1/webhook-endpoints/${endpoint.id}`);
    },
  ],
  [
    "test, deliveries, resend: 202 with delivery_id; a resent one has the same ID; failures are retried",
    async (world) => {
      await using hook = receiver();
      hook.answer(500, 204);
      const endpoint = await register(world, { url: hook.url, event_types: ["cut.failed"] });
      const path = `/v1/webhook-endpoints/${endpoint.id}`;
      const sent = await world.ask<{ delivery_id: string }>("POST", `${path}/test`);
      expect(sent.status).toBe(202);
      const id = sent.body.delivery_id;
      const delivery = (wanted: (one: Delivery) => boolean) =>
        until("the delivery", async () => {
          const { body } = await world.ask<Paged<Delivery>>("GET", `${path}/deliveries`);
          return body.items.find((one) => one.id === id && wanted(one));
        });
      expect(await delivery((one) => one.attempts === 1)).toMatchObject({
        state: "pending",
        event_type: "webhook.test",
      });
      const resent = await world.ask<{ delivery_id: string }>("POST", `${path}/deliveries/${id}/resend`);
      expect([resent.status, resent.body.delivery_id]).toEqual([202, id]);
      await delivery((one) => one.state === "delivered");
      expect(hook.received.map(({ headers }) => headers.get("webhook-id"))).toEqual([id, id]);
      expect(verified(hook, endpoint).map((event) => event.type)).toEqual(["webhook.test", "webhook.test"]);
      await world.ask("DELETE", path);
    },
  ],
  [
    "rotate-secret: 200 with a new secret; the old one stays valid for 24 h",
    async (world) => {
      await using hook = receiver();
      const endpoint = await register(world, { url: hook.url, event_types: ["cut.failed"] });
      const path = `/v1/webhook-endpoints/${endpoint.id}`;
      const rotated = (await world.ask<Endpoint>("POST", `${path}/rotate-secret`)).body;
      expect(rotated.secret).not.toBe(endpoint.secret);
      await world.ask("POST", `${path}/test`);
      await until("the message", () => hook.received.length === 1);
      for (const one of [endpoint, rotated]) expect(verified(hook, one)[0]!.type).toBe("webhook.test");
      await world.ask("DELETE", path);
    },
  ],
];
