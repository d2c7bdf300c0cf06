/** The weekly check of all files in a real data folder, and the actions of administrators on its findings. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { MEDIA_MARKER_NAME } from "../../src/domain/media-folder";
import type { FileProblem } from "../../src/domain/states";
import { ADMIN_SCHEMAS } from "../../src/http/dashboard/admin/schemas";
import { sha256 } from "../../src/lib/hash";
import { newId } from "../../src/lib/ids";
import { countOpenFindings, findFileCheck, saveFileCheck } from "../../src/store/file-checks";
import { listErrors } from "../contract/response-checks";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import type { Client } from "./client";
import { PROVING_DRILL } from "./drill-command";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";
import { scrub } from "./scrub";

setDefaultTimeout(PATIENCE_MS);

type Finding = {
  id: string;
  path: string;
  problem: FileProblem;
  owner: { kind: string; id: string } | null;
  restore_error: string | null;
};
type Resolved = { items: { id: string; state: string; error: string | null }[] };

const FINDINGS = "/api/v1/admin/storage/findings";

let backups: TemporaryFolder;
let server: Harness;
let admin: Client;
let user: Client;
/** Weeks that have passed for the check: sessions would end with the server's clock. */
let week = 0;

beforeAll(async () => {
  backups = await temporaryFolder();
  server = await harness({ BACKUP_TO: backups.path }, { drillCommand: PROVING_DRILL, sharesChild: true });
  admin = await startSession(server, await createAdmin(server));
  user = await server.user();
  await until("the nightly backup", () => server.log.some((line) => line.includes('"backup.completed"')));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await backups[Symbol.asyncDispose]();
});

async function backUp(): Promise<void> {
  const all = server.services().backups;
  // A drill follows the nightly backup.
  await until("the end of other backups", () => !all.isBusy());
  const { done } = await all.create({ target: backups.path, hasMedia: true });
  await done;
}

/** Checks the files that are due in the next week. */
function scrubWeek(weeks = 1) {
  week += weeks;
  return scrub(server, week);
}

/** Checks all files: after four weeks each is due. */
const scrubAll = () => scrubWeek(4);

const list = async (query = "") =>
  (await admin.must<{ items: Finding[]; total: number }>("GET", `${FINDINGS}?limit=100&${query}`)).items;
const resolve = (action: string, findings: { id: string }[]) =>
  admin.must<Resolved>("POST", `${FINDINGS}/resolve`, { json: { action, ids: findings.map(({ id }) => id) } });
const countOpen = () => countOpenFindings(server.services().store.read);
const restored = () =>
  until("the end of the restores", async () =>
    (await list()).every(({ id }) => !server.services().fileRestores.isQueued(id)),
  );

/** Changes a byte in the middle of a file, whose size and time stay. */
async function rot(path: string): Promise<void> {
  const { atime, mtime } = await stat(path);
  const bytes = await Bun.file(path).bytes();
  bytes[bytes.length >> 1]! ^= 0xff;
  await Bun.write(path, bytes);
  await utimes(path, atime, mtime);
}

