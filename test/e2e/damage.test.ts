/**
 * Days that end badly: a damaged database page, a full disk, a read-only folder. The server and its commands say so,
 * and nothing is lost.
 */
import { expect, test } from "bun:test";
import { appendFile, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { damageTable } from "../damaged-table";
import { createClient } from "../http/client";
import { wav } from "../http/media";
import { outcome } from "../http/outcome";
import type { Paged, Project } from "../http/resources";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { IS_BUNDLED_PASS, type RunOptions, runOffcut, startOffcut } from "./offcut";
import { admin, BUNDLED, createUser, startServer } from "./server";

const LONG = 120_000;

test.skipIf(IS_BUNDLED_PASS)(
  "a damaged page is reported by doctor, backup and the hourly snapshot, and a backup restores the database",
  async () => {
    await using server = await startServer({ ...BUNDLED, PREVIEWS: "on_opening" });
    const user = await server.user();
    const { id } = await user.ready(await wav(2));
    const backups = join(server.folder, "backups");
    const { path } = await admin<{ path: string }>(server.folder, "backup", backups);
    const account = await user.must("GET", "/v1/users/me");
    await server.terminate();
    await damageTable(join(server.data, "offcut.db"), "ledger");

    const damage = /The database is damaged \(.*\)\. Restore a backup with offcut restore\.\n/;
    const doctor = await runOffcut(["doctor"], { folder: server.folder });
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(damage)]);
    expect(doctor.stdout).toMatch(/^FAIL +database +The database/m);
    const backup = await runOffcut(["backup", backups], { folder: server.folder });
    expect([backup.code, backup.stderr]).toEqual([1, expect.stringMatching(damage)]);
    // Another hour has begun.
    await rm(join(server.data, "snapshots"), { recursive: true });
    await server.start();
    await until("the failed snapshot", () => server.log().some(({ event }) => event === "snapshot.failed"));
    // It starts, so that readable data is available, and reports the damage.
    expect(server.log()).toContainEqual(expect.objectContaining({ event: "database.damaged", level: "error" }));
    expect((await user.call("GET", "/readyz")).body).toMatchObject({ ready: false, database: false });
    await server.terminate();
    // The damaged copy of the database replaced no good one.
    expect((await readdir(backups)).filter((name) => join(backups, name) !== path)).toEqual([]);

    const restored = await runOffcut(["restore", backups], { folder: server.folder });
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    await server.start();
    expect(await user.asset(id)).toMatchObject({ state: "ready" });
    expect(await user.must("GET", "/v1/users/me")).toEqual(account);
  },
  LONG,
);

const SMALL_DISK = "size=300m";

/** Mounts a small file system on `data` in a temporary folder; null where this process may not. */
async function mountSmallDisk(): Promise<TemporaryFolder | null> {
  const folder = await temporaryFolder();
  const data = join(folder.path, "data");
  await mkdir(data);
  if ((await mount("-t", "tmpfs", "-o", SMALL_DISK, "tmpfs", data)) !== 0) {
    await folder[Symbol.asyncDispose]();
    return null;
  }
  return {
    path: folder.path,
    [Symbol.asyncDispose]: async () => {
      // A killed process may still be ending.
      await Bun.spawn(["umount", "-l", data], { stderr: "ignore" }).exited;
      await folder[Symbol.asyncDispose]();
    },
  };
}

