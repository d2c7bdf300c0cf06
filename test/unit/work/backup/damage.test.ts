/** Damaged files of backups: they are remembered in the place, and the next backup replaces them. */
import { expect, test } from "bun:test";
import { readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readBackup } from "../../../../src/work/backup/backup-folder";
import { runDrill } from "../../../../src/work/backup/drill";
import { pruneBackups } from "../../../../src/work/backup/prune";
import { type RecordedFolder, recordedFolder, SOURCE_BYTES } from "./recorded-folder";

const NEVER = new AbortController().signal;
const CHANGED = "has changed since the backup";
const DAY_MS = 24 * 3_600_000;

const sourceOf = ({ assetId }: RecordedFolder) => `media/${assetId}/source`;
const verify = async (path: string, sample = 1) =>
  (await (await readBackup(path)).verify({ signal: NEVER, sample })).damaged;
const isListed = async (path: string) => (await readdir(path)).includes("damaged.json");
const toName = (path: string) => path.split("/").at(-1)!;

/** Changes a byte, and keeps the size and the time. */
async function damage(path: string): Promise<void> {
  const { atime, mtime } = await stat(path);
  const bytes = await readFile(path);
  bytes[0]! ^= 1;
  await writeFile(path, bytes);
  await utimes(path, atime, mtime);
}

test("a damaged file is copied again by the next backup, and replaced in those before it", async () => {
  await using recorded = await recordedFolder();
  const source = sourceOf(recorded);
  const first = await recorded.backup();
  const second = await recorded.backup();
  expect(second).toMatchObject({ linked_files: 4, copied_files: 0 });
  await damage(join(first.path, source));
  // The older one is verified. The newer one, to which the next one links, has the same file.
  expect(await verify(first.path)).toEqual([{ path: source, problem: CHANGED }]);
  expect([await isListed(first.path), await isListed(second.path)]).toEqual([true, true]);
  const third = await recorded.backup();
  expect(third).toMatchObject({ linked_files: 3, copied_files: 1 });
  expect(third.notes).toEqual(["Damaged files of earlier backups that were replaced: 2."]);
  for (const { path } of [first, second, third]) {
    expect(await verify(path)).toEqual([]);
    expect(await Bun.file(join(path, source)).text()).toBe(SOURCE_BYTES);
    expect(await isListed(path)).toBe(false);
  }
});

test("files that a drill finds damaged are copied again", async () => {
  await using recorded = await recordedFolder();
  const { folders, uploadId, root } = recorded;
  const source = sourceOf(recorded);
  const first = await recorded.backup();
  await damage(join(first.path, source));
  const drill = async (findings: object) => {
    const backup = await readBackup(first.path);
    const config = { ffmpeg: null, encoder: null, sandbox: null } as never;
    const script = join(root, "drill.sh");
    await Bun.write(script, `#!/bin/sh\necho '${JSON.stringify({ problems: [], ...findings })}'\n`);
    return runDrill({ config, folders, drillCommand: ["/bin/sh", script], now: () => 1 }, backup, NEVER);
  };
  // A file that the restored server found damaged, and one that is intact in the backup.
  const report = await drill({ damaged: [source, `media/${recorded.assetId}/poster.jpg`] });
  expect(report).not.toHaveProperty("damaged");
  expect(JSON.parse(await Bun.file(join(first.path, "damaged.json")).text())).toEqual([
    { path: source, problem: CHANGED },
  ]);
  expect((await recorded.backup()).copied_files).toBe(1);
  expect(await isListed(first.path)).toBe(false);
  // An upload is copied to the scratch folder, which finds the damage before anything is started.
  await damage(join(first.path, "uploads", uploadId));
  expect(await drill({ damaged: [] }).catch((error) => error)).toMatchObject({ code: "conflict" });
  expect(await isListed(first.path)).toBe(true);
});

test("a backup with damage counts neither as the newest good one nor as that of its day, and goes with its age", async () => {
  await using recorded = await recordedFolder();
  const good = await recorded.backup();
  const paths = [good, await recorded.backup(), await recorded.backup()].map(({ path }) => path);
  const poster = `media/${recorded.assetId}/poster.jpg`;
  for (const path of paths.slice(1))
    await writeFile(join(path, "damaged.json"), JSON.stringify([{ path: poster, problem: CHANGED }]));
  const prune = (days: number) =>
    pruneBackups(dirname(good.path), {
      keep: { daily: 1, weekly: 0 },
      folderId: null,
      now: Date.UTC(2027, 0, 31, 12) + days * DAY_MS,
    });
  // The newest of all stays too: most of its files are good.
  expect(await prune(0)).toEqual([toName(paths[1]!)]);
  expect((await readdir(dirname(good.path))).sort()).toEqual([toName(paths[0]!), toName(paths[2]!)]);
});

test("a finding that was wrong ends with the next verification; a list that cannot be read condemns all files", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const source = sourceOf(recorded);
  await writeFile(join(path, "damaged.json"), JSON.stringify([{ path: source, problem: CHANGED }]));
  // Its content was not read.
  await verify(path, 0);
  expect(await isListed(path)).toBe(true);
  await verify(path);
  expect(await isListed(path)).toBe(false);
  await writeFile(join(path, "damaged.json"), "[{");
  expect(await recorded.backup()).toMatchObject({ linked_files: 0, copied_files: 4 });
});

test("nothing is replaced through a folder that is a link, nor by a file that is damaged itself", async () => {
  await using recorded = await recordedFolder();
  const { root, renderId } = recorded;
  const output = `renders/${renderId}/output.mp4`;
  const first = await recorded.backup();
  const second = await recorded.backup();
  const other = join(root, "elsewhere");
  await Bun.write(join(other, "output.mp4"), "of somebody");
  await rm(join(first.path, "renders", renderId), { recursive: true });
  await symlink(other, join(first.path, "renders", renderId));
  // The newer one has undetected damage.
  const source = sourceOf(recorded);
  await rm(join(first.path, source));
  await damage(join(second.path, source));
  expect((await verify(first.path)).map(({ path }) => path).sort()).toEqual([source, output].sort());
  const third = await recorded.backup();
  expect(third.notes).toEqual([]);
  expect(await Bun.file(join(other, "output.mp4")).text()).toBe("of somebody");
  expect(await Bun.file(join(first.path, source)).exists()).toBe(false);
});
