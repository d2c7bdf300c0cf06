/** The swap of a restored folder, killed at each point. */
import { expect, test } from "bun:test";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { completeMediaRestore, completeRestore, createRestoredFolders } from "../../../src/blobs/restored-folder";
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
      const restored = await createRestoredFolders({ data, media: null }, now);
      await Bun.write(join(restored.drafts.data, "name"), name);
      return restored;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("the draft takes the place of the live folder, which is renamed", async () => {
  await using live = await liveFolder();
  const { data: previous } = await (await live.restore("restored")).swap();
  expect(previous).toBe(`${live.data}.before-restore-${STAMP}`);
  expect(await live.name()).toBe("restored");
  expect(await Bun.file(join(previous!, "name")).text()).toBe("live");
  expect(await readdir(live.data)).not.toContain("lock-journal");
});

test("without a live folder nothing is renamed, and folders above it are created", async () => {
  await using folder = await temporaryFolder();
  const data = join(folder.path, "deep", "data");
  const restored = await createRestoredFolders({ data, media: null }, NOW);
  expect(await restored.swap()).toEqual({ data: null, media: null });
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
  // Before the first rename, the live folder still exists.
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

/** A data folder and its media folder, each with its contents in `name`. */
async function liveFolders({ isNew = false } = {}) {
  const folder = await temporaryFolder();
  const [data, media] = [join(folder.path, "data"), join(folder.path, "nas", "media")];
  const name = async (path: string) => {
    const file = Bun.file(join(path, "name"));
    return (await file.exists()) ? file.text() : null;
  };
  const write = async (path: string, text: string) => {
    await Bun.write(join(path, "name"), text);
    await Bun.write(join(path, "offcut.db"), text);
  };
  if (!isNew) for (const path of [data, media]) await write(path, "live");
  return {
    data,
    media,
    list: async () => [...(await readdir(folder.path)), ...(await readdir(join(folder.path, "nas")))].sort(),
    names: async () => [await name(data), await name(media)],
    restore: async () => {
      const restored = await createRestoredFolders({ data, media }, NOW);
      for (const path of [restored.drafts.data, restored.drafts.media]) await write(path!, "restored");
      return restored;
    },
    /** Simulates a start. */
    start: async () => {
      completeRestore(data);
      await completeMediaRestore(data, media);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("both drafts take the places of both folders", async () => {
  await using live = await liveFolders();
  const replaced = await (await live.restore()).swap();
  expect(replaced).toEqual({
    data: `${live.data}.before-restore-${STAMP}`,
    media: `${live.media}.before-restore-${STAMP}`,
  });
  expect(await live.names()).toEqual(["restored", "restored"]);
  expect(await live.list()).toHaveLength(5);
});

/** The renames of a swap, in their order. Folders that do not exist are not renamed. */
const RENAMES = [
  ["data", "restoring", "restored"],
  ["media", "restoring", "restored"],
  ["media", "", "before-restore"],
  ["data", "", "before-restore"],
  ["data", "restored", ""],
  ["media", "restored", ""],
] as const;

for (const isNew of [false, true])
  test(`a start after a kill between any two renames finds folders that belong together${isNew ? ", also new ones" : ""}`, async () => {
    const renames = RENAMES.filter(([, from]) => from !== "" || !isNew);
    for (let done = 0; done <= renames.length; done++) {
      await using live = await liveFolders({ isNew });
      await live.restore();
      const at = (path: string, infix: string) => (infix === "" ? path : `${path}.${infix}-${STAMP}`);
      for (const [which, from, to] of renames.slice(0, done)) await rename(at(live[which], from), at(live[which], to));
      await live.start();
      // A new data folder alone is not considered complete, because no earlier one exists.
      const isSwapped = renames.slice(0, done).some(([which, , to]) => which === "data" && to === "");
      const isLeft = !isNew && renames.slice(0, done).some(([which, from]) => which === "data" && from === "");
      const before = isNew ? null : "live";
      const expected = isSwapped || isLeft ? "restored" : before;
      expect([done, ...(await live.names())]).toEqual([done, expected, expected]);
    }
  });

test("when a rename fails, those before it are undone", async () => {
  await using live = await liveFolders();
  const restored = await live.restore();
  // The media folder is taken away first.
  await Bun.write(join(`${live.data}.before-restore-${STAMP}`, "in-the-way"), "");
  expect(await restored.swap().catch((error) => error.code)).toBe("ENOTEMPTY");
  expect(await live.names()).toEqual(["live", "live"]);
  expect(await live.list()).toEqual(["data", `data.before-restore-${STAMP}`, "media", "nas"]);
});

test("a start puts no media folder in the place of one that is away for another reason", async () => {
  await using live = await liveFolders();
  // A restore was killed before its first rename, and its data folder has been removed.
  await Bun.write(`${live.media}.restored-${STAMP}/name`, "restored");
  await rename(live.media, `${live.media}.before-restore-${STAMP}`);
  await live.start();
  expect(await live.names()).toEqual(["live", "live"]);
  // Without a database, the data folder is not the one that was restored.
  await rename(live.media, `${live.media}.away`);
  await rename(live.data, `${live.data}.away`);
  await mkdir(live.data);
  await live.start();
  expect(await live.names()).toEqual([null, null]);
});

test("drafts of a killed restore are removed together, and those of one that runs are kept", async () => {
  await using live = await liveFolders();
  await live.restore();
  for (const path of [live.data, live.media]) await mkdir(`${path}.restored-2026-01-01T00-00-00Z`);
  await (await createRestoredFolders({ data: live.data, media: live.media }, NOW + 1_000)).discard();
  expect(await live.list()).toEqual(
    ["data", `data.restoring-${STAMP}`, "media", `media.restoring-${STAMP}`, "nas"].sort(),
  );
  expect(await createRestoredFolders({ data: live.data, media: live.media }, NOW).catch((error) => error.code)).toBe(
    "conflict",
  );
});
