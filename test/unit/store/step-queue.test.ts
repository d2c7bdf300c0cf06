/** `findNextStep` on arbitrary queues, compared with a model, and on a long one. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { newId } from "../../../src/lib/ids";
import { steps } from "../../../src/store/schema";
import { findNextStep } from "../../../src/store/step-queue";
import { measureProcessorMs } from "../../processor-time";
import { addStep, addUser, freshStore } from "./test-store";

const NOW = 10;
const OWNER = "own";
const times = fc.integer({ min: NOW - 2, max: NOW + 2 });

/** A step in a queue of few users, names and times, so that many are equal. */
const stepFields = fc.record({
  user: fc.nat(2),
  processor_name: fc.constantFrom("cut", "cut", "cut", "render"),
  state: fc.constantFrom("pending", "pending", "running", "running", "completed"),
  run_after: times,
  served_at: fc.option(times),
  lease_until: times,
  lease_owner: fc.constantFrom(OWNER, "other"),
  kernel_kills: fc.constantFrom(0, 0, 0, 0, 0, 1),
  unclean_starts: fc.constantFrom(0, 0, 1, 1, 1, 2),
});
type QueuedStep = typeof stepFields extends fc.Arbitrary<infer T> ? T & { id: string } : never;

/** Returns the ID of the step that is next according to the description of `findNextStep`. */
function findNextInModel(queue: QueuedStep[]): string | null {
  const named = queue.filter((step) => step.processor_name === "cut");
  const isDue = (step: QueuedStep) =>
    step.state === "pending"
      ? step.run_after <= NOW
      : step.state === "running" && step.lease_until < NOW && step.lease_owner !== OWNER;
  const ranked = named
    .filter((step) => isDue(step) && step.kernel_kills === 0 && step.unclean_starts < 2)
    .map((step) => {
      const own = named.filter((other) => other.user === step.user);
      const running = own.filter((other) => other.state === "running" && other.lease_until >= NOW).length;
      const served = Math.max(...own.map((other) => other.served_at ?? Number.NEGATIVE_INFINITY));
      return { id: step.id, rank: [running, served, step.run_after] };
    });
  ranked.sort((a, b) => {
    const differing = a.rank.findIndex((value, n) => value !== b.rank[n]);
    return differing < 0 ? (a.id < b.id ? -1 : 1) : a.rank[differing]! - b.rank[differing]!;
  });
  return ranked[0]?.id ?? null;
}

test("the next step of any queue is the same as the model's", async () => {
  await using db = await freshStore();
  const users = await db.store.write(async (tx) => [await addUser(tx), await addUser(tx), await addUser(tx)]);
  const { pipelineId } = await db.store.write((tx) =>
    addStep(tx, { workspaceId: users[0]!.workspaceId, name: "prepare" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(stepFields, { maxLength: 16, size: "max" }), async (fields) => {
      const queue = fields.map((one) => ({ ...one, id: newId() }));
      await db.store.write(async (tx) => {
        await tx.delete(steps);
        for (const { user, ...fields } of queue) {
          const fixed = { pipeline_id: pipelineId, step_order: 0, subject_id: newId(), created_at: 0 };
          await tx.insert(steps).values({ ...fixed, ...fields, workspace_id: users[user]!.workspaceId });
        }
      });
      expect((await findNextStep(db.store.read, "cut", OWNER, NOW, []))?.stepId ?? null).toBe(findNextInModel(queue));
    }),
  );
});

test("a user's long queue does not slow down the search", async () => {
  await using db = await freshStore();
  const [busy, calm] = await db.store.write(async (tx) => [await addUser(tx), await addUser(tx)]);
  const { pipelineId } = await db.store.write((tx) => addStep(tx, { workspaceId: busy!.workspaceId, name: "cut" }));
  await db.store.write((tx) =>
    tx.run(sql`
      WITH RECURSIVE counted(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM counted WHERE i + 1 < 20000)
      INSERT INTO steps (id, pipeline_id, workspace_id, step_order, processor_name, state, subject_id, run_after, created_at)
      SELECT 'step ' || i, ${pipelineId}, ${busy!.workspaceId}, 0, 'cut', 'pending', 'subject', 0, 0 FROM counted`),
  );
  const { stepId } = await db.store.write((tx) =>
    addStep(tx, { workspaceId: calm!.workspaceId, name: "cut", runAfter: 1 }),
  );
  await db.store.write((tx) => tx.run(sql`UPDATE steps SET served_at = 1 WHERE id = 'step 7'`));
  const cost = await measureProcessorMs(async () => {
    for (let n = 0; n < 50; n++)
      expect((await findNextStep(db.store.read, "cut", OWNER, NOW, []))?.stepId).toBe(stepId);
  });
  expect(cost).toBeLessThan(1_000);
});