test("problems of each kind are found, listed and solved", async () => {
  const { folders, store } = server.services();
  const [rotten, lost, broken, rendered] = [
    await user.ready(await wav(4)),
    await user.ready(await wav(5)),
    await user.ready(await video(3)),
    await user.ready(await wav(6)),
  ];
  const { id: renderId } = await user.startRender({ asset_id: rendered.id, output: { format: "mp3" } });
  await user.renderEnded(renderId);
  await server.idle();
  await backUp();
  const source = (id: string) => folders.media(id).source;
  const [rottenBytes, lostBytes] = [await Bun.file(source(rotten.id)).bytes(), await Bun.file(source(lost.id)).bytes()];
  // Half of the video's frames, before it was ever checked and with another time, so that nothing knows its content.
  const video3 = await Bun.file(source(broken.id)).bytes();
  video3.fill(0, Math.floor(video3.length * 0.2), Math.floor(video3.length * 0.8));
  await Bun.write(source(broken.id), video3);

  const files = (await readdir(folders.mediaRoot, { recursive: true })).length - 4 + 1;
  // The first pass reads a quarter, and after three more weeks everything was read.
  let readFiles = 0;
  for (let n = 0; n < 4; n++) readFiles += (await scrubWeek()).read_files;
  expect(readFiles).toBe(files);
  expect(await admin.must("GET", "/api/v1/admin/storage/checks")).toMatchObject({ files, open_findings: 1 });
  const undecodable = await list();
  expect(undecodable).toMatchObject([{ path: `media/${broken.id}/source`, problem: "undecodable" }]);

  await rot(source(rotten.id));
  await rm(source(lost.id));
  await rm(folders.render(renderId), { recursive: true });
  await Bun.write(join(folders.media(rotten.id).dir, "notes.txt"), "mine");
  await Bun.write(join(folders.mediaRoot, "junk", "a", "b"), "12345");
  await Bun.write(folders.upload(rotten.id), "an old upload");
  await scrubAll();
  const found = await list();
  expect(found.map(({ path, problem }) => `${problem} ${path}`).sort()).toEqual(
    [
      `changed media/${rotten.id}/source`,
      `missing media/${lost.id}/source`,
      `missing renders/${renderId}/output.mp3`,
      `undecodable media/${broken.id}/source`,
      "untracked media/junk",
      `untracked media/${rotten.id}/notes.txt`,
      `untracked uploads/${rotten.id}`,
    ].sort(),
  );
  for (const item of found) expect(listErrors(ADMIN_SCHEMAS.StorageFinding, item)).toEqual([]);
  const of = (problem: FileProblem) => found.filter((item) => item.problem === problem);
  expect(await list("problem=untracked")).toHaveLength(3);
  expect(of("untracked").find(({ path }) => path === "media/junk")).toMatchObject({ bytes: 5, owner: null } as never);
  expect(await countOpen()).toBe(7);

  // Actions that a problem does not allow fail individually.
  const wrong = await resolve("restore", [...of("untracked"), { id: newId() }]);
  expect(wrong.items.map(({ state }) => state)).toEqual(["failed", "failed", "failed", "failed"]);
  expect((await resolve("delete_file", of("changed"))).items[0]?.state).toBe("failed");
  expect(await countOpen()).toBe(7);

  // The newest backup is damaged: the one before is used.
  await backUp();
  const [newest] = (await readdir(backups.path))
    .filter((name) => name.startsWith("offcut-"))
    .sort()
    .reverse();
  const inNewest = join(backups.path, newest!, "media", rotten.id, "source");
  await rm(inNewest);
  await Bun.write(inNewest, new Uint8Array(rottenBytes.byteLength));
  const sources = found.filter(({ path, problem }) => path.endsWith("/source") && problem !== "undecodable");
  expect((await resolve("restore", sources)).items.map(({ state }) => state)).toEqual(["started", "started"]);
  await restored();
  expect(await Bun.file(source(rotten.id)).bytes()).toEqual(rottenBytes);
  expect(await Bun.file(source(lost.id)).bytes()).toEqual(lostBytes);
  expect(await findFileCheck(store.read, `media/${lost.id}/source`)).toMatchObject({ problem: null });

  // The undecodable file is replaced by other content.
  await resolve("restore", of("undecodable"));
  await restored();

  expect(sha256(await Bun.file(source(broken.id)).bytes())).toBe(sha256(await video(3)));

  // A job may have written a file that is younger, or its row is about to be.
  expect((await resolve("delete_file", of("untracked"))).items[0]?.state).toBe("failed");
  server.advance(4 * 3600 * 1000);
  expect((await resolve("delete_file", of("untracked"))).items.map(({ state }) => state)).toEqual([
    "resolved",
    "resolved",
    "resolved",
  ]);
  for (const path of ["media/junk", `media/${rotten.id}/notes.txt`, `uploads/${rotten.id}`])
    expect(await Bun.file(join(server.dataDir, path)).exists()).toBe(false);
  expect((await readdir(folders.mediaRoot)).includes("junk")).toBe(false);
  const kept = await readdir(folders.trash, { recursive: true });
  expect(kept.some((path) => path.endsWith(`.media.${rotten.id}.stray/notes.txt`))).toBe(true);
  const render = found.filter(({ owner }) => owner?.kind === "render");
  expect((await resolve("delete_owner", render)).items).toEqual([
    { id: render[0]!.id, state: "resolved", error: null },
  ]);
  expect((await user.call("GET", `/v1/renders/${renderId}`)).status).toBe(404);
  expect((await resolve("accept", render)).items[0]?.error).toBe("Problem not found.");
  expect(await list()).toEqual([]);

  await scrubAll();
  expect(await list()).toEqual([]);
  const { items: entries } = await admin.must<{
    items: { action: string; details: { path: string }; actor: { id: string } }[];
  }>("GET", "/api/v1/admin/audit?limit=100");
  const written = entries.filter(({ action }) => /^(file|render)\./.test(action));
  expect(written.map(({ action, details }) => `${action} ${details.path}`).sort()).toEqual(
    [
      "file.deleted media/junk",
      `file.deleted media/${rotten.id}/notes.txt`,
      `file.deleted uploads/${rotten.id}`,
      `file.restored media/${broken.id}/source`,
      `file.restored media/${lost.id}/source`,
      `file.restored media/${rotten.id}/source`,
      `render.deleted renders/${renderId}/output.mp3`,
    ].sort(),
  );
  expect(new Set(written.map(({ actor }) => actor.id))).toEqual(new Set([admin.userId]));
});

