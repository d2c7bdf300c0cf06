/**
 * Random histories of a workspace: uploads, cuts, renders and chains with prices, orders, subscriptions, refunds,
 * cancellations, retries, deletions, and kills between any two transactions. At every moment the balance is the ledger
 * minus the holds, and nothing is spent twice.
 */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { migrate } from "../../src/store/migrate";
import { fullOr } from "../full-size";
import { type KillableStore, Killed, openKillableStore } from "./kill-switch";
import { listContradictions, readTotals, type Totals } from "./ledger-books";
import { createLedgerWorld, type LedgerWorld, loadPrices, type StageEnd } from "./ledger-world";

const HISTORIES = fullOr(10_000, 250);
/** `OFFCUT_SEED` repeats the histories of an earlier run. */
const SEED = process.env.OFFCUT_SEED ? { seed: Number(process.env.OFFCUT_SEED) } : {};
const MAX_OPERATIONS = fullOr(40, 15);
/** The rows are compared after every few operations, and at the end. */
const COMPARED_EVERY = fullOr(1, 4);
/** Histories that share a database file. */
const HISTORIES_PER_FILE = 50;
/** Every n-th history continues until nothing is left to do. */
const DRAINED_EVERY = 8;

type Operation = {
  do: keyof LedgerWorld["operations"] | "kill";
  /** Chooses the target of the action. */
  n: number;
  end: StageEnd;
  moment: "before" | "after";
};

const WEIGHTS: Record<Operation["do"], number> = {
  grant: 5,
  take: 1,
  upload: 4,
  advance: 24,
  cut: 2,
  render: 2,
  chain: 5,
  cancel: 2,
  retry: 3,
  freeze: 1,
  thaw: 1,
  removeAsset: 1,
  removeCut: 1,
  removeRender: 1,
  refundAsset: 1,
  order: 4,
  approve: 2,
  reject: 1,
  payment: 9,
  kill: 3,
};

const weighted = <T extends string>(weights: Record<T, number>): fc.Arbitrary<T> =>
  fc.oneof(...Object.entries<number>(weights).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as T) })));

const operation: fc.Arbitrary<Operation> = fc.record({
  do: weighted(WEIGHTS),
  n: fc.nat(30),
  end: weighted<StageEnd>({ success: 10, failure: 1, "permanent failure": 1 }),
  moment: fc.constantFrom("before", "after"),
});

const start = (world: LedgerWorld, one: Operation): Promise<unknown> =>
  one.do === "kill" ? Promise.resolve(world.kill(one.n % 5, one.moment)) : world.operations[one.do](one.n, one.end);

/** Creates an empty database. */
async function createTemplate(path: string): Promise<void> {
  const { store } = await openKillableStore(`${path}.source`);
  await migrate(store);
  await store.copyTo(path);
  await store.close();
}

test(
  `${HISTORIES} histories: the balance is the ledger minus the holds, and nothing is spent twice`,
  async () => {
    // In memory if possible: the kills are simulated, so no disk needs to be flushed.
    const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "offcut-ledger-"));
    const counts = new Map<string, number>();
    const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
    const template = join(folder, "template.db");
    const open = async (n: number): Promise<KillableStore> => {
      const path = join(folder, `${n}.db`);
      await copyFile(template, path);
      return openKillableStore(path);
    };
    await createTemplate(template);
    let created = 0;
    let killable = await open(0);
    try {
      const config = await loadPrices();

      const live = async (history: Operation[]) => {
        if (++created % HISTORIES_PER_FILE === 0) {
          await killable.store.close();
          killable = await open(created);
        }
        killable.disarm();
        const world = await createLedgerWorld(killable, config, folder);
        const { workspaceId } = world.owner;
        let before: Totals = await readTotals(killable.store.read, workspaceId);
        let takenBackBefore = 0;
        let steps = 0;
        const compareRows = async (name: string) =>
          expect([name, ...(await listContradictions(killable.store.read, workspaceId, before.balance))]).toEqual([
            name,
          ]);
        const step = async (name: string, run: () => Promise<unknown>) => {
          const end = await world.run(run);
          count(end === "done" ? name : end);
          const { read } = killable.store;
          const totals = await readTotals(read, workspaceId);
          expect([name, totals.balance]).toEqual([name, totals.ledger - totals.held]);
          expect([name, totals.held]).toEqual([name, totals.heldForAssets + totals.heldForSteps]);
          const { given, paid, takenBack } = world.added();
          const added = given + paid - takenBack;
          expect([name, totals.ledger]).toEqual([name, added + totals.refundedCharges - totals.consumed]);
          // Only refunded payments create a debt; spending never does.
          const lowest = Math.min(0, before.balance) - (takenBack - takenBackBefore);
          expect([name, totals.balance >= lowest]).toEqual([name, true]);
          takenBackBefore = takenBack;
          if (end === "refused") expect([name, totals.ledger]).toEqual([name, before.ledger]);
          before = totals;
          if (++steps % COMPARED_EVERY === 0) await compareRows(name);
        };
        for (const one of history) await step(one.do, () => start(world, one));
        await compareRows("end");
        if (created % DRAINED_EVERY !== 0) return;
        await step("kill", () => Promise.reject(new Killed()));
        await step("grant", () => world.operations.grant(1_000));
        await world.drain();
        await step("advance", () => world.operations.advance(3, "success"));
        await compareRows("drained");
        expect(before.held).toBe(0);
      };
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: MAX_OPERATIONS, size: "max" }), live),
        { numRuns: HISTORIES, endOnFailure: false, ...SEED },
      );
    } finally {
      await killable.store.close();
      await rm(folder, { recursive: true, force: true });
    }
    console.log(`ledger: ${HISTORIES} histories; ${[...counts].map(([what, n]) => `${n} ${what}`).join(", ")}`);
  },
  fullOr(3_600_000, 120_000),
);
