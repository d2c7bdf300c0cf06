import { expect, test } from "bun:test";
import { newId } from "../../../src/lib/ids";
import { findExistingAssetIds } from "../../../src/store/assets";
import { findExistingRenderIds } from "../../../src/store/renders";
import { listOpenSteps } from "../../../src/store/steps";
import { addAsset, addStep, addUser, freshStore } from "./test-store";

/** More than the parameters that SQLite allows in a statement. */
const MANY = 40_000;

test("rows are found among more IDs than a statement can have parameters", async () => {
  await using db = await freshStore();
  const { asset, stepId, subjectId } = await db.store.write(async (tx) => {
    const user = await addUser(tx);
    const subjectId = newId();
    const { stepId } = await addStep(tx, { workspaceId: user.workspaceId, subjectId });
    return { asset: await addAsset(tx, user), stepId, subjectId };
  });
  const others = Array.from({ length: MANY }, newId);
  expect(await findExistingAssetIds(db.store.read, [...others, asset.id])).toEqual(new Set([asset.id]));
  expect(await findExistingRenderIds(db.store.read, others)).toEqual(new Set());
  expect((await listOpenSteps(db.store.read, [...others, subjectId])).map((step) => step.id)).toEqual([stepId]);
});

test("no row is found among no IDs", async () => {
  await using db = await freshStore();
  await db.store.write(async (tx) => addAsset(tx, await addUser(tx)));
  expect(await findExistingAssetIds(db.store.read, [])).toEqual(new Set());
  expect(await listOpenSteps(db.store.read, [])).toEqual([]);
});
