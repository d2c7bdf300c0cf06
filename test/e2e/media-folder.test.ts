/** A media folder on another disk, with the executable only: away at the start, in a backup and in a restore. */
import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { listNames } from "../../src/blobs/trash";
import { parseSnapshotName } from "../../src/domain/point-in-time";
import { video } from "../http/media";
import { until } from "../until";
import { IS_BUNDLED_PASS, runOffcut } from "./offcut";
import { admin, BUNDLED, startServer } from "./server";

const LONG = 120_000;

type Doctor = { checks: { name: string; state: string; about: string }[] };

test.skipIf(IS_BUNDLED_PASS)(
  "a server starts without its media folder, continues when it is there, and is backed up and restored with it",
  async () => {
    await using server = await startServer({ ...BUNDLED, PREVIEWS: "on_opening", MEDIA_DIR: "nas/media" });
    const { folder } = server;
    const media = join(folder, "nas/media");
    const offcut = (args: string[], mediaDir = media) =>
      runOffcut(args, { folder, env: { OFFCUT_MEDIA_DIR: mediaDir, OFFCUT_PORT: "0" } });
    const checkMedia = async () => {
      const { stdout } = await offcut(["doctor", "--json"]);
      return (JSON.parse(stdout) as Doctor).checks.find(({ name }) => name === "media folder");
    };
    const user = await server.user(500);
    const asset = await user.ready(await video());
    const source = join(media, "media", asset.id, "source");
    const bytes = await readFile(source);

    await server.terminate();
    await rename(media, `${media}.away`);
    await mkdir(media);
    await server.start();
    expect((await user.asset(asset.id)).state).toBe("ready");
    expect((await user.call("GET", "/readyz")).body).toMatchObject({ ready: false, storage: false });
    expect((await user.call("POST", "/v1/renders", { json: { asset_id: asset.id } })).status).toBe(503);
    expect((await user.call("DELETE", `/v1/assets/${asset.id}`)).status).toBe(503);
    expect(await checkMedia()).toMatchObject({
      state: "broken",
      about: expect.stringContaining("has no offcut-media.id. Mount it again"),
    });
    const refused = await offcut(["backup", join(folder, "backups")]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`media folder ${media} is offline: it has no`),
    });
    expect(await readdir(media)).toEqual([]);
    await rmdir(media);
    await rename(`${media}.away`, media);
    await until("the folder", async () => (await user.call("GET", "/readyz")).status === 200);
    const render = await user.startRender({ asset_id: asset.id });
    expect((await user.renderEnded(render.id)).state).toBe("completed");

    const backup = await admin<{ path: string }>(folder, "backup", join(folder, "backups"));
    expect(Buffer.compare(await readFile(join(backup.path, "media", asset.id, "source")), bytes)).toBe(0);
    await server.kill();

    // Another data folder must not take the media folder over.
    const moved = join(folder, "elsewhere");
    const foreign = await offcut(["restore", backup.path, "--data-dir", moved]);
    expect(foreign).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`belongs to another data folder than ${moved}`),
    });
    const empty = await offcut(["serve", "--data-dir", moved]);
    expect(empty).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`but ${moved} has no database. Mount the data folder`),
    });
    const inside = await offcut(["serve"], join(server.data, "media"));
    expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining("must not be inside data_dir") });

    const restored = await offcut(["restore", backup.path]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toContain(`The media is in ${media}.`);
    const names = await readdir(join(folder, "nas"));
    expect([names.length, names.filter((name) => name.startsWith("media.before-restore-")).length]).toEqual([2, 1]);
    await server.start();
    expect(Buffer.compare(await readFile(source), bytes)).toBe(0);
    expect((await user.asset(asset.id)).state).toBe("ready");
    expect((await user.call("GET", "/readyz")).status).toBe(200);

    // As after kill -9 before the last rename of that restore.
    await server.kill();
    const replaced = names.find((name) => name.startsWith("media.before-restore-")) ?? "";
    await rename(media, join(folder, "nas", replaced.replace("before-restore", "restored")));
    const snapshots = join(server.data, "snapshots");
    await rm(snapshots, { recursive: true, force: true });
    await server.start();
    expect(Buffer.compare(await readFile(source), bytes)).toBe(0);
    expect((await user.call("GET", "/readyz")).status).toBe(200);

    // A past hour of both folders, with a recording that was deleted since.
    const listSnapshots = async () => (await listNames(snapshots)).filter((name) => !name.startsWith("."));
    const snapshot = await until("a snapshot", async () => (await listSnapshots())[0]);
    const taken = parseSnapshotName(snapshot)!;
    const before = new Date(taken).toISOString();
    await until("a later time", () => Date.now() > taken);
    expect((await user.call("DELETE", `/v1/assets/${asset.id}`)).status).toBe(204);
    await until("the deletion", async () => !(await Bun.file(source).exists()));
    await server.terminate();
    expect(await offcut(["restore", "--at", before])).toMatchObject({ code: 0, stderr: "" });
    await server.start();
    expect(Buffer.compare(await readFile(source), bytes)).toBe(0);
    expect((await user.call("GET", "/readyz")).status).toBe(200);
  },
  LONG,
);
