/** Steps that are claimed once too often. */
import { expect, spyOn, test } from "bun:test";
import { sql } from "drizzle-orm";
import { getFolders } from "../../../../src/blobs/folders";
import { MAX_ATTEMPTS } from "../../../../src/domain/jobs";
import { silentLog } from "../../../../src/lib/log";
import type { Store } from "../../../../src/store/db";
import { findStep } from "../../../../src/store/steps";
import { createJobSource } from "../../../../src/work/jobs/job-source";
import type { JobNeeds } from "../../../../src/work/jobs/needs";
import { JOBS } from "../../../../src/work/jobs/registry";
import { addStep, addUser, freshStore } from "../../store/test-store";

test("a step with too many attempts fails in the transaction that claims it, also if its cleanup fails", async () => {
  await using db = await freshStore();
  const { stepId } = await db.store.write(async (tx) => {
    const { workspaceId } = await addUser(tx);
    const added = await addStep(tx, { workspaceId });
    await tx.run(sql`UPDATE steps SET attempts = ${MAX_ATTEMPTS} WHERE id = ${added.stepId}`);
    return added;
  });
  let writes = 0;
  const write: Store["write"] = (work) =>
    writes++ === 0 ? db.store.write(work) : Promise.reject(new Error("database or disk is full"));
  const services = {
    store: { ...db.store, write },
    config: {},
    now: () => 1_000,
    folders: getFolders(db.folder),
    log: silentLog(),
    counters: { jobEnds: { add: () => {} } },
  } as unknown as JobNeeds;
  const cleanup = spyOn(JOBS.render, "cleanup").mockRejectedValueOnce(new Error("no space left on device"));
  expect(await createJobSource(services).claim(stepId, "owner", 1_000)).toBeNull();
  expect(await findStep(db.store.read, stepId)).toMatchObject({ state: "failed", error_code: "processing_failed" });
  expect(cleanup).toHaveBeenCalledTimes(1);
  cleanup.mockRestore();
});
