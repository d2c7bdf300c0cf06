/** Signed PUT links after a crash: a file is complete or absent, and its preparation starts once. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { listClockReadings } from "../../src/store/clock-readings";
import { sweep } from "../../src/work/recovery";
import { openConnection } from "../attacks/raw-request";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import type { AssetDetail } from "./resources";
import { createLink, createSessionUser, put } from "./upload-clients";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;

test("the remains of a PUT after a crash are removed, and the file can be sent again", async () => {
  await using server = await harness();
  const user = await createSessionUser(server);
  const { asset, upload } = await createLink(user);
  const { folders } = server.services();
  await server.restart(async (store) => {
    await writeFile(folders.upload(asset.id), new Uint8Array(5_000));
    await store.write((tx) => tx.run(sql`UPDATE assets SET upload_length = 9000 WHERE id = ${asset.id}`));
  });
  expect(await Bun.file(folders.upload(asset.id)).exists()).toBe(false);
  const [row] = await server.services().store.read.all<{ n: number }>(sql`SELECT sum(upload_length) AS n FROM assets`);
  expect(row!.n).toBe(0);
  // The link is for the port of the server before the restart.
  const url = `${server.url()}${new URL(upload.url).pathname}${new URL(upload.url).search}`;
  const bytes = (await wav(1)) as Uint8Array<ArrayBuffer>;
  expect((await put(server, url, bytes)).status).toBe(204);
});

test("a file that was moved before the crash is prepared, once", async () => {
  await using server = await harness();
  const user = await createSessionUser(server);
  const { asset } = await createLink(user);
  const bytes = await wav(1);
  const media = server.services().folders.media(asset.id);
  await server.restart(async () => {
    await mkdir(media.dir, { recursive: true });
    await writeFile(media.source, bytes);
  });
  await server.restart();
  await server.idle();
  const ready = await user.must<AssetDetail>("GET", `/api/v1/assets/${asset.id}`);
  expect(ready).toMatchObject({ state: "ready", size_bytes: bytes.length, type: "audio" });
  expect(await server.events(asset.id)).toEqual(["asset.ready from processing"]);
  const steps = await server.services().store.read.all(sql`SELECT id FROM steps WHERE subject_id = ${asset.id}`);
  expect(steps).toHaveLength(1);
});

test("the hourly sweep leaves a PUT that is running alone, and one may outlast its link", async () => {
  await using server = await harness();
  const user = await createSessionUser(server);
  const { asset, upload } = await createLink(user);
  const bytes = Buffer.from(await wav(1));
  const { pathname, search } = new URL(upload.url);
  server.advance(24 * 3600 * 1000 - 2_000);
  const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  const connection = await openConnection(server.url(), Buffer.concat([Buffer.from(head), bytes.subarray(0, 1_000)]));
  const path = server.services().folders.upload(asset.id);
  await until("the first bytes", () => Bun.file(path).size > 0);
  server.advance(10_000);
  await sweep(server.services());
  connection.socket.write(bytes.subarray(1_000));
  await until("the answer", () => connection.received().startsWith("HTTP/1.1 204"));
  await server.idle();
  expect((await user.must<AssetDetail>("GET", `/api/v1/assets/${asset.id}`)).state).toBe("ready");
});

test("a clock that is ahead costs neither the bytes of an upload nor what expires, until its time is confirmed", async () => {
  await using server = await harness();
  const user = await createSessionUser(server);
  const bytes = (await wav(1)) as Uint8Array<ArrayBuffer>;
  const key = await server.user();
  const { id } = await key.open(bytes.length);
  await key.patch(id, 0, bytes.subarray(0, 1_000));
  const services = server.services();
  const rows = async () =>
    services.store.read.all<object>(
      sql`SELECT (SELECT count(*) FROM assets) AS assets, (SELECT count(*) FROM sessions) AS sessions`,
    );
  const before = await rows();
  services.confirmedNow = () => Date.now();
  server.advance(400 * DAY_MS);
  await sweep(services);
  expect((await key.patch(id, 1_000, bytes.subarray(1_000))).status).toBe(404);
  server.advance(-400 * DAY_MS);
  expect(await rows()).toEqual(before);
  expect((await user.call("GET", "/api/v1/users/me")).status).toBe(200);
  expect((await key.patch(id, 1_000, bytes.subarray(1_000))).status).toBe(204);
  await server.idle();
  services.confirmedNow = services.now;
  server.advance(400 * DAY_MS);
  const { id: expired } = await key.open(bytes.length);
  await key.patch(expired, 0, bytes.subarray(0, 1_000));
  server.advance(8 * DAY_MS);
  await sweep(services);
  expect(await rows()).toEqual([{ assets: 1, sessions: 0 }]);
});

test("a stop of the server stores a reading of the clock, from which the time is confirmed later", async () => {
  await using server = await harness();
  await server.restart();
  const readings = await listClockReadings(server.services().store.read);
  expect(readings).toEqual([{ time: expect.closeTo(Date.now(), -5), running_ms: 0 }]);
});
