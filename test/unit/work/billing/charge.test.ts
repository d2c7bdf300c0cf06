import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { AppError } from "../../../../src/domain/errors";
import { TICKS_PER_SECOND } from "../../../../src/domain/time";
import { newId } from "../../../../src/lib/ids";
import { type Asset, deleteAsset, findAssetById, updateAsset, updateAssetInState } from "../../../../src/store/assets";
import { insertLedgerEntry, listHolds, listLedger, readBalance, readTotalHeld } from "../../../../src/store/credits";
import type { Store } from "../../../../src/store/db";
import { listNotifications } from "../../../../src/store/notifications";
import { listEntityEvents } from "../../../../src/store/webhooks";
import {
  completePreparation,
  computeCharge,
  holdCharge,
  refundCharge,
  releaseCharge,
  settleWaiting,
} from "../../../../src/work/billing/charge";
import { addAsset, addStep, addUser, freshStore, grantWorkspace } from "../../store/test-store";
import { creditModel } from "./credit-model";

type Owner = { workspaceId: string; projectId: string };

/** The credits of one user, with the product's functions. The time increases by one with each call. */
function account(store: Store, owner: Owner) {
  let clock = 1_000;
  const prices = new Map<string, number>();
  const current = async (id: string): Promise<Asset | null> => findAssetById(store.read, id);
  return {
    grant: (credits: number) =>
      store.write(async (tx) => {
        const now = clock++;
        const entry = {
          id: newId(),
          workspace_id: owner.workspaceId,
          type: "grant" as const,
          delta: credits,
          created_at: now,
        };
        await insertLedgerEntry(tx, entry);
        return settleWaiting(tx, owner.workspaceId, now);
      }),
    add: (price: number) =>
      store.write(async (tx) => {
        const asset = await addAsset(tx, owner, { created_at: clock++ });
        await addStep(tx, { workspaceId: owner.workspaceId, name: "prepare", subjectId: asset.id });
        prices.set(asset.id, price);
        return asset.id;
      }),
    learnDuration: (id: string) =>
      store.write(async (tx) => holdCharge(tx, (await updateAsset(tx, id, { charge: prices.get(id)! }))!, clock++)),
    finish: (id: string) =>
      store.write(async (tx) =>
        completePreparation(tx, (await updateAsset(tx, id, { charge: prices.get(id)! }))!, clock++),
      ),
    fail: (id: string) =>
      store.write(async (tx) => {
        const asset = await updateAssetInState(tx, id, "processing", { state: "failed", payment: "none" });
        if (asset) await releaseCharge(tx, asset, clock++);
      }),
    remove: (id: string) =>
      store.write(async (tx) => {
        const asset = (await findAssetById(tx, id))!;
        await deleteAsset(tx, id);
        await releaseCharge(tx, asset, clock++);
      }),
    refund: (id: string) => store.write((tx) => refundCharge(tx, id, clock++)),
    balance: () => readBalance(store.read, owner.workspaceId),
    state: async (id: string) => (await current(id))?.state ?? "deleted",
    events: async (id: string) =>
      (await listEntityEvents(store.read, id)).map((e) => `${e.type} from ${e.data.previous_state}`),
  };
}

