/** Every response of the public family, in every state of each resource, checked against the interface. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { listEntityEvents } from "../../src/store/webhooks";
import type { Client } from "../http/client";
import { type Harness, harness, PATIENCE_MS } from "../http/harness";
import { silentVideo, video, wav } from "../http/media";
import { NO_ID } from "../http/outcome";
import type { Asset, Cut, Render } from "../http/resources";
import * as schemas from "./schemas";

setDefaultTimeout(PATIENCE_MS);

setDefaultTimeout(30_000);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Lists the errors of a value as `path: message`. */
const listErrors = (schema: TSchema, value: unknown): string[] =>
  [...Value.Errors(schema, value)].map((error) => `${error.path}: ${error.message} (${JSON.stringify(error.value)})`);

/** Calls, and fails unless status and body match the interface. */
async function get<T>(path: string, schema: TSchema): Promise<T> {
  const reply = await anna.call<T>("GET", path);
  expect([path, reply.status, listErrors(schema, reply.body)]).toEqual([path, 200, []]);
  return reply.body;
}

const conforms = (schema: TSchema, value: unknown) => expect(listErrors(schema, value)).toEqual([]);

const assetEverywhere = async (id: string) => {
  await get("/v1/assets?limit=100", schemas.pageOf(schemas.assetSummary));
  return get<Asset>(`/v1/assets/${id}`, schemas.assetDetail);
};
const cutEverywhere = async (id: string) => {
  await get("/v1/cuts?limit=100", schemas.pageOf(schemas.cutInList));
  return get<Cut>(`/v1/cuts/${id}`, schemas.cut);
};
const renderEverywhere = async (id: string) => {
  await get("/v1/renders?limit=100", schemas.pageOf(schemas.renderInList));
  return get<Render>(`/v1/renders/${id}`, schemas.render);
};

test("projects, active and archived", async () => {
  const made = await anna.call("POST", "/v1/projects", { json: { name: "P" } });
  conforms(schemas.project, made.body);
  const { id } = made.body as { id: string };
  await get(`/v1/projects/${id}`, schemas.project);
  conforms(schemas.project, await anna.must("PATCH", `/v1/projects/${id}`, { json: { state: "archived" } }));
  for (const state of ["active", "archived"]) {
    await get(`/v1/projects?state=${state}`, schemas.pageOf(schemas.project));
  }
});

test("the account and its history", async () => {
  await get("/v1/users/me", schemas.user);
  await anna.ready(await wav(2));
  await get("/v1/credits/history", schemas.pageOf(schemas.ledgerEntry));
});

test("an asset from creation to ready: pending_upload, processing, ready", async () => {
  const bytes = (await video(4)) as Uint8Array<ArrayBuffer>;
  const made = await anna.open(bytes.length, { filename: "a.mp4", externalId: "x", language: "en" });
  conforms(schemas.assetSummary, made);
  await assetEverywhere(made.id);
  await anna.patch(made.id, 0, bytes.slice(0, 20_000));
  expect((await assetEverywhere(made.id)).type).toBe("video");
  const hold = server.speech.hold("analyze");
  await anna.patch(made.id, 20_000, bytes.slice(20_000));
  await hold.reached;
  expect((await assetEverywhere(made.id)).state).toBe("processing");
  hold.release();
  expect((await anna.prepared(made.id)).state).toBe("ready");
  await assetEverywhere(made.id);
});

test("assets that are pending_payment, failed, or without audio", async () => {
  const failed = await anna.prepared(await anna.upload(new Uint8Array(500).fill(65)));
  expect((await assetEverywhere(failed.id)).state).toBe("failed");
  const silent = await anna.ready(await silentVideo());
  await assetEverywhere(silent.id);

  await using dear = await harness({ CREDITS_PER_MINUTE: "10" });
  const poor = await dear.user(1);
  const unpaid = await poor.prepared(await poor.upload(await wav(2)));
  expect(unpaid.state).toBe("pending_payment");
  conforms(schemas.assetDetail, unpaid);
});

