/** Work that was queued while the clock was ahead. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import { bringForward } from "../../../src/store/future-times";
import { addStep, addUser, freshStore } from "./test-store";

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test("steps and mails that wait longer than any retry are due now, and others keep their time", async () => {
  await using db = await freshStore();
  const { store } = db;
  const steps = [0, 12 * MINUTE_MS, HOUR_MS, 9_000 * HOUR_MS].map((ms) => NOW + ms);
  const mails = [-HOUR_MS, 12 * HOUR_MS, 9_000 * HOUR_MS].map((ms) => NOW + ms);
  await store.write(async (tx) => {
    const { workspaceId } = await addUser(tx);
    for (const runAfter of steps) await addStep(tx, { workspaceId, runAfter });
    for (const due of mails)
      await tx.run(sql`INSERT INTO mails (id, recipient, template, state, due_at, created_at)
        VALUES (${newId()}, 'anna@example.test', 'welcome', 'pending', ${due}, ${NOW})`);
    await bringForward(tx, NOW);
  });
  const times = async (table: string, column: string) =>
    (await store.read.all<{ time: number }>(sql.raw(`SELECT ${column} AS time FROM ${table} ORDER BY id`))).map(
      ({ time }) => time,
    );
  expect(await times("steps", "run_after")).toEqual([NOW, NOW + 12 * MINUTE_MS, NOW, NOW]);
  expect(await times("mails", "due_at")).toEqual([NOW - HOUR_MS, NOW + 12 * HOUR_MS, NOW]);
});
