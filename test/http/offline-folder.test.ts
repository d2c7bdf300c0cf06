/**
 * A media folder that goes offline and comes back, as a network drive does. While it is offline, its path is an empty
 * folder.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../src/lib/ids";
import { findAssetById } from "../../src/store/assets";
import { findLatestStep } from "../../src/store/steps";
import { sweep } from "../../src/work/recovery";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import type { Client, Reply } from "./client";
import { exportIs, requestExport } from "./exports";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";
import { outcome } from "./outcome";
import type { Render } from "./resources";
import { createLink, put } from "./upload-clients";

setDefaultTimeout(PATIENCE_MS);

type MountedServer = AsyncDisposable & {
  server: Harness;
  media: string;
  /** Resolves when the server knows. */
  unmount(): Promise<void>;
  /** Throws when something was written to the empty folder. */
  mount(): Promise<void>;
};

async function mountedServer(settings: Record<string, string> = {}): Promise<MountedServer> {
  const folder = await temporaryFolder();
  const media = join(folder.path, "media");
  const server = await harness({ MEDIA_DIR: media, ...settings });
  const check = () => server.services().folders.guard.check();
  return {
    server,
    media,
    unmount: async () => {
      await rename(media, `${media}.away`);
      await mkdir(media);
      expect(await check()).toMatchObject({ folder: media });
    },
    mount: async () => {
      await rmdir(media);
      await rename(`${media}.away`, media);
      expect(await check()).toBeNull();
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const DAY_MS = 24 * 3600 * 1000;
const OFFLINE = "503 upstream_unavailable";

/** Also of the dashboard family, whose errors have another shape. */
function toOutcome(reply: Reply<unknown>): string {
  const { code } = (reply.body ?? {}) as { code?: string };
  return code === undefined ? outcome(reply) : `${reply.status} ${code}`;
}

async function expectOffline(client: Client, calls: [method: string, path: string, json?: object][]): Promise<void> {
  for (const [method, path, json] of calls) {
    const reply = await client.call(method, path, json === undefined ? {} : { json });
    expect([path, toOutcome(reply), reply.headers.get("retry-after")]).toEqual([path, OFFLINE, "30"]);
  }
}

test("files are in the media folder, and the database is not", async () => {
  await using at = await mountedServer();
  const { server, media } = at;
  const anna = await server.user();
  const { id } = await anna.ready(await wav(2));
  expect(await readdir(join(media, "media", id))).toContain("source");
  const inData = await readdir(server.dataDir);
  expect(inData).toContain("offcut.db");
  expect(inData.filter((name) => ["uploads", "media", "renders", "work", "exports", "trash"].includes(name))).toEqual(
    [],
  );
});

describe("an upload", () => {
  test("is 503 while the folder is away, and resumes from its last byte", async () => {
    await using at = await mountedServer();
    const { server } = at;
    const anna = await server.user();
    const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
    const half = bytes.byteLength >> 1;
    const { id, project_id } = await anna.open(bytes.byteLength);
    expect((await anna.patch(id, 0, bytes.slice(0, half))).status).toBe(204);
    await at.unmount();
    await expectOffline(anna, [["POST", "/v1/assets", { project_id, size_bytes: 100 }]]);
    for (const reply of [
      await anna.patch(id, half, bytes.slice(half)),
      await anna.call("DELETE", `/v1/uploads/${id}`, { headers: anna.tus() }),
    ])
      expect([outcome(reply), reply.headers.get("retry-after")]).toEqual([OFFLINE, "30"]);
    // Its offset in an empty folder would be 0.
    expect((await anna.call("HEAD", `/v1/uploads/${id}`, { headers: anna.tus() })).status).toBe(503);
    await at.mount();
    const head = await anna.call("HEAD", `/v1/uploads/${id}`, { headers: anna.tus() });
    expect(head.headers.get("upload-offset")).toBe(String(half));
    expect((await anna.patch(id, half, bytes.slice(half))).status).toBe(204);
    expect((await anna.prepared(id)).state).toBe("ready");
  });

  test("whose folder goes away while its bytes arrive ends, and keeps what was acknowledged", async () => {
    await using at = await mountedServer();
    const { server } = at;
    const anna = await server.user();
    const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
    const { id } = await anna.open(bytes.byteLength);
    expect((await anna.patch(id, 0, bytes.slice(0, 1_000))).status).toBe(204);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const sending = anna.patch(id, 1_000, readable);
    await writer.write(bytes.slice(1_000, 2_000));
    const path = server.services().folders.upload(id);
    await until("the bytes", () => Bun.file(path).size >= 2_000);
    await at.unmount();
    let isOver = false;
    const sent = sending.then((reply) => {
      isOver = true;
      return reply;
    });
    for (let at = 2_000; !isOver && at + 10 < bytes.byteLength; at += 10) {
      await writer.write(bytes.slice(at, at + 10)).catch(() => {});
      await Bun.sleep(20);
    }
    expect(outcome(await sent)).toBe(OFFLINE);
    await at.mount();
    const head = await anna.call("HEAD", `/v1/uploads/${id}`, { headers: anna.tus() });
    const offset = Number(head.headers.get("upload-offset"));
    expect(offset).toBeGreaterThanOrEqual(2_000);
    expect((await anna.patch(id, offset, bytes.slice(offset))).status).toBe(204);
    expect((await anna.prepared(id)).state).toBe("ready");
  });

  test("to a signed link is 503, and the link works when the folder is back", async () => {
    await using at = await mountedServer();
    const user = await at.server.user();
    const anna = await startSession(at.server, user);
    const { asset, upload } = await createLink(anna);
    const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
    await at.unmount();
    expect(toOutcome(await put(at.server, upload.url, bytes))).toBe(OFFLINE);
    expect(toOutcome(await anna.call("POST", "/api/v1/assets/upload-url", { json: { type: "audio" } }))).toBe(OFFLINE);
    expect(toOutcome(await anna.call("GET", "/api/v1/uploads/limits"))).toBe(OFFLINE);
    await at.mount();
    expect((await put(at.server, upload.url, bytes)).status).toBe(204);
    expect((await user.prepared(asset.id)).state).toBe("ready");
  });
});

test("a running render and what waits continue by themselves when the folder is back", async () => {
  await using at = await mountedServer();
  const { server } = at;
  const [user, admin] = [await server.user(), await startSession(server, await createAdmin(server))];
  const anna = await startSession(server, user);
  const asset = await user.ready(await video(4));
  const renders = server.holdRenders();
  const render = await user.startRender({ asset_id: asset.id });
  await renders.reached;
  await at.unmount();
  renders.release();
  await until("the end of the attempt", async () => {
    const step = await findLatestStep(server.services().store.read, render.id);
    return step?.state === "pending" && step.attempts === 0;
  });
  await expectOffline(user, [["POST", "/v1/renders", { asset_id: asset.id, output: { format: "mov" } }]]);
  // A cut needs no room. Its job waits.
  const cut = await user.startCut({ asset_id: asset.id });
  expect((await user.cut(cut.id)).state).toBe("pending");
  await expectOffline(anna, [
    ["GET", asset.download_url ?? ""],
    ["GET", `/api/v1/assets/${asset.id}/media`],
    ["GET", `/api/v1/assets/${asset.id}/transcript`],
    ["GET", `/api/v1/assets/${asset.id}/poster`],
    ["GET", `/api/v1/assets/${asset.id}/pieces/video?from=0&to=1`],
    ["POST", "/api/v1/users/me/export"],
  ]);
  await expectOffline(user, [
    ["DELETE", `/v1/renders/${render.id}`],
    ["POST", `/v1/renders/${render.id}/cancel`],
  ]);
  const page = await server.nobody.call<string>("GET", asset.download_url ?? "", { headers: { Accept: "text/html" } });
  expect([page.status, page.body.includes("Server storage is offline.")]).toEqual([503, true]);
  expect((await user.asset(asset.id)).state).toBe("ready");
  expect(await server.nobody.call("GET", "/readyz")).toMatchObject({
    status: 503,
    body: { ready: false, storage: false, database: true },
  });
  const health = await admin.must<{ status: string; checks: { name: string; state: string; about: string }[] }>(
    "GET",
    "/api/v1/admin/health",
  );
  expect([health.status, health.checks.find(({ name }) => name === "media folder")]).toEqual([
    "degraded",
    {
      name: "media folder",
      state: "broken",
      about: expect.stringContaining(`media folder ${at.media} is offline: it has no offcut-media.id`),
    },
  ]);
  await at.mount();
  expect((await user.renderEnded(render.id)).state).toBe("completed");
  expect((await user.cutEnded(cut.id)).state).toBe("completed");
  expect(await server.events(render.id)).toEqual(["render.completed"]);
  expect(await findLatestStep(server.services().store.read, render.id)).toMatchObject({ attempts: 1, failures: 0 });
  expect((await server.nobody.call("GET", "/readyz")).status).toBe(200);
  const { download_url: url } = await user.must<Render & { download_url: string }>("GET", `/v1/renders/${render.id}`);
  expect((await server.nobody.call("GET", url)).status).toBe(200);
});

test("deletions are refused as a whole, and work when the folder is back", async () => {
  await using at = await mountedServer();
  const { server, media } = at;
  const anna = await server.user();
  const asset = await anna.ready(await wav(2));
  const cut = await anna.startCut({ asset_id: asset.id });
  await anna.cutEnded(cut.id);
  await at.unmount();
  await expectOffline(anna, [
    ["DELETE", `/v1/cuts/${cut.id}`],
    ["DELETE", `/v1/assets/${asset.id}`],
    ["DELETE", `/v1/projects/${asset.project_id}`],
  ]);
  expect([(await anna.asset(asset.id)).state, (await anna.cut(cut.id)).state]).toEqual(["ready", "completed"]);
  await at.mount();
  expect(await readdir(join(media, "media"))).toEqual([asset.id]);
  await anna.must("DELETE", `/v1/projects/${asset.project_id}`);
  expect(await readdir(join(media, "media"))).toEqual([]);
});

test("sweeps conclude nothing from an empty folder: uploads, exports and orphaned files stay", async () => {
  await using at = await mountedServer();
  const { server, media } = at;
  const user = await server.user();
  const anna = await startSession(server, user);
  const old = await user.open(1_000);
  await user.patch(old.id, 0, new Uint8Array(10));
  server.advance(6.5 * DAY_MS);
  const { id: exportId } = (await requestExport(anna)).body;
  await exportIs(anna, exportId, "ready");
  const orphan = newId();
  await mkdir(join(media, "media", orphan));
  await at.unmount();
  server.advance(DAY_MS);
  await sweep(server.services());
  expect(await findAssetById(server.services().store.read, old.id)).not.toBeNull();
  // The start also looks for exports whose archive is lost.
  await server.restart();
  expect((await exportIs(anna, exportId, "ready")).download_url).not.toBeNull();
  await at.mount();
  await until("the recovery", async () => !(await readdir(join(media, "media"))).includes(orphan));
  expect(await findAssetById(server.services().store.read, old.id)).toBeNull();
  expect((await exportIs(anna, exportId, "ready")).download_url).not.toBeNull();
});

test("a server that starts without its media folder answers from the database, and continues when it is there", async () => {
  await using at = await mountedServer();
  const { server, media } = at;
  const user = await server.user();
  const hold = server.speech.hold("analyze");
  const waiting = await user.upload(await wav(2));
  await hold.reached;
  const done = server.restart(() => at.unmount());
  hold.release();
  await done;
  expect((await user.asset(waiting)).state).toBe("processing");
  expect((await server.nobody.call("GET", "/readyz")).status).toBe(503);
  expect(server.errors.filter((line) => line.includes("folder.offline")).length).toBe(2);
  expect(await readdir(media)).toEqual([]);
  await at.mount();
  expect((await user.prepared(waiting)).state).toBe("ready");
});

test("an export continues after its folder was away", async () => {
  await using at = await mountedServer();
  const { server } = at;
  const user = await server.user();
  const anna = await startSession(server, user);
  await user.ready(await wav(2));
  const { guard } = server.services().folders;
  const { readOnline } = guard;
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  guard.readOnline = async (read) => {
    reached.resolve();
    await held.promise;
    return readOnline(read);
  };
  const { id } = (await requestExport(anna)).body;
  await reached.promise;
  await at.unmount();
  guard.readOnline = readOnline;
  held.resolve();
  await until("the interrupted export", async () => server.log.some((line) => line.includes("export.interrupted")));
  await at.mount();
  expect((await exportIs(anna, id, "ready")).error_message).toBeNull();
});
