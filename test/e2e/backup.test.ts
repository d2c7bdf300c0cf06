/** An administrator's day with backups, with the executable only. */
import { expect, test } from "bun:test";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { formatSnapshotName, parseSnapshotName, parseTrashName } from "../../src/domain/point-in-time";
import { newIdAt } from "../../src/lib/ids";
import { type Client, createClient } from "../http/client";
import { video } from "../http/media";
import { receiver } from "../http/receiver";
import { BUCKET, startS3Server } from "../s3-server";
import { until } from "../until";
import { IS_BUNDLED_PASS, runOffcut, spawnOffcut } from "./offcut";
import { admin, BUNDLED, type Server, startServer } from "./server";

const LONG = 120_000;
const EMAIL = "ada@studio.example";
const PASSWORD = "correct horse battery";
const PLACE = `s3://${BUCKET}/studio`;

type Report = { path: string; files: number; linked_files: number; copied_files: number; copied_bytes: number };

/** Sets the server up as an administrator does. Returns the session and a client with an API key. */
async function setUp(server: Server): Promise<{ session: Client; user: Client }> {
  const { url } = await admin<{ url: string }>(server.folder, "setup-url");
  const nobody = createClient(server.url, null, "");
  const json = { token: url.split("#")[1], email: EMAIL, password: PASSWORD };
  const { token } = await nobody.must<{ token: string }>("POST", "/api/v1/auth/setup", { json });
  const session = createClient(server.url, token, "");
  const { key } = await session.must<{ key: string }>("POST", "/api-keys", { json: { name: "studio" } });
  await admin(server.folder, "user", "grant", "--email", EMAIL, "--credits", "500");
  return { session, user: createClient(server.url, key, "", 90) };
}

const DAY_MS = 24 * 3600_000;

/** Makes the snapshots and the trash of a stopped server a day older: their times are in their names. */
async function ageByDay(data: string): Promise<void> {
  for (const name of await readdir(join(data, "snapshots")))
    await rename(
      join(data, "snapshots", name),
      join(data, "snapshots", formatSnapshotName(parseSnapshotName(name)! - DAY_MS)),
    );
  for (const name of await readdir(join(data, "trash"))) {
    const entry = parseTrashName(name)!;
    const aged = `${newIdAt(entry.time - DAY_MS)}.${entry.folder}.${entry.name}`;
    await rename(join(data, "trash", name), join(data, "trash", aged));
  }
}

/** Backs up to the bucket. Returns the recovery key, which the first backup prints. */
async function backUpOffsite(server: Server, env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runOffcut(["backup", PLACE], { folder: server.folder, env });
  expect([code, stderr]).toEqual([0, ""]);
  return /[0-9A-Z]{7}(?:-[0-9A-Z]{7}){7}/.exec(stdout)?.[0] ?? "";
}

