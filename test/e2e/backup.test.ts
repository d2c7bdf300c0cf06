/** An administrator's day with backups, with the executable only. */
import { expect, test } from "bun:test";
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FIXTURES, IS_BUNDLED_PASS, runOffcut } from "./offcut";
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