test("an accepted file is right as it is, and an accepted loss is not shown again", async () => {
  const { folders, store } = server.services();
  const asset = await user.ready(await wav(3));
  const { source, poster: _poster, waveform } = folders.media(asset.id);
  await scrubAll();
  await rot(source);
  await rm(waveform);
  await scrubAll();
  const before = await list();
  expect(before.map(({ problem }) => problem).sort()).toEqual(["changed", "missing"]);
  await resolve("accept", before);
  expect(await list()).toEqual([]);
  await scrubAll();
  expect(await list()).toEqual([]);
  // Another change is another problem.
  await rot(source);
  await Bun.write(waveform, "{}");
  await scrubAll();
  expect((await list()).map(({ path, problem }) => `${problem} ${path}`).sort()).toEqual([
    `changed media/${asset.id}/source`,
    `changed media/${asset.id}/waveform.json`,
  ]);
  // A recording that is deleted takes its problems with it.
  await user.must("DELETE", `/v1/assets/${asset.id}`);
  expect(await list()).toEqual([]);
  expect(await findFileCheck(store.read, `media/${asset.id}/probed.json`)).toBeNull();
});

test("a file that no backup has stays a problem, which says why", async () => {
  const { folders } = server.services();
  const asset = await user.ready(await wav(7));
  await scrubAll();
  await rm(folders.media(asset.id).source);
  await scrubWeek();
  const [finding] = await list();
  await resolve("restore", [finding!]);
  await restored();
  const [after] = await list();
  expect(after).toMatchObject({ id: finding!.id, restore_error: "No backup has this file with the right content." });
  expect(await readdir(folders.media(asset.id).dir)).not.toContain("source.restoring");
  await resolve("delete_owner", [finding!]);
  expect((await user.call("GET", `/v1/assets/${asset.id}`)).status).toBe(404);
});

test("while a folder is away or the disk is full nothing is concluded", async () => {
  const { folders } = server.services();
  await user.ready(await wav(8));
  // As when nothing is mounted at the media folder.
  const marker = join(folders.mediaDir, MEDIA_MARKER_NAME);
  const names = [marker, folders.mediaRoot, folders.rendersRoot];
  for (const name of names) await rename(name, `${name}.away`);
  expect(await scrubWeek()).toMatchObject({ isComplete: false, findings: 0 });
  for (const name of names) await rename(`${name}.away`, name);
  const { disk } = server.services();
  const { isCritical } = disk;
  disk.isCritical = () => true;
  expect(await scrubWeek()).toMatchObject({ isComplete: false, read_files: 0 });
  disk.isCritical = isCritical;
  expect(await scrubWeek()).toMatchObject({ isComplete: true, findings: 0 });
});

test.each([
  { action: "delete_file", ids: ["../../etc/passwd"] },
  { action: "delete_file", ids: ["media/junk"] },
  { action: "restore", ids: [] },
  { action: "restore", ids: Array.from({ length: 101 }, newId) },
  { action: "delete", ids: [newId()] },
  { action: "accept", ids: [newId()], path: "media/x" },
])("a request with anything else than IDs and a known action is refused: %#", async (json) => {
  expect((await admin.call("POST", `${FINDINGS}/resolve`, { json })).status).toBe(422);
});

test("a row with a hostile path reaches no file outside of the media folder", async () => {
  const { store, folders } = server.services();
  const outside = join(server.dataDir, "outside.txt");
  await Bun.write(outside, "stays");
  await mkdir(join(folders.mediaRoot, "x"), { recursive: true });
  await copyFile(outside, join(folders.mediaRoot, "x", "source"));
  const paths = [
    "media/../outside.txt",
    "../outside.txt",
    `${server.dataDir}/outside.txt`,
    "media/x/../../outside.txt",
  ];
  const rows = paths.map((path) => ({
    ...{ id: newId(), path, bytes: 5, modified_at: 0, sha256: null, checked_at: 0, decoded_at: null, detail: "x" },
    ...{
      problem: "untracked" as const,
      found: null,
      found_at: 0,
      accepted_at: null,
      restore_error: null,
      created_at: 0,
    },
  }));
  await store.write(async (tx) => {
    for (const row of rows) await saveFileCheck(tx, row);
    for (const row of rows) await saveFileCheck(tx, { ...row, id: newId(), path: `${row.path}#`, problem: "missing" });
  });
  const all = await list();
  await resolve("delete_file", all);
  await resolve("restore", all);
  await resolve("delete_owner", all);
  await restored();
  expect(await Bun.file(outside).text()).toBe("stays");
  // The next pass forgets them.
  await scrubWeek();
  expect((await list()).filter(({ path }) => path.includes("outside"))).toEqual([]);
});