test("cuts: pending, processing, completed, failed", async () => {
  const asset = await anna.ready(await video(4));
  const hold = server.speech.hold("forcedAlign");
  const made = await anna.startCut({ asset_id: asset.id, script: "alpha bravo" });
  conforms(schemas.cut, made);
  await hold.reached;
  expect((await cutEverywhere(made.id)).state).toBe("processing");
  hold.release();
  await anna.cutEnded(made.id);
  expect((await cutEverywhere(made.id)).state).toBe("completed");
  const failed = await anna.startCut({ asset_id: (await anna.ready(await silentVideo())).id });
  await anna.cutEnded(failed.id);
  expect((await cutEverywhere(failed.id)).state).toBe("failed");
});

test("renders: pending, processing, completed, cancelled; audio and video", async () => {
  const asset = await anna.ready(await video(4));
  const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
  const hold = server.holdRenders();
  const made = await anna.startRender({ asset_id: asset.id, cut_id: cut.id });
  conforms(schemas.render, made);
  await hold.reached;
  expect((await renderEverywhere(made.id)).state).toBe("processing");
  const other = await anna.startRender({ asset_id: asset.id, output: { format: "mp3" } });
  conforms(schemas.render, await anna.must("POST", `/v1/renders/${other.id}/cancel`));
  hold.release();
  await anna.renderEnded(made.id);
  expect((await renderEverywhere(made.id)).state).toBe("completed");
  expect((await renderEverywhere(other.id)).state).toBe("cancelled");
  const audio = await anna.startRender({ asset_id: asset.id, output: { format: "m4a" } });
  await anna.renderEnded(audio.id);
  await renderEverywhere(audio.id);
});

test("event data of assets, cuts and renders", async () => {
  const { read } = server.services().store;
  const asset = await anna.ready(await wav(2), { externalId: "scene 1" });
  const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
  const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
  for (const [kind, id] of [
    ["asset", asset.id],
    ["cut", cut.id],
    ["render", render.id],
  ] as const) {
    const events = await listEntityEvents(read, id);
    expect(events).toHaveLength(1);
    conforms(schemas.eventData[kind], events[0]!.data);
    expect(events[0]!.type).toStartWith(`${kind}.`);
  }
});

describe("an error has the family's shape", () => {
  const json = (body: unknown) => ({ json: body });
  test.each<[number, string, string, object]>([
    [400, "POST", "/v1/projects", { body: "{", headers: { "Content-Type": "application/json" } }],
    [401, "GET", "/v1/projects", { headers: { Authorization: "Bearer x" } }],
    [404, "GET", `/v1/projects/${NO_ID}`, {}],
    [404, "GET", "/v1/nothing", {}],
    [404, "POST", "/v1/cuts", json({ asset_id: NO_ID })],
    [412, "DELETE", `/v1/uploads/${NO_ID}`, {}],
    [413, "POST", "/v1/projects", json({ name: "x".repeat(1_100_000) })],
    [415, "POST", "/v1/projects", { body: "x", headers: { "Content-Type": "text/plain" } }],
    [422, "GET", "/v1/projects/x", {}],
    [422, "GET", "/v1/projects?limit=x&cursor=", {}],
    [422, "POST", "/v1/projects", json({ name: "", other: 1 })],
    [422, "POST", "/v1/cuts", json({ asset_id: "x", options: { mode: "x", more: 1 } })],
    [422, "POST", "/v1/renders", json({ asset_id: "x", output: { format: "x" } })],
    [422, "POST", "/v1/projects", json(["x"])],
    [422, "PATCH", "/v1/projects/x", json({ name: 5 })],
  ])("%d %s %s", async (status, method, path, options) => {
    const reply = await anna.call(method, path, options);
    expect([reply.status, listErrors(schemas.failure, reply.body)]).toEqual([status, []]);
    expect(reply.headers.get("content-type")).toStartWith("application/json");
  });

  test("also if an Idempotency-Key was used for another request", async () => {
    const headers = { "Idempotency-Key": "k" };
    await anna.call("POST", "/v1/projects", { json: { name: "a" }, headers });
    const reply = await anna.call("POST", "/v1/projects", { json: { name: "b" }, headers });
    expect([reply.status, listErrors(schemas.failure, reply.body)]).toEqual([422, []]);
  });
});
