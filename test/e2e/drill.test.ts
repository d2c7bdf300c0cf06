/** The drill with the executable: it proves a good backup, and finds a blob, a ledger row and a render that differ. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../src/lib/hash";
import { BUNDLED_FFMPEG } from "../http/media";
import { until } from "../until";
import { FIXTURES, runOffcut, spawnOffcut } from "./offcut";
import { admin, processesOf, type Server, startServer } from "./server";

setDefaultTimeout(180_000);

type Drill = { problems: string[]; files: number; checked_files: number; balances: number; render_frames: number };
type Manifest = { files: { path: string; bytes: number; sha256: string }[] };

const CREDITS = 500;

let server: Server;
let backups: string;
let backup: string;
let assetId: string;
let renderId: string;
let userId: string;

beforeAll(async () => {
  server = await startServer({ PREVIEWS: "on_opening" });
  const user = await server.user(CREDITS);
  userId = user.userId;
  const asset = await user.ready(await readFile(join(FIXTURES, "talk.mp4")));
  assetId = asset.id;
  const cut = await user.must<{ id: string }>("POST", "/v1/cuts", { json: { asset_id: assetId } });
  await until(
    "the cut",
    async () => (await user.must<{ state: string }>("GET", `/v1/cuts/${cut.id}`)).state === "completed",
    90,
  );
  const render = await user.must<{ id: string }>("POST", "/v1/renders", {
    json: { asset_id: assetId, cut_id: cut.id },
  });
  renderId = render.id;
  await until(
    "the render",
    async () => (await user.must<{ state: string }>("GET", `/v1/renders/${renderId}`)).state === "completed",
    90,
  );
  backups = join(server.folder, "backups");
  backup = (await admin<{ path: string }>(server.folder, "backup", backups)).path;
});
afterAll(() => server[Symbol.asyncDispose]());

async function drill(): Promise<Drill & { code: number | null }> {
  const { code, stdout, stderr } = await runOffcut(["backup", "drill", backups, "--json"], { folder: server.folder });
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Drill), code };
}

/** Changes files of the backup together with its manifest, as if it had been written so, runs `check`, and puts the files back. */
async function withForged(change: () => Promise<unknown>, paths: string[], check: () => Promise<void>): Promise<void> {
  const files = [...paths, "manifest.json"].map((path) => join(backup, path));
  for (const file of files) await copyFile(file, `${file}.kept`);
  try {
    await change();
    const manifest = JSON.parse(await readFile(join(backup, "manifest.json"), "utf8")) as Manifest;
    for (const file of manifest.files)
      if (paths.includes(file.path)) {
        const bytes = await readFile(join(backup, file.path));
        Object.assign(file, { bytes: bytes.length, sha256: sha256(bytes) });
      }
    await writeFile(join(backup, "manifest.json"), JSON.stringify(manifest));
    await check();
  } finally {
    for (const file of files) await rename(`${file}.kept`, file);
  }
}

function changeDatabase(sql: string): void {
  using database = new Database(join(backup, "offcut.db"));
  database.run(sql);
}

const listScratch = async () => (await readdir(backups)).filter((name) => name.startsWith(".drill-"));

test("a good backup is proven; a drill that was killed leaves nothing after it", async () => {
  const killed = spawnOffcut(["backup", "drill", backups], { folder: server.folder });
  await until("the restored server", async () => {
    const [scratch] = await listScratch();
    return scratch !== undefined && (await readdir(join(backups, scratch))).includes("api.sock");
  });
  await server.kill();
  await killed.exited;
  await until("the end of the restored server", async () => (await processesOf(backups)).length === 0);
  expect(await listScratch()).toHaveLength(1);
  await server.start();

  const before = await stat(join(backup, `media/${assetId}/source`));
  const report = await drill();
  expect(report).toMatchObject({ code: 0, problems: [], balances: 1, checked_files: report.files });
  expect(report.render_frames).toBeGreaterThan(100);
  const after = await stat(join(backup, `media/${assetId}/source`));
  expect([after.ino, after.size, after.mtimeMs, after.nlink]).toEqual([before.ino, before.size, before.mtimeMs, 1]);
  expect(await readdir(backups)).toEqual([expect.stringMatching(/^offcut-/)]);
  expect((await readdir(server.data)).filter((name) => name.startsWith(".drill"))).toEqual([]);
});

test("a blob that differs", async () => {
  const source = join(backup, `media/${assetId}/source`);
  const bytes = await readFile(source);
  await copyFile(source, `${source}.kept`);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(source, bytes);
  const report = await drill();
  await rename(`${source}.kept`, source);
  expect(report).toMatchObject({
    code: 1,
    problems: expect.arrayContaining([`media/${assetId}/source has changed since the backup.`]),
  });
});

test("a ledger row that differs", async () => {
  const change = async () => changeDatabase("UPDATE ledger SET delta = delta - 7 WHERE type = 'grant'");
  await withForged(change, ["offcut.db"], async () => {
    const { code, problems } = await drill();
    expect([code, problems]).toEqual([
      1,
      [expect.stringMatching(new RegExp(`^Workspace ${userId} has \\d+ credits in its ledger, expected \\d+\\.$`))],
    ]);
  });
});

test("a render that the executable renders differently, without a running server", async () => {
  await server.terminate();
  const path = `renders/${renderId}/output.mp4`;
  const change = async () => {
    const file = join(backup, path);
    const other = join(server.folder, "other.mp4");
    const made = Bun.spawnSync([
      ...[BUNDLED_FFMPEG, "-y", "-v", "error", "-i", file, "-vf", "drawbox=x=0:y=0:w=16:h=16:color=white:t=fill"],
      ...["-c:a", "copy", "-vsync", "0", other],
    ]);
    expect(made.stderr.toString()).toBe("");
    await copyFile(other, file);
    changeDatabase(`UPDATE renders SET size_bytes = ${(await stat(file)).size}`);
  };
  await withForged(change, [path, "offcut.db"], async () => {
    const { code, problems } = await drill();
    expect([code, problems]).toEqual([
      1,
      [expect.stringMatching(/^Render \S+ was rendered again: Frame 1 of \d+ differs from the stored render\.$/)],
    ]);
  });
});