async function freshAccount() {
  const db = await freshStore();
  const owner = await db.store.write((tx) => addUser(tx));
  return {
    store: db.store,
    workspaceId: owner.workspaceId,
    credits: account(db.store, owner),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

describe("the charge", () => {
  const minute = 60 * TICKS_PER_SECOND;
  test.each([
    ["nothing", 0, 1],
    ["one tick", 1, 1],
    ["a minute", minute, 1],
    ["a tick more than a minute", minute + 1, 2],
    ["an hour", 60 * minute, 60],
    ["five hours and a bit", 300 * minute + 17, 301],
  ])("for %s of recording", (_, duration, minutes) => {
    expect(computeCharge(duration, 1)).toBe(minutes);
    expect(computeCharge(duration, 3)).toBe(minutes * 3);
    expect(computeCharge(duration, 0)).toBe(0);
  });
});

describe("a preparation", () => {
  test("holds the charge when the duration is known and settles it when the asset is ready", async () => {
    await using db = await freshAccount();
    await db.credits.grant(10);
    const id = await db.credits.add(3);
    await db.credits.learnDuration(id);
    expect(await db.credits.balance()).toBe(7);
    expect(await readTotalHeld(db.store.read, db.workspaceId)).toBe(3);
    await db.credits.finish(id);
    expect(await db.credits.balance()).toBe(7);
    expect(await listHolds(db.store.read, db.workspaceId)).toEqual([]);
    const { rows: entries } = await listLedger(db.store.read, db.workspaceId, { afterId: null, limit: 10 });
    expect(entries.map((e) => [e.type, e.delta, e.asset_id])).toEqual([
      ["consume_asset", -3, id],
      ["grant", 10, null],
    ]);
    expect(await db.credits.events(id)).toEqual(["asset.ready from processing"]);
  });

  test("holds once, however often the duration is recorded", async () => {
    await using db = await freshAccount();
    await db.credits.grant(10);
    const id = await db.credits.add(3);
    await Promise.all([1, 2, 3].map(() => db.credits.learnDuration(id)));
    expect(await db.credits.balance()).toBe(7);
  });

  test("the hold refers to the pipeline of the preparation", async () => {
    await using db = await freshAccount();
    await db.credits.grant(10);
    const id = await db.credits.add(3);
    await db.credits.learnDuration(id);
    const [hold] = await listHolds(db.store.read, db.workspaceId);
    const [step] = await db.store.read.all<{ pipeline_id: string }>(
      sql`SELECT pipeline_id FROM steps WHERE subject_id = ${id}`,
    );
    expect(hold).toMatchObject({ pipeline_id: step!.pipeline_id, amount: 3 });
  });

  test("two assets never spend the same credit", async () => {
    await using db = await freshAccount();
    await db.credits.grant(5);
    const ids = [await db.credits.add(4), await db.credits.add(4)];
    await Promise.all(ids.map((id) => db.credits.learnDuration(id)));
    expect(await db.credits.balance()).toBe(1);
    await Promise.all(ids.map((id) => db.credits.finish(id)));
    expect(await Promise.all(ids.map(db.credits.state))).toEqual(["ready", "pending_payment"]);
    expect(await db.credits.balance()).toBe(1);
  });

  test("without enough credits waits, with one event, and becomes ready with the next grant that covers it", async () => {
    await using db = await freshAccount();
    await db.credits.grant(1);
    const id = await db.credits.add(3);
    await db.credits.learnDuration(id);
    await db.credits.finish(id);
    expect(await db.credits.state(id)).toBe("pending_payment");
    expect(await db.credits.grant(1)).toEqual([]);
    expect(await db.credits.grant(1)).toEqual([id]);
    expect(await db.credits.balance()).toBe(0);
    expect(await db.credits.events(id)).toEqual([
      "asset.pending_payment from processing",
      "asset.ready from pending_payment",
    ]);
  });

  test("that has to wait is reported once to its uploader", async () => {
    await using db = await freshAccount();
    const { listed, waits } = await db.store.write(async (tx) => {
      const { userId, workspaceId, projectId } = await addUser(tx);
      const make = async (credits: number, name: string) => {
        const asset = await addAsset(tx, { workspaceId, projectId }, { created_by: userId, filename: name, charge: 3 });
        if (credits > 0) await grantWorkspace(tx, workspaceId, credits);
        await completePreparation(tx, asset, 1_000);
        return asset;
      };
      await make(3, "paid.wav");
      const waits = await make(0, "waits.wav");
      await completePreparation(tx, waits, 1_000);
      const [reader, page] = [
        { userId, workspaceId: null, hasExports: true },
        { isUnread: false, limit: 10, offset: 0 },
      ];
      return { listed: await listNotifications(tx, reader, page), waits };
    });
    const payload = { asset_id: waits.id, asset_name: "waits.wav", project_id: waits.project_id, credits_required: 3 };
    expect(listed.rows).toMatchObject([{ type: "asset_pending_payment", payload, workspace_id: waits.workspace_id }]);
  });

  test("that gets credits while it runs becomes ready without an event about payment", async () => {
    await using db = await freshAccount();
    const id = await db.credits.add(3);
    await db.credits.learnDuration(id);
    await db.credits.grant(3);
    await db.credits.finish(id);
    expect(await db.credits.state(id)).toBe("ready");
    expect(await db.credits.events(id)).toEqual(["asset.ready from processing"]);
  });

  test("that gets credits while it runs holds them at once", async () => {
    await using db = await freshAccount();
    const id = await db.credits.add(3);
    await db.credits.learnDuration(id);
    await db.credits.grant(5);
    expect(await db.credits.balance()).toBe(2);
    expect(await readTotalHeld(db.store.read, db.workspaceId)).toBe(3);
  });

  test("that is free needs no credits and leaves no ledger entry", async () => {
    await using db = await freshAccount();
    const id = await db.credits.add(0);
    await db.credits.learnDuration(id);
    await db.credits.finish(id);
    expect(await db.credits.state(id)).toBe("ready");
    expect((await listLedger(db.store.read, db.workspaceId, { afterId: null, limit: 10 })).rows).toEqual([]);
  });
});

describe("assets that wait for credits", () => {
  async function waitingFor(prices: number[]) {
    const db = await freshAccount();
    const ids: string[] = [];
    for (const price of prices) {
      const id = await db.credits.add(price);
      await db.credits.learnDuration(id);
      await db.credits.finish(id);
      ids.push(id);
    }
    return { ...db, ids };
  }

  test("are settled oldest first, until one is not covered", async () => {
    await using db = await waitingFor([2, 5, 1]);
    const [small, big, last] = db.ids;
    expect(await db.credits.grant(4)).toEqual([small!]);
    expect(await db.credits.grant(2)).toEqual([]);
    expect(await db.credits.grant(2)).toEqual([big!, last!]);
    expect(await db.credits.balance()).toBe(0);
  });

  test("come before a newer one, even if only the newer one is covered", async () => {
    await using db = await waitingFor([5]);
    await db.credits.grant(3);
    const newer = await db.credits.add(1);
    await db.credits.learnDuration(newer);
    expect(await db.credits.balance()).toBe(3);
    await db.credits.finish(newer);
    expect(await db.credits.state(newer)).toBe("pending_payment");
    expect(await db.credits.grant(3)).toEqual([db.ids[0]!, newer]);
  });

  test("are settled when the one before them is deleted", async () => {
    await using db = await waitingFor([5, 1]);
    await db.credits.grant(3);
    await db.credits.remove(db.ids[0]!);
    expect(await db.credits.state(db.ids[1]!)).toBe("ready");
    expect(await db.credits.balance()).toBe(2);
  });

  test("get the credits that a failed preparation releases", async () => {
    await using db = await freshAccount();
    await db.credits.grant(4);
    const failing = await db.credits.add(4);
    await db.credits.learnDuration(failing);
    const waiting = await db.credits.add(3);
    await db.credits.learnDuration(waiting);
    await db.credits.finish(waiting);
    await db.credits.fail(failing);
    expect(await db.credits.state(waiting)).toBe("ready");
    expect(await db.credits.balance()).toBe(1);
  });
});

describe("a refund", () => {
  test("is made once, also for a deleted asset, and settles the assets that wait", async () => {
    await using db = await freshAccount();
    await db.credits.grant(4);
    const [paid, waiting] = [await db.credits.add(4), await db.credits.add(3)];
    for (const id of [paid, waiting]) {
      await db.credits.learnDuration(id);
      await db.credits.finish(id);
    }
    await db.credits.remove(paid);
    expect(await db.credits.state(waiting)).toBe("pending_payment");
    await expect(db.credits.refund(waiting)).rejects.toMatchObject({ code: "not_found" });
    expect(await db.credits.refund(paid)).toMatchObject({ type: "refund", delta: 4, asset_id: paid });
    expect(await db.credits.state(waiting)).toBe("ready");
    await expect(db.credits.refund(paid)).rejects.toMatchObject({ code: "conflict" });
    expect(await db.credits.balance()).toBe(1);
  });
});

describe("any sequence of grants, preparations, failures, deletions and refunds", () => {
  const operation = fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant("grant" as const), n: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("add" as const), n: fc.integer({ min: 0, max: 9 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("learnDuration" as const), n: fc.nat(30) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("finish" as const), n: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), n: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), n: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("refund" as const), n: fc.nat(30) }) },
  );

  test("agrees with the model: no credit is spent twice, no balance is negative, no asset has two charges", async () => {
    await using db = await freshStore();
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const owner = await db.store.write((tx) => addUser(tx));
        const credits = account(db.store, owner);
        const model = creditModel();
        const ids: string[] = [];
        for (const { do: what, n } of operations) {
          if (what === "grant") {
            model.grant(n);
            await credits.grant(n);
          } else if (what === "add") {
            model.add(n);
            ids.push(await credits.add(n));
          } else {
            const at = ids.length === 0 ? -1 : n % ids.length;
            if (at < 0) continue;
            if (what === "refund" && !model.canRefund(at)) {
              await expect(credits.refund(ids[at]!)).rejects.toBeInstanceOf(AppError);
              continue;
            }
            const state = model.assets[at]?.state;
            if (what === "remove" ? state === "deleted" : what !== "refund" && state !== "processing") continue;
            model[what](at);
            await credits[what](ids[at]!);
          }
          const left = await credits.balance();
          expect(left).toBeGreaterThanOrEqual(0);
          expect(left).toBe(model.balance());
        }
        const states = await Promise.all(ids.map(credits.state));
        expect(states).toEqual(model.assets.map((a) => (a.state === "waiting" ? "pending_payment" : a.state)));
        const { rows: entries } = await listLedger(db.store.read, owner.workspaceId, { afterId: null, limit: 1_000 });
        const charged = entries.filter((e) => e.type === "consume_asset").map((e) => e.asset_id);
        expect(new Set(charged).size).toBe(charged.length);
        const refunded = entries.filter((e) => e.type === "refund").map((e) => e.asset_id);
        expect(new Set(refunded).size).toBe(refunded.length);
        const sum = entries.reduce((total, e) => total + e.delta, 0);
        expect(sum).toBe((await credits.balance()) + (await readTotalHeld(db.store.read, owner.workspaceId)));
      }),
      { numRuns: 40 },
    );
  }, 120_000);
});
