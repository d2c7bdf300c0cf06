import { expect, test } from "bun:test";
import { getFolders } from "../../../src/blobs/folders";
import { listProjectAssetIds } from "../../../src/store/assets";
import { findProject } from "../../../src/store/projects";
import { removeProject } from "../../../src/work/deletion";
import { addAsset, addUser, freshStore } from "../store/test-store";

test("other writes run while the assets of a project are deleted", async () => {
  await using db = await freshStore();
  const { store } = db;
  const owner = await store.write((tx) => addUser(tx));
  await store.write(async (tx) => {
    for (let n = 0; n < 20; n++) await addAsset(tx, owner, { state: "failed" });
  });
  const seen = new Set<number>();
  let isRemoved = false;
  const runner = { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} };
  const services = { store, folders: getFolders(db.folder), now: () => 1, runner };
  const removing = removeProject(services, owner.projectId).then(() => {
    isRemoved = true;
  });
  while (!isRemoved) seen.add((await store.write((tx) => listProjectAssetIds(tx, owner.projectId))).length);
  await removing;
  expect(seen.size).toBeGreaterThan(10);
  expect(await findProject(store.read, owner.userId, owner.projectId)).toBeNull();
});
