/**
 * The bad days of data exports: no space, errors, interruptions, files that are lost or left over, and the end of the
 * account.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, rename, rm } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { updateAsset } from "../../src/store/assets";
import { requestDataExport } from "../../src/work/data-export/requests";
import { sweep } from "../../src/work/recovery";
import { until } from "../until";
import type { Client } from "./client";
import {
  type ExportNotification,
  exportData,
  exportIs,
  listExportIds,
  readNotification,
  requestExport,
} from "./exports";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { attempt } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

const EXPORT = "/api/v1/users/me/export";
const DAY_MS = 24 * 3600 * 1000;

let server: Harness;
beforeAll(async () => {
  server = await harness();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Any commit makes the server look for exports. */
const wake = (client: Client) => client.must("PATCH", "/api/v1/users/me", { json: { first_name: "Ada" } });

const readFailures = async (id: string): Promise<number> => {
  const { store } = server.services();
  const [row] = await store.read.all<{ failures: number }>(
    sql`SELECT failures FROM data_exports WHERE notification_id = ${id}`,
  );
  return row!.failures;
};

test("below the reserve a request is 503, and a pending export waits until there is space", async () => {
  const [anna, bert] = [await server.user(), await server.user()];
  const services = server.services();
  const { availableBytes } = services.disk;
  let looked = 0;
  const { id } = await services.store.write(async (tx) => {
    const row = await requestDataExport(services, tx, { userId: anna.userId, hasMedia: false });
    services.disk.availableBytes = () => {
      looked++;
      return 0;
    };
    return row;
  });
  try {
    await until("a look at the free space", () => looked > 0);
    const refused = await requestExport(bert);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
    // The pending export is found before the free space is checked.
    expect((await requestExport(anna)).body.id).toBe(id);
    expect((await readNotification(anna, id)).payload.status).toBe("pending");
  } finally {
    services.disk.availableBytes = availableBytes;
  }
  await wake(anna);
  await exportIs(anna, id, "ready");
});

test("an export that does not fit fails with a message and leaves no file; the next request makes a new one", async () => {
  const anna = await server.user();
  const { disk } = server.services();
  const { claim } = disk;
  disk.claim = () => false;
  const { body } = await requestExport(anna, "?media=true");
  const failed = await exportIs(anna, body.id, "failed");
  disk.claim = claim;
  expect(failed.error_message).toBe("The server is low on storage. Request it again later, or without media.");
  expect([failed.download_url, failed.size_bytes, failed.expires_at]).toEqual([null, null, null]);
  expect(failed.finished_at).not.toBeNull();
  const [id] = await listExportIds(server, anna);
  expect(await server.leftovers(id!)).toEqual([]);
  const again = await requestExport(anna);
  expect(again.body.id).not.toBe(body.id);
  await exportIs(anna, again.body.id, "ready");
  expect((await readNotification(anna, body.id)).payload.status).toBe("failed");
});

test("an export with more media than the free space fails before anything is written, and reports both figures", async () => {
  const anna = await server.user();
  const { disk, folders } = server.services();
  const { id } = await anna.open(64);
  await server.services().store.write((tx) => updateAsset(tx, id, { state: "failed" }));
  await Bun.write(folders.media(id).source, new Uint8Array(3_000_000));
  const { availableBytes, claim } = disk;
  let claims = 0;
  disk.availableBytes = () => 2_000_000;
  disk.claim = (bytes) => {
    claims++;
    return claim(bytes);
  };
  const { body } = await requestExport(anna, "?media=true");
  const failed = await exportIs(anna, body.id, "failed");
  Object.assign(disk, { availableBytes, claim });
  expect(failed.error_message).toBe(
    "The export needs 3 MB, and the server has 2 MB free. Request it again later, or without media.",
  );
  expect(claims).toBe(0);
});

test("an export that cannot be written is tried 4 times, while those of others are made", async () => {
  const [anna, bert] = [await server.user(), await server.user()];
  const { folders } = server.services();
  const before = server.errors.length;
  const away = `${folders.exportsRoot}.away`;
  await rename(folders.exportsRoot, away);
  const { id } = (await requestExport(anna)).body;
  await until("the first failure", () => server.errors.length === before + 1);
  await rename(away, folders.exportsRoot);
  await exportData(bert);
  expect([await readFailures(id), (await readNotification(anna, id)).payload.status]).toEqual([1, "pending"]);
  await rename(folders.exportsRoot, away);
  for (let failures = 2; failures <= 4; failures++) {
    server.advance(10 * 60 * 1000);
    await wake(anna);
    await until(`failure ${failures}`, () => server.errors.length === before + failures);
  }
  const { error_message: message } = await exportIs(anna, id, "failed");
  expect(message).toBe("The export could not be written. Request it again, or ask the administrator of the server.");
  await rename(away, folders.exportsRoot);
  expect(server.errors.splice(before).map((line) => JSON.parse(line).event)).toEqual(Array(4).fill("export.failed"));
});