test.skipIf(IS_BUNDLED_PASS)(
  "a studio is recorded and backed up, its folder is lost, and it is restored with bytes, keys, credits and webhooks",
  async () => {
    await using s3 = await startS3Server();
    await using hook = receiver();
    const settings = { ...BUNDLED, PREVIEWS: "on_opening", WEBHOOKS_ALLOW_LOOPBACK: "true", CUT_STEP_CREDITS: "2" };
    await using server = await startServer(settings, s3.env);
    const { session, user } = await setUp(server);
    const endpoint = await user.must<{ id: string; secret: string }>("POST", "/v1/webhook-endpoints", {
      json: { url: hook.url, event_types: ["cut.completed"] },
    });
    // The preview would be written between the two backups.
    const asset = await user.ready(await video());
    const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
    const render = await user.renderEnded((await user.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
    await until("the delivery", () => hook.received.length > 0);
    const readBooks = async () => ({
      account: await user.must("GET", "/v1/users/me"),
      history: await user.must("GET", "/v1/credits/history"),
      endpoints: await user.must("GET", "/v1/webhook-endpoints"),
      cut: await user.cut(cut.id),
    });
    const before = await readBooks();
    const source = `media/${asset.id}/source`;
    const [renderName = ""] = await readdir(join(server.data, "renders", render.id));
    const readFiles = (data: string) =>
      Promise.all([source, `renders/${render.id}/${renderName}`].map((path) => readFile(join(data, path))));
    const bytes = await readFiles(server.data);

    const backups = join(server.folder, "backups");
    const backup = () => admin<Report>(server.folder, "backup", backups);
    const first = await backup();
    const second = await backup();
    // Without a new upload, only the database, the secrets and the marker of the folder are written.
    expect(second).toMatchObject({ files: first.files, linked_files: first.files - 2, copied_files: 0 });
    expect(second.path).not.toBe(first.path);
    expect((await stat(join(second.path, source))).ino).toBe((await stat(join(first.path, source))).ino);
    const recoveryKey = await backUpOffsite(server, s3.env);

    const refused = await runOffcut(["restore", backups], { folder: server.folder });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Another offcut process is using") });

    // A flipped bit is found, and that backup is not restored.
    const file = join(second.path, source);
    const intact = await readFile(file);
    const damaged = Buffer.from(intact);
    damaged[100]! ^= 1;
    await writeFile(file, damaged);
    const verified = await runOffcut(["backup", "--verify", second.path], { folder: server.folder });
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining(`FAIL ${source} has changed since`) });
    const other = ["--data-dir", join(server.folder, "other", "data")];
    const damage = await runOffcut(["restore", backups, ...other], { folder: server.folder });
    expect(damage).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${source} has changed since the backup`),
    });
    expect(await readdir(join(server.folder, "other")).catch(() => [])).toEqual([]);
    await writeFile(file, intact);

    await server.kill();
    const expectRestored = async (from: string) => {
      await rename(server.data, join(server.folder, `lost-${crypto.randomUUID()}`));
      const env = { ...s3.env, OFFCUT_BACKUP_KEY: recoveryKey };
      const restored = await runOffcut(["restore", from], { folder: server.folder, env });
      expect(restored).toMatchObject({ code: 0, stderr: "" });
      expect(restored.stdout).toStartWith(`Restored ${from}/offcut-`);
      await server.start();
      for (const [n, found] of (await readFiles(server.data)).entries())
        expect(Buffer.compare(found, bytes[n]!)).toBe(0);
      expect(await readBooks()).toEqual(before);
      expect((await session.call("GET", "/api/v1/users/me")).status).toBe(401);
      const json = { email: EMAIL, password: PASSWORD };
      expect((await session.call("POST", "/api/v1/auth/login", { json })).status).toBe(200);
      // The endpoint has its secret, and delivered events are not delivered again.
      hook.received.length = 0;
      const next = await user.cutEnded((await user.startCut({ asset_id: asset.id, options: { mode: "loose" } })).id);
      const message = await until("the delivery after the restore", () => hook.received[0]);
      expect(new Webhook(endpoint.secret).verify(message.body, Object.fromEntries(message.headers))).toMatchObject({
        data: { entity_id: next.id },
      });
      await server.terminate();
    };
    await expectRestored(backups);
    await expectRestored(PLACE);
  },
  LONG,
);

test.skipIf(IS_BUNDLED_PASS)(
  "an hour of yesterday is restored from the data folder, a backup and a bucket, also after kill -9 in the restore",
  async () => {
    await using s3 = await startS3Server();
    await using server = await startServer({ ...BUNDLED, PREVIEWS: "on_opening" }, s3.env);
    const user = await server.user(500);
    const deleted = await user.ready(await video());
    const source = `media/${deleted.id}/source`;
    const bytes = await readFile(join(server.data, source));
    const upload = await user.open(1_000_000);
    await user.patch(upload.id, 0, new Uint8Array(500_000));

    // The first snapshot is of the empty server; the start takes another one in its place.
    const snapshots = join(server.data, "snapshots");
    const listSnapshots = async () => (await readdir(snapshots)).filter((name) => name.endsWith(".zst"));
    await until("the first snapshot", async () => (await listSnapshots()).length > 0);
    await server.kill();
    await rm(snapshots, { recursive: true });
    await Bun.write(join(snapshots, ".offcut-2027-01-01T00-00-00Z.db.zst.copy"), "of a killed server");
    await server.start();
    const [snapshot] = await until("the snapshot", async () =>
      (await listSnapshots()).length > 0 ? listSnapshots() : null,
    );
    await until("no leftover of either server", async () => (await readdir(snapshots)).length === 1);
    const taken = parseSnapshotName(snapshot!)!;
    await until("a later time", () => Date.now() > taken);
    expect((await user.call("DELETE", `/v1/assets/${deleted.id}`)).status).toBe(204);
    expect((await user.call("DELETE", `/v1/uploads/${upload.id}`, { headers: user.tus() })).status).toBe(204);
    await server.kill();
    await ageByDay(server.data);
    const time = new Date(taken - DAY_MS).toISOString();
    await server.start();
    await until("the snapshot of today", async () => (await listSnapshots()).length === 2);
    const { id: later } = await user.open(1_000_000);
    expect(await readdir(join(server.data, "media"))).toEqual([]);
    const backups = join(server.folder, "backups");
    const backup = await admin<Report>(server.folder, "backup", backups);
    const recoveryKey = await backUpOffsite(server, s3.env);

    const expectRestored = async (data: string) => {
      expect(Buffer.compare(await readFile(join(data, source)), bytes)).toBe(0);
      expect((await stat(join(data, "uploads", upload.id))).size).toBe(500_000);
      expect(await readdir(join(data, "uploads"))).toEqual([upload.id]);
    };
    // Restores on a machine that never ran Offcut, from the backups to other folders.
    for (const from of [backups, PLACE]) {
      const other = join(server.folder, from === PLACE ? "third" : "second", "data");
      const env = { ...s3.env, OFFCUT_BACKUP_KEY: recoveryKey };
      const args = ["restore", from, "--at", time, "--data-dir", other];
      const elsewhere = await runOffcut(args, { folder: server.folder, env });
      expect(elsewhere).toMatchObject({ code: 0, stderr: "" });
      const path = from === PLACE ? `${PLACE}/offcut-` : `${backup.path} of ${time} to ${other}`;
      expect(elsewhere.stdout).toStartWith(`Restored ${path}`);
      await expectRestored(other);
    }

    await server.kill();
    for (const delay of [0, 20, 60, 150, 300, 450]) {
      const child = spawnOffcut(["restore", "--at", time], { folder: server.folder });
      await Promise.race([child.exited, Bun.sleep(delay)]);
      child.kill("SIGKILL");
      await child.exited;
      expect(await Bun.file(join(server.data, "offcut.db")).exists()).toBe(true);
    }
    const restored = await runOffcut(["restore", "--at", time], { folder: server.folder });
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect((await readdir(server.folder)).filter((name) => /^data\.rest/.test(name))).toEqual([]);
    await expectRestored(server.data);
    await server.start();
    expect(await user.asset(deleted.id)).toMatchObject({ state: "ready" });
    expect((await user.call("GET", `/v1/assets/${later}`)).status).toBe(404);
    const head = await user.call("HEAD", `/v1/uploads/${upload.id}`, { headers: user.tus() });
    expect(head.headers.get("upload-offset")).toBe("500000");
  },
  LONG,
);
