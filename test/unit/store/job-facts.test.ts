/** The load of the queue, which the status page of every user reads. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { readJobFacts } from "../../../src/store/job-list";
import { freshStore, type TestStore } from "./test-store";

let fresh: TestStore;
beforeEach(async () => {
  fresh = await freshStore();
});
afterEach(() => fresh[Symbol.asyncDispose]());

const DAY_MS = 24 * 3600 * 1000;

test("only jobs of the last day count as ended, and they are found through their index", async () => {
  const now = 10 * DAY_MS;
  await fresh.store.write(async (tx) => {
    await tx.run(sql`INSERT INTO workspaces (id, name, is_personal, created_at) VALUES ('u', 'W', false, 1)`);
    await tx.run(sql`INSERT INTO pipelines (id, workspace_id, state, created_at) VALUES ('p', 'u', 'pending', 1)`);
    for (const [id, state, end] of [
      ["old", "failed", now - 2 * DAY_MS],
      ["failed", "failed", now - 1000],
      ["completed", "completed", now - 1000],
      ["running", "running", null],
    ])
      await tx.run(sql`INSERT INTO steps (id, pipeline_id, workspace_id, step_order, processor_name, state, run_after, finished_at, created_at)
        VALUES (${id}, 'p', 'u', 0, 'cut', ${state}, 1, ${end}, 1)`);
  });
  expect(await readJobFacts(fresh.store.read, now)).toMatchObject({ running: 1, pending: 0, ended: 2, failed: 1 });
  await fresh.store.write((tx) => tx.run(sql`DROP INDEX steps_by_end`));
  await expect(readJobFacts(fresh.store.read, now)).rejects.toThrow();
});
