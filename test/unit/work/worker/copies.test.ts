/** The copies of recordings on a worker, and their removal when the recordings are deleted. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_COPIED_ASSETS } from "../../../../src/domain/workers";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { createHead } from "../../../../src/outbound/head";
import { createCopies, openWorkFolders } from "../../../../src/work/worker/work-folders";
import { temporaryFolder } from "../../../temporary-folder";
import { startFakeHead } from "./fake-head";

const never = new AbortController().signal;

test("work folders of deleted recordings are removed, at once or when their execution ends", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const [deleted, other] = [newId(), newId()];
  const earlier = await openWorkFolders(folder.path);
  for (const asset of [deleted, other])
    await (await earlier.acquire({ asset, key: "key", execution: newId() })).release(true);
  await Bun.write(join(folder.path, "speech-1/audio"), "of the recognizer");
  const workFolders = await openWorkFolders(folder.path);
  const used = await workFolders.acquire({ asset: deleted, key: "another", execution: newId() });
  const forgotten: string[] = [];
  const cache = { listAssets: () => [other], forget: (asset: string) => forgotten.push(asset) };
  head.deleted = [deleted, newId()];
  const copies = createCopies({
    cache: { ...cache, forget: (asset) => void cache.forget(asset) },
    workFolders,
    head: createHead({ url: head.url, token: head.token, ca: null }),
    log: silentLog(),
  });
  await copies.removeUnneeded(never);
  expect(head.askedAbout.map((assets) => assets.toSorted())).toEqual([[deleted, other].toSorted()]);
  expect(forgotten).toEqual([deleted]);
  const names = async () => (await readdir(folder.path)).toSorted();
  expect(await names()).toEqual([`${deleted}_another`, `${other}_key`, "speech-1"].toSorted());
  await used.release(true);
  expect(await names()).toEqual([`${other}_key`, "speech-1"].toSorted());
});

test("work folders of steps that have ended are removed, but not of a later execution", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const workFolders = await openWorkFolders(folder.path);
  const asset = newId();
  const keys = ["ended", "waiting", "again"];
  for (const key of keys) {
    const execution = newId();
    if (key !== "waiting") head.ended.push(execution);
    await (await workFolders.acquire({ asset, key, execution })).release(true);
  }
  await (await workFolders.acquire({ asset, key: "again", execution: newId() })).release(true);
  const inUse = newId();
  head.ended.push(inUse);
  const used = await workFolders.acquire({ asset, key: "used", execution: inUse });
  const copies = createCopies({
    cache: { listAssets: () => [], forget: () => {} },
    workFolders,
    head: createHead({ url: head.url, token: head.token, ca: null }),
    log: silentLog(),
  });
  await copies.removeUnneeded(never);
  const kept = ["again", "used", "waiting"].map((key) => `${asset}_${key}`);
  expect((await readdir(folder.path)).toSorted()).toEqual(kept);
  await used.release(false);
});

test("a work folder that is taken while it is being removed stays", async () => {
  await using folder = await temporaryFolder();
  const workFolders = await openWorkFolders(folder.path);
  const asset = newId();
  const acquire = () => workFolders.acquire({ asset, key: "key", execution: newId() });
  const first = await acquire();
  await Promise.all(Array.from({ length: 300 }, (_, n) => Bun.write(join(first.path, `work/${n}`), "x")));
  const released = first.release(false);
  const second = await acquire();
  await Bun.write(join(second.path, "chunk"), "x");
  await released;
  expect((await readdir(second.path)).toSorted()).toEqual(["chunk", "execution"]);
});

test("many recordings are queried in parts, and none without copies", async () => {
  const asked: number[] = [];
  let assets: string[] = [];
  const copies = createCopies({
    cache: { listAssets: () => assets, forget: () => {} },
    workFolders: {
      listAssets: async () => [],
      listExecutions: async () => [],
      forget: async () => {},
      removeOf: async () => {},
    },
    head: {
      findEnded: () => Promise.reject(new Error("it was not asked about any")),
      findDeleted: async (some) => {
        asked.push(some.length);
        return [];
      },
    },
    log: silentLog(),
  });
  await copies.removeUnneeded(never);
  assets = Array.from({ length: MAX_COPIED_ASSETS + 1 }, newId);
  await copies.removeUnneeded(never);
  expect(asked).toEqual([MAX_COPIED_ASSETS, 1]);
});
