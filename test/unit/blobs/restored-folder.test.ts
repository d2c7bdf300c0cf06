/** The swap of a restored folder, killed at each point. */
import { expect, test } from "bun:test";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { completeRestore, createRestoredFolder } from "../../../src/blobs/restored-folder";
import { temporaryFolder } from "../../temporary-folder";

const NOW = Date.UTC(2027, 0, 31, 14);
const STAMP = "2027-01-31T14-00-00Z";

async function liveFolder() {
  const folder = await temporaryFolder();
  const data = join(folder.path, "data");
  await Bun.write(join(data, "name"), "live");
  return {
    data,
    list: async () => (await readdir(folder.path)).sort(),
    name: () => Bun.file(join(data, "name")).text(),
    restore: async (name: string, now = NOW) => {
      const restored = await createRestoredFolder(data, now);
      await Bun.write(join(restored.draft, "name"), name);
      return restored;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("the draft takes the place of the live folder, which is renamed", async () => {
  await using live = await liveFolder();
  const previous = await (await live.restore("restored")).swap();
  expect(previous).toBe(`${live.data}.before-restore-${STAMP}`);
  expect(await live.name()).toBe("restored");
  expect(await Bun.file(join(previous!, "name")).text()).toBe("live");
  expect(await readdir(live.data)).not.toContain("lock-journal");
});

test("without a live folder nothing is renamed, and folders above it are created", async () => {
  await using folder = await temporaryFolder();
  const data = join(folder.path, "deep", "data");
  const restored = await createRestoredFolder(data, NOW);
  expect(await restored.swap()).toBe(null);
  expect(await readdir(join(folder.path, "deep"))).toEqual(["data"]);
});

test("a discarded draft leaves nothing behind", async () => {
  await using live = await liveFolder();
  await (await live.restore("restored")).discard();
  expect(await live.list()).toEqual(["data"]);
});

test("a second restore in the same second is refused, and one that runs is not taken for a leftover", async () => {
  await using live = await liveFolder();
  const first = await live.restore("first");
  expect(await live.restore("second").catch((error) => error.code)).toBe("conflict");
  const third = await live.restore("third", NOW + 1_000);
  await first.swap();
  await third.swap();
  expect(await live.name()).toBe("third");
  expect(await live.list()).toHaveLength(3);
});

test("drafts of killed restores are removed by the next one, and nothing else", async () => {
  await using live = await liveFolder();
  const others = ["data.before-restore-2026-01-01T00-00-00Z", "data.restoring", "other.restoring-x"];
  for (const name of [...others, "data.restoring-2026-01-01T00-00-00Z", "data.restored-2026-01-01T00-00-00Z"])
    await mkdir(`${live.data}/../${name}`);
  await (await live.restore("restored")).discard();
  expect(await live.list()).toEqual(["data", ...others].sort());
});

test("a start completes a restore that was killed between its two renames", async () => {
  await using live = await liveFolder();
  await Bun.write(`${live.data}.restored-${STAMP}/name`, "restored");
  // Before the first rename the live folder is there.
  completeRestore(live.data);
  expect(await live.name()).toBe("live");
  await rename(live.data, `${live.data}.before-restore-${STAMP}`);
  completeRestore(live.data);
  expect(await live.name()).toBe("restored");
});

test("a start takes no other folder", async () => {
  await using live = await liveFolder();
  // The administrator has moved the data folder away; an older restore was killed before its first rename.
  await Bun.write(`${live.data}.restored-${STAMP}/name`, "restored");
  await Bun.write(`${live.data}.restoring-${STAMP}/name`, "half");
  await rename(live.data, `${live.data}.before-restore-2026-01-01T00-00-00Z`);
  completeRestore(live.data);
  expect(await live.list()).not.toContain("data");
  completeRestore(join(live.data, "in", "no", "folder"));
});
