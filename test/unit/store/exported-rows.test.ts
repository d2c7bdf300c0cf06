/** The amount of a user's data that an export reads at a time. */
import { expect, test } from "bun:test";
import { newId } from "../../../src/lib/ids";
import { EXPORTED_ROWS } from "../../../src/store/exported-rows";
import { insertPipeline } from "../../../src/store/pipelines";
import { addUser, freshStore } from "./test-store";

test("pipelines are read in their order, and few chains at a time, whose parameters can have a megabyte", async () => {
  await using fresh = await freshStore();
  const { store } = fresh;
  const { userId } = await store.write(addUser);
  const ids: string[] = [];
  await store.write(async (tx) => {
    for (let n = 0; n < 30; n++) {
      const id = newId();
      ids.push(id);
      const common = { workspace_id: userId, state: "pending" as const, created_at: 0 };
      const step = { ...common, id: newId(), pipeline_id: id, step_order: 0, processor_name: "cut" as const };
      await insertPipeline(tx, { ...common, id, is_chain: n % 2 === 0 }, [step]);
    }
  });
  const read: string[] = [];
  for await (const batch of EXPORTED_ROWS.pipelines(store.read, userId)) {
    expect(batch.filter((pipeline) => pipeline.is_chain).length).toBeLessThanOrEqual(4);
    expect(batch.map((pipeline) => pipeline.steps.length)).toEqual(batch.map(() => 1));
    read.push(...batch.map((pipeline) => pipeline.id));
  }
  expect(read).toEqual(ids);
});
