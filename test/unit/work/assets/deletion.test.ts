import { expect, test } from "bun:test";
import { getFolders } from "../../../../src/blobs/folders";
import { CUT_MODES } from "../../../../src/domain/plan";
import { newId } from "../../../../src/lib/ids";
import { findAssetById, listProjectAssetIds } from "../../../../src/store/assets";
import { insertCut, listAssetCutIds } from "../../../../src/store/cuts";
import { findProject } from "../../../../src/store/projects";
import { removeAsset, removeProject } from "../../../../src/work/assets/deletion";
import type { PipelineNeeds } from "../../../../src/work/pipelines/pipelines";
import { addAsset, addUser, freshStore, type TestStore } from "../../store/test-store";

const runner = { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} };
const servicesOf = ({ store, folder }: TestStore) =>
  ({ store, folders: getFolders(folder), now: () => 1, runner }) as Partial<PipelineNeeds> as PipelineNeeds;

/** Counts rows, each time in a write, until `removing` has ended. Returns the different counts. */
async function countDuring(removing: Promise<void>, count: () => Promise<number>): Promise<Set<number>> {
  const seen = new Set<number>();
  let isRemoved = false;
  const ended = removing.then(() => {
    isRemoved = true;
  });
  while (!isRemoved) seen.add(await count());
  await ended;
  return seen;
}

test("other writes run while the assets of a project are deleted", async () => {
  await using db = await freshStore();
  const { store } = db;
  const owner = await store.write((tx) => addUser(tx));
  await store.write(async (tx) => {
    for (let n = 0; n < 20; n++) await addAsset(tx, owner, { state: "failed" });
  });
  const count = async () => (await store.write((tx) => listProjectAssetIds(tx, owner.projectId))).length;
  const seen = await countDuring(removeProject(servicesOf(db), owner.projectId), count);
  expect(seen.size).toBeGreaterThan(10);
  expect(await findProject(store.read, owner.workspaceId, owner.projectId)).toBeNull();
});

test("other writes run while the cuts of an asset are deleted", async () => {
  await using db = await freshStore();
  const { store } = db;
  const asset = await store.write(async (tx) => addAsset(tx, await addUser(tx)));
  const cut = { workspace_id: asset.workspace_id, asset_id: asset.id, state: "pending", script: "" } as const;
  await store.write(async (tx) => {
    for (let n = 0; n < 20; n++)
      await insertCut(tx, { ...cut, id: newId(), options: CUT_MODES.natural, created_at: 0 });
  });
  const count = async () => (await store.write((tx) => listAssetCutIds(tx, asset.id))).length;
  const seen = await countDuring(removeAsset(servicesOf(db), asset.id), count);
  expect(seen.size).toBeGreaterThan(10);
  expect(await findAssetById(store.read, asset.id)).toBeNull();
});
