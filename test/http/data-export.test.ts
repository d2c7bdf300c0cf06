/** Data exports over HTTP: requests, the content of the archive, and its download. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { insertProject } from "../../src/store/projects";
import { temporaryFolder } from "../temporary-folder";
import { addAsset, addMember } from "../unit/store/test-store";
import { readZip, testWithUnzip } from "../zip";
import { startSession } from "./accounts";
import { type Client, createClient } from "./client";
import {
  downloadArchive,
  type ExportNotification,
  type ExportPayload,
  exportData,
  exportIs,
  listExportIds,
  rowsOf,
} from "./exports";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt } from "./outcome";
import type { AssetDetail } from "./resources";

setDefaultTimeout(PATIENCE_MS);

const EXPORT = "/api/v1/users/me/export";
const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PROJECT = {
  name: "P",
  created_by: null,
  state: "active" as const,
  archived_at: null,
  created_at: 0,
  updated_at: 0,
  last_activity_at: 0,
};

/** Returns the payload of the newest notification. */
const latestExport = async (client: Client): Promise<ExportPayload> =>
  (await client.must<{ items: ExportNotification[] }>("GET", "/api/v1/notifications?limit=1")).items[0]!.payload;

let server: Harness;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let anna: Client;
let asset: AssetDetail;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  folder = await temporaryFolder();
  anna = await server.user();
  asset = await anna.ready(await wav(2), { filename: "Ünï <talk>.wav" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test("an export contains the rows, a README, transcripts, and with media=true the files", async () => {
  const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
  const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
  const payload = await exportData(anna, "?media=true");
  expect(payload).toMatchObject({ has_media: true, error_message: null });
  const { path, names, texts } = await downloadArchive(payload.download_url, folder.path);
  expect(await testWithUnzip(path)).toBe(0);
  expect(Bun.file(path).size).toBe(payload.size_bytes!);
  const media = ["media/sources/Ünï _talk_.wav", "media/renders/Ünï _talk_.cut.m4a"];
  expect(names).toEqual(expect.arrayContaining([...media, "media.json", `transcripts/${asset.id}.json`]));
  const readme = texts.get("README.txt")!;
  for (const name of names) if (!name.includes("/") && name !== "README.txt") expect(readme).toContain(name);
  expect(rowsOf(texts, "assets.json")).toMatchObject([{ id: asset.id, duration_seconds: "2" }]);
  expect(rowsOf(texts, "cuts.json")).toMatchObject([{ id: cut.id, plan: cut.plan, created_at: cut.created_at }]);
  expect(rowsOf(texts, "renders.json")).toMatchObject([{ id: render.id, output: render.output }]);
  expect(rowsOf(texts, "pipelines.json")).toHaveLength(3);
  expect(rowsOf(texts, "media.json")).toEqual([
    { asset_id: asset.id, file: media[0]!, size_bytes: asset.size_bytes, is_missing: false },
    { render_id: render.id, file: media[1]!, size_bytes: render.size_bytes, is_missing: false },
  ]);
});

test("an export without media has no files, and the files of others are in nobody's", async () => {
  const bert = await server.user();
  const [ofAnna, ofBert] = [await exportData(anna), await exportData(bert)];
  const archives = await Promise.all(
    [ofAnna, ofBert].map(({ download_url: link }) => downloadArchive(link, folder.path)),
  );
  expect(archives.map(({ names }) => names.filter((name) => name.startsWith("media")))).toEqual([[], []]);
  const everything = [...archives[1]!.texts.values()].join("\n");
  for (const strange of [anna.userId, asset.id, asset.project_id, "talk"]) expect(everything).not.toContain(strange);
  expect(rowsOf(archives[1]!.texts, "profile.json")).toMatchObject([{ id: bert.userId }]);
  // The link of one export with the signature of another one.
  const [a, b] = [new URL(ofAnna.download_url), new URL(ofBert.download_url)];
  expect((await fetch(`${server.url()}${a.pathname}${b.search}`)).status).toBe(404);
});

test("of shared workspaces an export has what the user has made, while the user is a member", async () => {
  const [bert, carla] = [await server.user(), await server.user()];
  const session = await startSession(server, bert);
  const { id: workspaceId } = await session.must<{ id: string }>("POST", "/api/v1/workspaces", {
    json: { name: "Studio" },
  });
  const { store } = server.services();
  await store.write((tx) => addMember(tx, workspaceId, carla.userId, "editor"));
  const make = async (client: Client, name: string) => {
    const signedIn = await startSession(server, client);
    const headers = { "Offcut-Workspace": workspaceId };
    await signedIn.must("POST", "/api/v1/projects", { json: { name }, headers });
  };
  await make(bert, "of Bert");
  await make(carla, "of Carla");
  const readNames = async (client: Client, file: string) => {
    const { texts } = await downloadArchive((await exportData(client)).download_url, folder.path);
    return rowsOf<{ name: string }>(texts, file).map(({ name }) => name);
  };
  expect(await readNames(bert, "projects.json")).toEqual(["of Bert"]);
  expect(await readNames(carla, "workspaces.json")).toEqual(["Personal", "Studio"]);
  expect(await readNames(carla, "projects.json")).toEqual(["of Carla"]);
  await store.write((tx) =>
    tx.run(sql`DELETE FROM workspace_members WHERE user_id = ${carla.userId} AND workspace_id = ${workspaceId}`),
  );
  expect(await readNames(carla, "projects.json")).toEqual([]);
});

test("duplicate names are numbered, and a file that does not exist is listed as missing", async () => {
  const bert = await server.user();
  const { services } = server;
  const { folders, store } = services();
  const ids = await store.write(async (tx) => {
    const projectId = newId();
    await insertProject(tx, { ...PROJECT, id: projectId, workspace_id: bert.userId });
    const owner = { workspaceId: bert.userId, projectId };
    const names = ["a.wav", "a.wav", "lost.wav", "con", null];
    return Promise.all(names.map(async (filename) => (await addAsset(tx, owner, { filename, extension: "wav" })).id));
  });
  for (const [i, id] of ids.entries()) {
    if (i === 2) continue;
    await mkdir(folders.media(id).dir, { recursive: true });
    await Bun.write(folders.media(id).source, `bytes ${i}`);
  }
  const { download_url: link } = await exportData(bert, "?media=true");
  const { path, texts } = await downloadArchive(link, folder.path);
  const rows = rowsOf<{ asset_id: string; file: string | null; size_bytes: number | null; is_missing: boolean }>(
    texts,
    "media.json",
  );
  expect(rows.map(({ file, size_bytes, is_missing }) => [file, size_bytes, is_missing])).toEqual([
    ["media/sources/a.wav", 7, false],
    ["media/sources/a (2).wav", 7, false],
    [null, null, true],
    ["media/sources/_con", 7, false],
    ["media/sources/asset.wav", 7, false],
  ]);
  expect(rows.map((row) => row.asset_id)).toEqual(ids);
  const { texts: all } = await readZip(path);
  for (const [i, { file }] of rows.entries()) if (file) expect(all.get(file)).toBe(`bytes ${i}`);
});

test("a download that breaks off twice resumes, each time with a new link", async () => {
  const { download_url: first } = await exportData(anna, "?media=true");
  const { size_bytes: size } = await latestExport(anna);
  const path = join(folder.path, "resumed.zip");
  const parts: Uint8Array[] = [];
  let etag: string | null = null;
  let received = 0;
  let link = first;
  for (const share of [1 / 3, 2 / 3, 1]) {
    const headers: Record<string, string> = etag === null ? {} : { Range: `bytes=${received}-`, "If-Range": etag };
    const answer = await fetch(link, { headers });
    expect(answer.status).toBe(etag === null ? 200 : 206);
    expect(answer.headers.get("content-type")).toBe("application/zip");
    expect(answer.headers.get("content-disposition")).toMatch(
      /^attachment; filename="offcut-export-\d{4}-\d\d-\d\d\.zip"/,
    );
    if (etag !== null) expect(answer.headers.get("etag")).toBe(etag);
    etag = answer.headers.get("etag")!;
    const reader = answer.body!.getReader();
    const wanted = Math.floor(size! * share) - received;
    let got = 0;
    while (got < wanted) {
      const { value, done } = await reader.read();
      if (done) break;
      // As if the connection had ended within a chunk.
      const kept = value.subarray(0, wanted - got);
      parts.push(kept);
      got += kept.byteLength;
    }
    await reader.cancel();
    received += got;
    server.advance(16 * MINUTE_MS);
    expect((await fetch(link, { method: "HEAD" })).status).toBe(404);
    link = (await latestExport(anna)).download_url!;
  }
  await Bun.write(path, Buffer.concat(parts));
  expect(await testWithUnzip(path)).toBe(0);
  expect((await readZip(path)).entries.length).toBeGreaterThan(20);
});

test("a new export replaces the older one", async () => {
  const bert = await server.user();
  const older = await exportData(bert);
  const newer = await exportData(bert);
  expect((await fetch(older.download_url, { method: "HEAD" })).status).toBe(404);
  expect((await fetch(newer.download_url, { method: "HEAD" })).status).toBe(200);
  const { items } = await bert.must<{ items: ExportNotification[] }>("GET", "/api/v1/notifications");
  expect(items.map(({ payload }) => payload.status)).toEqual(["ready", "expired"]);
  const ids = await listExportIds(server, bert);
  expect(await server.leftovers(ids[0]!)).toEqual([]);
  expect(await server.leftovers(ids[1]!)).toEqual([`exports/${ids[1]}.zip`]);
});

test("a clock that is ahead for a moment removes no archive", async () => {
  const bert = await server.user();
  const { download_url: link } = await exportData(bert);
  const [id] = await listExportIds(server, bert);
  const services = server.services();
  const { confirmedNow } = services;
  const time = services.now();
  services.confirmedNow = () => time;
  server.advance(8 * DAY_MS);
  // The exporter has looked for expired exports before it creates another one.
  await exportData(await server.user());
  expect(await latestExport(bert)).toMatchObject({ status: "expired", download_url: null });
  expect(await server.leftovers(id!)).toEqual([`exports/${id}.zip`]);
  server.advance(-8 * DAY_MS);
  expect((await latestExport(bert)).status).toBe("ready");
  expect((await fetch(link, { method: "HEAD" })).status).toBe(200);
  services.confirmedNow = confirmedNow;
});

test("a disabled account cannot download", async () => {
  const bert = await server.user();
  const { download_url: link } = await exportData(bert);
  const { store } = server.services();
  const setDisabled = (at: number | null) =>
    store.write((tx) => tx.run(sql`UPDATE users SET disabled_at = ${at} WHERE id = ${bert.userId}`));
  await setDisabled(1);
  expect((await fetch(link)).status).toBe(404);
  await setDisabled(null);
  expect((await fetch(link)).status).toBe(200);
});

test("a key of a shared workspace neither exports the account nor sees its export", async () => {
  const bert = await server.user();
  await exportData(bert);
  const session = await startSession(server, bert);
  const { id } = await session.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  const { key } = await session.must<{ key: string }>("POST", "/api-keys", { json: { name: "k", workspace_id: id } });
  const shared = createClient(server.url, key, bert.userId);
  expect(await attempt(shared, "POST", EXPORT)).toBe("403 forbidden");
  expect(await attempt(shared, "GET", EXPORT)).toBe("403 forbidden");
  expect((await latestExport(session)).download_url).not.toBeNull();
});

test.each([
  ["?media=yes", "422 query.media"],
  ["?media=", "422 query.media"],
])("the query %s is refused", async (query, expected) => {
  expect(await attempt(anna, "POST", `${EXPORT}${query}`)).toBe(expected);
});

test("a repeated Idempotency-Key returns the first notification, also when its export is over", async () => {
  const bert = await server.user();
  const request = () => bert.must<ExportNotification>("POST", EXPORT, { headers: { "Idempotency-Key": "once" } });
  const first = await request();
  await exportIs(bert, first.id, "ready");
  expect(await request()).toEqual(first);
  expect(await listExportIds(server, bert)).toHaveLength(1);
  const withMedia = await bert.call("POST", `${EXPORT}?media=true`, { headers: { "Idempotency-Key": "once" } });
  expect(withMedia.status).toBe(422);
});
