/**
 * Two hundred preparations end simultaneously on a small balance: it covers as many ready assets as possible, and no
 * credit is spent twice.
 */
import { expect, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { findAssetById } from "../../src/store/assets";
import { insertLedgerEntry, listLedger, readBalance, readTotalHeld } from "../../src/store/credits";
import { listEntityEvents } from "../../src/store/webhooks";
import { completePreparation, holdCharge, settleWaiting } from "../../src/work/billing/charge";
import { addAsset, addStep, addUser, freshStore } from "../unit/store/test-store";

const ASSETS = 200;
const PRICE = 3;
const BALANCE = 100;
const COVERED = Math.floor(BALANCE / PRICE);

test(`${ASSETS} assets at ${PRICE} credits on a balance of ${BALANCE}: ${COVERED} are ready`, async () => {
  await using db = await freshStore();
  const { store } = db;
  const owner = await store.write((tx) => addUser(tx));
  const grant = (delta: number, now: number) =>
    store.write(async (tx) => {
      await insertLedgerEntry(tx, {
        id: newId(),
        workspace_id: owner.workspaceId,
        type: "grant",
        delta,
        created_at: now,
      });
      return settleWaiting(tx, owner.workspaceId, now);
    });
  await grant(BALANCE, 1);
  const ids = await store.write(async (tx) => {
    const made: string[] = [];
    for (let n = 0; n < ASSETS; n++) {
      const asset = await addAsset(tx, owner, { charge: PRICE, created_at: n });
      await addStep(tx, { workspaceId: owner.workspaceId, name: "prepare", subjectId: asset.id });
      made.push(asset.id);
    }
    return made;
  });

  // Half of them hold their charge first, the others only at the end, simultaneously.
  await Promise.all(
    ids.map(async (id, n) => {
      if (n % 2 === 0) await store.write(async (tx) => holdCharge(tx, (await findAssetById(tx, id))!, 1_000 + n));
      await store.write(async (tx) => completePreparation(tx, (await findAssetById(tx, id))!, 2_000 + n));
    }),
  );
  const states = async () => Promise.all(ids.map(async (id) => (await findAssetById(store.read, id))!.state));
  const count = async (state: string) => (await states()).filter((one) => one === state).length;
  expect([await count("ready"), await count("pending_payment")]).toEqual([COVERED, ASSETS - COVERED]);
  expect(await readTotalHeld(store.read, owner.workspaceId)).toBe(0);
  expect(await readBalance(store.read, owner.workspaceId)).toBe(BALANCE - COVERED * PRICE);

  // Ten simultaneous top-ups, then the rest.
  await Promise.all(Array.from({ length: 10 }, (_, n) => grant(10, 5_000 + n)));
  const now = Math.floor((BALANCE + 100) / PRICE);
  expect(await count("ready")).toBe(now);
  await grant(PRICE * ASSETS, 9_000);
  expect(await count("ready")).toBe(ASSETS);

  const { rows: entries } = await listLedger(store.read, owner.workspaceId, { afterId: null, limit: 1_000 });
  const charges = entries.filter((entry) => entry.type === "consume_asset");
  expect(new Set(charges.map((entry) => entry.asset_id)).size).toBe(ASSETS);
  expect(charges).toHaveLength(ASSETS);
  const sum = entries.reduce((total, entry) => total + entry.delta, 0);
  expect(sum).toBe(BALANCE + 100 + PRICE * ASSETS - ASSETS * PRICE);
  expect(await readBalance(store.read, owner.workspaceId)).toBe(sum);
  const events = await Promise.all(ids.map((id) => listEntityEvents(store.read, id)));
  expect(events.filter((ofAsset) => ofAsset.filter((event) => event.type === "asset.ready").length !== 1)).toEqual([]);
}, 30_000);
