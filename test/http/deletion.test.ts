import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { type SQL, sql } from "drizzle-orm";
import { findRenderById } from "../../src/store/renders";
import { removeRender } from "../../src/work/assets/deletion";
import { indexBacklog } from "../../src/work/search/index-transcripts";
import { startSession } from "./accounts";
import type { CallOptions, Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { tryCall } from "./outcome";
import { attempt, createWorkspace, inside } from "./workspace-calls";

setDefaultTimeout(PATIENCE_MS);

/** Reads the state of the entity's pipelines, and whether they are marked with a deleted asset. */
const pipelines = (server: Harness, assetId: string) =>
  server
    .services()
    .store.read.all<{ state: string; input_asset_deleted: number }>(
      sql`SELECT state, input_asset_deleted FROM pipelines WHERE input_asset_id = ${assetId} ORDER BY id`,
    );

/** Creates a prepared asset with a cut, a completed render and a running render. */
async function busyAsset(server: Harness, user: Client) {
  const { id: projectId } = await user.project();
  const asset = await user.ready(await wav(4), { projectId });
  const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  const done = await user.renderEnded((await user.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
  const hold = server.holdRenders();
  const running = await user.startRender({ asset_id: asset.id, output: { format: "mp3" } });
  await hold.reached;
  return { projectId, asset, cut, done, running, hold };
}

/** Runs `call` while the rows that `statement` deletes disappear before its first write. */
async function callDuring(server: Harness, statement: SQL, call: () => Promise<string>): Promise<string> {
  const { store } = server.services();
  const { write } = store;
  store.write = async (work) => {
    await write((tx) => tx.run(statement));
    return write(work);
  };
  try {
    return await call();
  } finally {
    store.write = write;
  }
}

test("a resource that is deleted during a request for it is a 404", async () => {
  await using server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" });
  const key = await server.user();
  const user = await startSession(server, key);
  const hook = { url: "http://127.0.0.1:4700/", event_types: ["cut.completed"] };
  const [changed, tested] = await Promise.all(
    [1, 2].map(() => user.must<{ id: string }>("POST", "/api/v1/webhook-endpoints", { json: hook })),
  );
  const workspace = await createWorkspace(user);
  const asset = await key.ready(await wav(4));
  const cut = await key.cutEnded((await key.startCut({ asset_id: asset.id })).id);
  const draft = { revision: 0, segments: [{ start: 0.5, end: 2 }], texts: [] };
  const calls: [SQL, string, string, CallOptions][] = [
    [sql`cuts WHERE id = ${cut.id}`, "PUT", `/cuts/${cut.id}/draft`, { json: draft }],
    [sql`workspaces WHERE id = ${workspace.id}`, "POST", "/projects", inside(workspace.id, { name: "P" })],
    [sql`webhook_endpoints WHERE id = ${tested!.id}`, "POST", `/webhook-endpoints/${tested!.id}/test`, {}],
    [
      sql`webhook_endpoints WHERE id = ${changed!.id}`,
      "PATCH",
      `/webhook-endpoints/${changed!.id}`,
      { json: { state: "disabled" } },
    ],
  ];
  for (const [rows, method, path, options] of calls) {
    const outcome = await callDuring(server, sql`DELETE FROM ${rows}`, () => attempt(user, method, path, options));
    expect([path, outcome]).toEqual([path, "404 not_found"]);
  }
  expect(server.errors).toEqual([]);
});

test("an asset that is deleted while its file is sent is a 404", async () => {
  await using server = await harness();
  const user = await server.user();
  const { body } = await user.call<{ asset: { id: string }; upload: { url: string } }>(
    "POST",
    "/api/v1/assets/upload-url",
    { json: { type: "audio" } },
  );
  const { id } = body.asset;
  const { store, folders } = server.services();
  const { write } = store;
  store.write = async (work) => {
    const result = await write(work);
    store.write = write;
    await write((tx) => tx.run(sql`DELETE FROM assets WHERE id = ${id}`));
    // An upload whose file was deleted cannot be written.
    await mkdir(folders.upload(id), { recursive: true });
    return result;
  };
  const { status } = await fetch(body.upload.url, { method: "PUT", body: (await wav(1)) as Uint8Array<ArrayBuffer> });
  expect([status, server.errors]).toEqual([404, []]);
});

test("an asset that is deleted while a piece of it is encoded is a 404", async () => {
  await using server = await harness();
  const key = await server.user();
  const user = await startSession(server, key);
  const { id } = await key.ready(await wav(4));
  const { pieces, store, folders } = server.services();
  const { read } = pieces;
  pieces.read = async (...request) => {
    await store.write((tx) => tx.run(sql`DELETE FROM assets WHERE id = ${id}`));
    await rm(folders.media(id).dir, { recursive: true });
    return read(...request);
  };
  expect(await attempt(user, "GET", `/assets/${id}/pieces/audio?from=0&to=2`)).toBe("404 not_found");
  expect(server.errors).toEqual([]);
});

test("an asset that is deleted while an empty cut of it is made is a 404", async () => {
  await using server = await harness();
  const user = await server.user();
  const { id } = await user.ready(await wav(4));
  const { planRequests, store, folders } = server.services();
  const { run } = planRequests;
  planRequests.run = async (...request) => {
    await store.write((tx) => tx.run(sql`DELETE FROM assets WHERE id = ${id}`));
    await rm(folders.media(id).dir, { recursive: true });
    return run(...request);
  };
  const json = { asset_id: id, options: { mode: "manual" } };
  expect(await tryCall(user, "POST", "/v1/cuts", json)).toBe("404 not_found");
  expect(server.errors).toEqual([]);
});

test("an asset whose deletion stops halfway is searchable again after the next start", async () => {
  await using server = await harness();
  const key = await server.user();
  const user = await startSession(server, key);
  const { id } = await key.ready(await wav(4));
  await key.cutEnded((await key.startCut({ asset_id: id })).id);
  const search = async () => (await user.must<{ items: object[] }>("GET", "/api/v1/search?q=alpha")).items.length;
  const { store } = server.services();
  const { write } = store;
  let writes = 0;
  store.write = async (work) => {
    if (++writes > 1) throw new Error("disk I/O error");
    return write(work);
  };
  expect(await attempt(user, "DELETE", `/assets/${id}`)).toStartWith("5");
  store.write = write;
  expect(await search()).toBe(0);
  await indexBacklog(server.services());
  expect(await search()).toBe(1);
  await user.must("DELETE", `/api/v1/assets/${id}`);
  expect(await store.read.all(sql`SELECT * FROM search_backlog`)).toEqual([]);
  server.errors.splice(0);
});

describe("deleting with running jobs", () => {
  test.each(["asset", "project"] as const)("an %s deletes its rows, jobs and files", async (what) => {
    await using server = await harness();
    const user = await server.user();
    const { projectId, asset, cut, done, running, hold } = await busyAsset(server, user);
    const path = what === "asset" ? `/v1/assets/${asset.id}` : `/v1/projects/${projectId}`;
    expect(await tryCall(user, "DELETE", path)).toBe("204");
    expect(await tryCall(user, "DELETE", path)).toBe("404 not_found");
    hold.release();
    await server.idle();
    const gone = [
      `/v1/assets/${asset.id}`,
      `/v1/cuts/${cut.id}`,
      `/v1/renders/${done.id}`,
      `/v1/renders/${running.id}`,
    ];
    for (const each of gone) expect([each, await tryCall(user, "GET", each)]).toEqual([each, "404 not_found"]);
    expect(await tryCall(user, "GET", `/v1/projects/${projectId}`)).toBe(what === "asset" ? "200" : "404 not_found");

    expect(await server.events(running.id)).toEqual(["render.cancelled"]);
    expect(await server.events(done.id)).toEqual(["render.completed"]);
    expect(await server.events(cut.id)).toEqual(["cut.completed"]);
    expect(await pipelines(server, asset.id)).toEqual([
      { state: "completed", input_asset_deleted: 1 },
      { state: "completed", input_asset_deleted: 1 },
      { state: "completed", input_asset_deleted: 1 },
      { state: "cancelled", input_asset_deleted: 1 },
    ]);
    for (const { id } of [asset, done, running]) expect(await server.leftovers(id)).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  test("an asset in preparation ends the job and leaves nothing", async () => {
    await using server = await harness();
    const user = await server.user();
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    expect(await tryCall(user, "DELETE", `/v1/assets/${id}`)).toBe("204");
    hold.release();
    await server.idle();
    expect(await server.leftovers(id)).toEqual([]);
    expect(await server.events(id)).toEqual([]);
    expect(await pipelines(server, id)).toEqual([{ state: "cancelled", input_asset_deleted: 1 }]);
    expect(server.errors).toEqual([]);
    expect((await user.ready(await wav(4))).state).toBe("ready");
  });

  test("a processing cut with a pending render", async () => {
    await using server = await harness({ RENDER_JOBS: "1" });
    const user = await server.user();
    const asset = await user.ready(await wav(4));
    const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
    const renders = server.holdRenders();
    await user.startRender({ asset_id: asset.id });
    await renders.reached;
    const waiting = await user.startRender({ asset_id: asset.id, cut_id: cut.id });
    const force = server.speech.hold("forcedAlign");
    const computing = await user.startCut({ asset_id: asset.id, script: "alpha bravo" });
    await force.reached;
    for (const { id } of [cut, computing]) expect(await tryCall(user, "DELETE", `/v1/cuts/${id}`)).toBe("204");
    force.release();
    renders.release();
    await server.idle();
    expect(await tryCall(user, "GET", `/v1/renders/${waiting.id}`)).toBe("404 not_found");
    expect(await server.events(waiting.id)).toEqual(["render.cancelled"]);
    expect(await server.events(computing.id)).toEqual([]);
    expect(await server.leftovers(waiting.id)).toEqual([]);
    expect((await user.asset(asset.id)).state).toBe("ready");
  });

  test("a render that ends just before its deletion emits completed and not cancelled", async () => {
    await using server = await harness();
    const user = await server.user();
    const { running, hold } = await busyAsset(server, user);
    const services = server.services();
    const seen = await findRenderById(services.store.read, running.id);
    hold.release();
    await user.renderEnded(running.id);
    await removeRender(services, seen!);
    expect(await tryCall(user, "GET", `/v1/renders/${running.id}`)).toBe("404 not_found");
    expect(await server.events(running.id)).toEqual(["render.completed"]);
  });

  test("an unfinished upload with its project", async () => {
    await using server = await harness();
    const user = await server.user();
    const { id: projectId } = await user.project();
    const { id } = await user.open(100_000, { projectId });
    await user.patch(id, 0, new Uint8Array(50_000));
    expect(await tryCall(user, "DELETE", `/v1/projects/${projectId}`)).toBe("204");
    expect((await user.patch(id, 50_000, new Uint8Array(50_000))).status).toBe(404);
    expect(await server.leftovers(id)).toEqual([]);
  });

  test("twice at the same time happens once", async () => {
    await using server = await harness();
    const user = await server.user();
    const { asset, running, hold } = await busyAsset(server, user);
    const results = await Promise.all([1, 2, 3].map(() => tryCall(user, "DELETE", `/v1/assets/${asset.id}`)));
    expect(results).toContain("204");
    for (const result of results) expect(["204", "404 not_found"]).toContain(result);
    hold.release();
    await server.idle();
    expect(await server.events(running.id)).toEqual(["render.cancelled"]);
    expect(server.errors).toEqual([]);
  });
});