const mount = (...args: string[]): Promise<number> =>
  Bun.spawn(["mount", ...args], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exited;

/** Appends to a file until not even a block is free. */
async function fill(path: string): Promise<void> {
  for (const size of [1024 ** 2, 4096]) {
    const block = new Uint8Array(size);
    while (
      await appendFile(path, block).then(
        () => true,
        () => false,
      )
    );
  }
}

test.skipIf(IS_BUNDLED_PASS)(
  "a disk without a free byte and a read-only one: refused with what to do, and everything acknowledged is kept",
  async () => {
    await using disk = await mountSmallDisk();
    if (disk === null) {
      console.log("damage: no file system can be mounted here, the test ends early");
      return;
    }
    const data = join(disk.path, "data");
    const options: RunOptions = {
      folder: disk.path,
      env: { OFFCUT_FFMPEG: BUNDLED.FFMPEG, OFFCUT_RATE_LIMIT: "0", OFFCUT_DISK_RESERVE_BYTES: "16000000" },
    };
    let server = await startOffcut(options);
    const account = await createUser(data, "ann@example.test", 100);
    const user = createClient(() => server.url, account.key, account.id, 90);
    const deleted = await user.ready(await wav(2));
    const bytes = new Uint8Array(1_000_000).fill(1);
    const upload = await user.open(2 * bytes.length);
    await user.patch(upload.id, 0, bytes);
    const project = await user.must<Project>("POST", "/v1/projects", { json: { name: "old" } });
    const ballast = join(data, "ballast");
    await fill(ballast);

    const created: string[] = [];
    const refused = new Set<string>();
    for (let n = 0; n < 20; n++) {
      const reply = await user.call<Project>("POST", "/v1/projects", { json: { name: `${n}${"x".repeat(200)}` } });
      if (reply.status === 201) created.push(reply.body.id);
      else refused.add(outcome(reply));
    }
    expect([...refused]).toEqual(["503 upstream_unavailable"]);
    expect(outcome(await user.patch(upload.id, bytes.length, bytes))).toBe("503 upstream_unavailable");
    expect((await user.call("GET", "/readyz")).body).toMatchObject({ ready: false, storage: false });

    // A part of the reserve was set aside for deletions, which make room.
    expect((await user.call("DELETE", `/v1/projects/${project.id}`)).status).toBe(204);

    // With nothing to delete, it does not start.
    await server.stop("SIGKILL");
    await fill(ballast);
    const full = await runOffcut(["serve", "--port", "0"], options);
    expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining(`The disk of ${data} is full. Free some`) });

    await rm(ballast);
    server = await startOffcut(options);
    const { items } = await user.must<Paged<Project>>("GET", "/v1/projects?limit=100");
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(created));
    const head = await user.call("HEAD", `/v1/uploads/${upload.id}`, { headers: user.tus() });
    expect(head.headers.get("upload-offset")).toBe(String(bytes.length));

    // With a deleted recording in the trash, it makes room and starts.
    expect((await user.call("DELETE", `/v1/assets/${deleted.id}`)).status).toBe(204);
    expect((await readdir(join(data, "trash"))).filter((name) => name.endsWith(`.media.${deleted.id}`))).toHaveLength(
      1,
    );
    await until("the spare space", () => Bun.file(join(data, "spare-space")).exists());
    await server.stop("SIGKILL");
    await fill(ballast);
    // A backup to another disk needs no free space here.
    const backup = await runOffcut(["backup", join(disk.path, "backups")], options);
    expect([backup.code, backup.stderr]).toEqual([0, ""]);
    await fill(ballast);
    server = await startOffcut(options);
    expect(await readdir(join(data, "trash"))).toEqual([]);
    expect(server.log).toContainEqual(expect.objectContaining({ event: "trash.emptied_early" }));
    await rm(ballast);
    expect((await user.patch(upload.id, bytes.length, bytes)).status).toBe(204);
    await server.stop();

    expect(await mount("-o", "remount,ro", data)).toBe(0);
    for (const command of [
      ["serve", "--port", "0"],
      ["backup", join(disk.path, "backups")],
    ]) {
      const { code, stderr } = await runOffcut(command, options);
      expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(/read-only/i)]);
      expect(code).toBeGreaterThan(0);
    }
    const doctor = await runOffcut(["doctor"], options);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(/^FAIL +data folder +Cannot write to .* [(]EROFS[)]/m),
    ]);
    expect(await mount("-o", "remount,rw", data)).toBe(0);
    server = await startOffcut(options);
    expect((await user.call("GET", "/v1/projects")).status).toBe(200);
    await server.stop();
  },
  LONG,
);
