/** An administrator's day with backups, with the executable only. */
import { expect, test } from "bun:test";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../until";
import { FIXTURES, IS_BUNDLED_PASS, runOffcut, spawnOffcut } from "./offcut";
import { admin, startServer } from "./server";

const LONG = 120_000;

type Report = { path: string; files: number; linked_files: number; copied_files: number; copied_bytes: number };

test.skipIf(IS_BUNDLED_PASS)(
  "a server is backed up while it runs, its folder is lost, and it is restored with bytes, keys and credits",
  async () => {
    await using server = await startServer({ PREVIEWS: "on_opening" });
    const user = await server.user(500);
    // The preview would be written between the two backups.
    const asset = await user.ready(await readFile(join(FIXTURES, "talk.mp4")));
    const backups = join(server.folder, "backups");
    const backup = () => admin<Report>(server.folder, "backup", backups);

    const first = await backup();
    const second = await backup();
    // Without a new upload, only the database and the secrets are written.
    expect(second).toMatchObject({ files: first.files, linked_files: first.files - 2, copied_files: 0 });
    expect(second.path).not.toBe(first.path);
    const source = `media/${asset.id}/source`;
    expect((await stat(join(second.path, source))).ino).toBe((await stat(join(first.path, source))).ino);

    const refused = await runOffcut(["restore", backups], { folder: server.folder });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Another offcut process is using") });

    const before = await user.asset(asset.id);
    const bytes = await readFile(join(server.data, source));
    await server.kill();
    await rename(server.data, join(server.folder, "lost"));

    const restored = await runOffcut(["restore", backups], { folder: server.folder });
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toStartWith(`Restored ${second.path} of `);
    await server.start();
    expect(Buffer.compare(await readFile(join(server.data, source)), bytes)).toBe(0);
    const after = await user.asset(asset.id);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const field of ["state", "duration_seconds", "size_bytes", "has_transcript", "created_at"] as const)
      expect([field, after[field]]).toEqual([field, before[field]]);

    // A flipped bit is found, and that backup is not restored.
    const file = join(second.path, source);
    const damaged = await readFile(file);
    damaged[100]! ^= 1;
    await writeFile(file, damaged);
    const verified = await runOffcut(["backup", "--verify", second.path], { folder: server.folder });
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining(`FAIL ${source} has changed since`) });
    await server.terminate();
    const damage = await runOffcut(["restore", backups], { folder: server.folder });
    expect(damage).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${source} has changed since the backup`),
    });
    expect((await readdir(server.folder)).filter((name) => name.startsWith("data."))).toEqual([]);
  },
  LONG,
);

test.skipIf(IS_BUNDLED_PASS)(
  "an hour of the past is restored from the data folder and from a backup, also after kill -9 in the restore",
  async () => {
    await using server = await startServer({ PREVIEWS: "on_opening" });
    const user = await server.user(500);
    const deleted = await user.ready(await readFile(join(FIXTURES, "talk.mp4")));
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
    const time = snapshot!
      .replace("offcut-", "")
      .replace("Z.db.zst", "")
      .replace(/-(\d\d)-(\d\d)$/, ":$1:$2");
    await until("a later time", () => Date.now() > Date.parse(`${time}Z`));
    expect((await user.call("DELETE", `/v1/assets/${deleted.id}`)).status).toBe(204);
    expect((await user.call("DELETE", `/v1/uploads/${upload.id}`, { headers: user.tus() })).status).toBe(204);
    const { id: later } = await user.open(1_000_000);
    expect(await readdir(join(server.data, "media"))).toEqual([]);
    const backups = join(server.folder, "backups");
    const backup = await admin<Report>(server.folder, "backup", backups);

    const expectRestored = async (data: string) => {
      expect(Buffer.compare(await readFile(join(data, source)), bytes)).toBe(0);
      expect((await stat(join(data, "uploads", upload.id))).size).toBe(500_000);
      expect(await readdir(join(data, "uploads"))).toEqual([upload.id]);
    };
    // On a machine that never ran Offcut: from the backup, to another folder.
    const other = join(server.folder, "other", "data");
    const elsewhere = await runOffcut(["restore", backups, "--at", time, "--data-dir", other], {
      folder: server.folder,
    });
    expect(elsewhere).toMatchObject({ code: 0, stderr: "" });
    expect(elsewhere.stdout).toStartWith(`Restored ${backup.path} of ${time}.000Z to ${other}`);
    await expectRestored(other);

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
