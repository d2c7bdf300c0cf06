/** The drill with the executable: it proves a good backup, and finds a blob, a ledger row and a render that differ. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../src/lib/hash";
import { BUNDLED_FFMPEG, video, wav } from "../http/media";
import { until } from "../until";
import { IS_BUNDLED_PASS, runOffcut, spawnOffcut } from "./offcut";
import { admin, BUNDLED, processesOf, type Server, startServer } from "./server";

/** A drill yields to everything else on the machine. */
setDefaultTimeout(600_000);

type Drill = { problems: string[]; files: number; checked_files: number; balances: number; render_frames: number };
type Manifest = { files: { path: string; bytes: number; sha256: string }[] };
type Job = { id: string; state: string };

const CREDITS = 500;
const PATIENCE_SECONDS = 300;

let server: Server;
let backups: string;
let backup: string;
let userId: string;
let damagedId: string;
let renderId: string;

beforeAll(async () => {
  if (IS_BUNDLED_PASS) return;
  server = await startServer({ PREVIEWS: "on_opening", ...BUNDLED });
  const user = await server.user(CREDITS);
  ({ userId } = user);
  const create = async (what: string, json: object): Promise<string> => {
    const { id } = await user.must<Job>("POST", `/v1/${what}`, { json });
    const isCompleted = async () => (await user.must<Job>("GET", `/v1/${what}/${id}`)).state === "completed";
    await until(what, isCompleted, PATIENCE_SECONDS);
    return id;
  };
  const { id: asset_id } = await user.ready(await video());
  ({ id: damagedId } = await user.ready(await wav(2)));
  renderId = await create("renders", { asset_id, cut_id: await create("cuts", { asset_id }) });
  backups = join(server.folder, "backups");
  backup = (await admin<{ path: string }>(server.folder, "backup", backups)).path;
});
afterAll(() => server?.[Symbol.asyncDispose]());

async function drill(): Promise<Drill & { code: number | null }> {
  // Without a server, the command needs the ffmpeg that has rendered.
  const options = { folder: server.folder, env: { OFFCUT_FFMPEG: BUNDLED_FFMPEG } };
  const { code, stdout, stderr } = await runOffcut(["backup", "drill", backups, "--json"], options);
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Drill), code };
}

const listScratch = async () => (await readdir(backups)).filter((name) => name.startsWith(".drill-"));

test.skipIf(IS_BUNDLED_PASS)("a good backup is proven; a drill that was killed leaves nothing after it", async () => {
  const killed = spawnOffcut(["backup", "drill", backups], { folder: server.folder });
  const findServer = async () => {
    const [scratch] = await listScratch();
    return scratch !== undefined && (await readdir(join(backups, scratch))).includes("api.sock");
  };
  await until("the restored server", findServer, PATIENCE_SECONDS);
  await server.kill();
  await killed.exited;
  await until("the end of the restored server", async () => (await processesOf(backups)).length === 0);
  expect(await listScratch()).toHaveLength(1);
  await server.start();

  const source = join(backup, `media/${damagedId}/source`);
  const before = await stat(source);
  const report = await drill();
  expect(report).toMatchObject({ code: 0, problems: [], balances: 1, checked_files: report.files });
  expect(report.render_frames).toBeGreaterThan(10);
  const after = await stat(source);
  expect([after.ino, after.size, after.mtimeMs, after.nlink]).toEqual([before.ino, before.size, before.mtimeMs, 1]);
  expect(await readdir(backups)).toEqual([expect.stringMatching(/^offcut-/)]);
  expect((await readdir(server.data)).filter((name) => name.startsWith(".drill"))).toEqual([]);
});

/** Changes the backup's database. */
function changeDatabase(sql: string): void {
  using database = new Database(join(backup, "offcut.db"));
  database.run(sql);
}

/** Rewrites the manifest for the changed files, as if they had been backed up like this. */
async function forgeManifest(paths: string[]): Promise<void> {
  const path = join(backup, "manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
  for (const file of manifest.files.filter((each) => paths.includes(each.path))) {
    const bytes = await readFile(join(backup, file.path));
    Object.assign(file, { bytes: bytes.length, sha256: sha256(bytes) });
  }
  await writeFile(path, JSON.stringify(manifest));
}

/** Replaces the stored render by one with a white corner, which the executable does not render. */
async function forgeRender(path: string): Promise<void> {
  const file = join(backup, path);
  const other = join(server.folder, "other.mp4");
  const made = Bun.spawnSync([
    ...[BUNDLED_FFMPEG, "-y", "-v", "error", "-i", file, "-vf", "drawbox=x=0:y=0:w=16:h=16:color=white:t=fill"],
    ...["-c:a", "copy", "-vsync", "0", other],
  ]);
  expect(made.stderr.toString()).toBe("");
  await copyFile(other, file);
  changeDatabase(`UPDATE renders SET size_bytes = ${(await stat(file)).size}`);
}

/** The problems of a backup in which three things differ, found without a running server. */
let damage: Promise<Drill & { code: number | null }> | null = null;
function drillDamaged(): Promise<Drill & { code: number | null }> {
  damage ??= (async () => {
    await server.terminate();
    const source = join(backup, `media/${damagedId}/source`);
    const bytes = await readFile(source);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(source, bytes);
    changeDatabase("UPDATE ledger SET delta = delta - 7 WHERE type = 'grant'");
    const render = `renders/${renderId}/output.mp4`;
    await forgeRender(render);
    await forgeManifest([render, "offcut.db"]);
    return drill();
  })();
  return damage;
}

test.skipIf(IS_BUNDLED_PASS)("a drill fails when a blob differs", async () => {
  const { code, problems } = await drillDamaged();
  expect([code, problems]).toEqual([
    1,
    expect.arrayContaining([`media/${damagedId}/source has changed since the backup.`]),
  ]);
});

test.skipIf(IS_BUNDLED_PASS)("a drill fails when a ledger row differs", async () => {
  const { code, problems } = await drillDamaged();
  const found = problems.find((problem) => problem.startsWith("Workspace"));
  expect([code, found]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^Workspace ${userId} has \\d+ credits in its ledger, expected \\d+\\.$`)),
  ]);
});

test.skipIf(IS_BUNDLED_PASS)("a drill fails when the executable renders another video", async () => {
  const { code, problems } = await drillDamaged();
  expect([code, problems.at(-1)]).toEqual([
    1,
    expect.stringMatching(/^Render \S+ was rendered again: Frame 1 of \d+ differs from the stored render\.$/),
  ]);
  // There are no other problems.
  expect(problems).toHaveLength(3);
});
