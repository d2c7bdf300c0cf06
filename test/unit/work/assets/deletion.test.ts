import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { getFolders } from "../../../../src/blobs/folders";
import { CUT_MODES } from "../../../../src/domain/plan";
import { splitPassages } from "../../../../src/domain/search/passages";
import { newId } from "../../../../src/lib/ids";
import { findAssetById, listProjectAssetIds } from "../../../../src/store/assets";
import { insertCut, listAssetCutIds } from "../../../../src/store/cuts";
import { findProject } from "../../../../src/store/projects";
import { replaceCorrectedPassages, replacePassages } from "../../../../src/store/search";
import { removeAsset, removeProject } from "../../../../src/work/assets/deletion";
import { createPartialTranscripts } from "../../../../src/work/live/partial-transcripts";
import type { PipelineNeeds } from "../../../../src/work/pipelines/pipelines";
import { addAsset, addUser, freshStore, type TestStore } from "../../store/test-store";

const runner = { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} };
const servicesOf = ({ store, folder }: TestStore) =>
  ({
    store,
    folders: getFolders(folder),
    now: () => 1,
    runner,
    partialTranscripts: createPartialTranscripts(),
  }) as Partial<PipelineNeeds> as PipelineNeeds;

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

test("the words of a recording whose transcription waits are not kept", async () => {
  await using db = await freshStore();
  const asset = await db.store.write(async (tx) => addAsset(tx, await addUser(tx), { state: "processing" }));
  const services = servicesOf(db);
  services.partialTranscripts.add(asset.id, 0, [{ text: "alpha", start: 0, end: 1, confidence: 1 }]);
  await removeAsset(services, asset.id);
  expect(services.partialTranscripts.read(asset.id, 0, 0).text).toEqual([]);
});

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

test("the corrected texts of a recording are removed from the search without a change for each cut", async () => {
  await using db = await freshStore();
  const { store } = db;
  const asset = await store.write(async (tx) => addAsset(tx, await addUser(tx)));
  const cut = { workspace_id: asset.workspace_id, asset_id: asset.id, state: "completed", script: "" } as const;
  await store.write(async (tx) => {
    const [passage] = splitPassages([{ text: "Janus", start: 0, end: 1 }]);
    await replacePassages(tx, asset.id, [passage!]);
    const { id } = (await tx.all<{ id: number }>(sql`SELECT id FROM passages`))[0]!;
    for (let n = 0; n < 3; n++) {
      const times = { created_at: 0, completed_at: 0 };
      const { id: cutId } = await insertCut(tx, { ...cut, id: newId(), options: CUT_MODES.natural, ...times });
      await replaceCorrectedPassages(tx, cutId, [{ ...passage!, id, text: `Jan${n}` }]);
    }
    await tx.run(sql`CREATE TABLE changes (text)`);
    await tx.run(
      sql`CREATE TRIGGER count_changes AFTER UPDATE OF text ON passages BEGIN INSERT INTO changes VALUES (NEW.text); END`,
    );
  });
  await removeAsset(servicesOf(db), asset.id);
  const count = async (table: string) =>
    (await store.read.all<{ n: number }>(sql.raw(`SELECT count(*) AS n FROM ${table}`)))[0]!.n;
  expect([await count("passages"), await count("corrected_passages"), await count("changes")]).toEqual([0, 0, 0]);
});