test("an export is ready also when the archive that it replaces cannot be removed now", async () => {
  const anna = await server.user();
  await exportData(anna);
  const [replaced] = await listExportIds(server, anna);
  const { folders } = server.services();
  // A file in the place of the trash.
  const away = `${folders.trash}.away`;
  await rename(folders.trash, away);
  await Bun.write(folders.trash, "");
  const { id } = (await requestExport(anna)).body;
  const warning = await until("the warning", () => server.log.find((line) => line.includes("export.discard_failed")));
  expect(JSON.parse(warning)).toMatchObject({ level: "warn", export: replaced });
  await rm(folders.trash);
  await rename(away, folders.trash);
  await exportIs(anna, id, "ready");
  expect(server.errors).toEqual([]);
  await sweep(server.services());
  expect(await Bun.file(folders.exportArchive(replaced!)).exists()).toBe(false);
});

test("an export that a stop of the server interrupts is made after the next start, and is not counted as failed", async () => {
  const anna = await server.user();
  const { disk } = server.services();
  const { claim } = disk;
  let restarted: Promise<void> | null = null;
  disk.claim = (bytes) => {
    restarted ??= server.restart();
    return claim(bytes);
  };
  const { id } = (await requestExport(anna)).body;
  await until("the stop", () => restarted !== null);
  await restarted;
  await exportIs(anna, id, "ready");
  expect(await readFailures(id)).toBe(1);
});

test("an export that was interrupted 4 times by the death of the server fails", async () => {
  const anna = await server.user();
  const services = server.services();
  const { id } = await services.store.write(async (tx) => {
    const row = await requestDataExport(services, tx, { userId: anna.userId, hasMedia: false });
    await tx.run(sql`UPDATE data_exports SET failures = 4 WHERE notification_id = ${row.id}`);
    return row;
  });
  const { error_message: message } = await exportIs(anna, id, "failed");
  expect(message).toBe("The export was interrupted 4 times. Request it again, or without media.");
});

test("at the start, archives that can no longer be downloaded are removed, and exports without an archive expire", async () => {
  const [anna, bert] = [await server.user(), await server.user()];
  await exportData(anna);
  const lost = (await requestExport(bert)).body.id;
  await exportIs(bert, lost, "ready");
  const { folders } = server.services();
  const [kept] = await listExportIds(server, anna);
  const [gone] = await listExportIds(server, bert);
  await rm(folders.exportArchive(gone!));
  const orphans = [folders.exportArchive(newId()), folders.exportPart(newId()), `${folders.exportsRoot}/x`];
  for (const path of orphans) await Bun.write(path, "x");
  await server.restart();
  const names = await readdir(folders.exportsRoot);
  expect(names).toContain(`${kept}.zip`);
  for (const path of orphans) expect(await Bun.file(path).exists()).toBe(false);
  expect((await readNotification(bert, lost)).payload.status).toBe("expired");
});

test("the purge of an account removes its archive, and an export of it that runs", async () => {
  const anna = await server.user();
  await exportData(anna);
  const [id] = await listExportIds(server, anna);
  const { store, now } = server.services();
  await store.write((tx) =>
    tx.run(sql`UPDATE users SET deleted_at = ${now() - 31 * DAY_MS} WHERE id = ${anna.userId}`),
  );
  const { disk } = server.services();
  const { claim } = disk;
  // The account is purged while the second export is written.
  disk.claim = (bytes) => {
    disk.claim = claim;
    void store.write((tx) => tx.run(sql`DELETE FROM users WHERE id = ${anna.userId}`));
    return claim(bytes);
  };
  expect(await attempt(anna, "POST", EXPORT)).toBe("202");
  await until("the purge", async () => (await listExportIds(server, anna)).length === 0);
  await server.restart();
  await until("no file", async () => (await server.leftovers(id!)).length === 0);
  expect((await readdir(server.services().folders.exportsRoot)).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("users take turns: repeated exports come last", async () => {
  const users = await Promise.all([server.user(), server.user(), server.user()]);
  const [anna, bert, carla] = users as [Client, Client, Client];
  await exportData(anna);
  await exportData(bert);
  const services = server.services();
  const order: string[] = [];
  services.log.info = ((event: string, fields: { export?: string }) => {
    if (event === "export.completed") order.push(fields.export!);
  }) as typeof services.log.info;
  const rows = await services.store.write(async (tx) => {
    const ids = new Map<string, string>();
    for (const { userId } of [anna, bert, carla])
      ids.set(userId, (await requestDataExport(services, tx, { userId, hasMedia: false })).id);
    return ids;
  });
  for (const user of users) await exportIs(user, rows.get(user.userId)!, "ready");
  // An export is logged after it can be seen.
  await until("the last one's event", () => order.length === 3);
  const last = await Promise.all([carla, anna, bert].map(async (user) => (await listExportIds(server, user)).at(-1)!));
  expect(order).toEqual(last);
});

test("two requests at once get the same notification", async () => {
  const anna = await server.user();
  const replies = await Promise.all(Array.from({ length: 20 }, () => requestExport(anna)));
  expect(new Set(replies.map(({ body }: { body: ExportNotification }) => body.id)).size).toBe(1);
  await exportIs(anna, replies[0]!.body.id, "ready");
});
