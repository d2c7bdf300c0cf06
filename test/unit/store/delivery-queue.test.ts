import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import type { Store } from "../../../src/store/db";
import {
  countQueuedTests,
  findNextDeliveryTime,
  findPendingDelivery,
  listDueDeliveries,
  listWorkspacesWithDueDeliveries,
} from "../../../src/store/delivery-queue";
import { updateAccountState } from "../../../src/store/users";
import { insertEndpoint, updateDelivery, updateEndpoint } from "../../../src/store/webhooks";
import { measureProcessorMs } from "../../processor-time";
import { addUser, freshStore } from "./test-store";

const NOW = 1_000_000;

/** Inserts a user with endpoints and `count` deliveries to each, due one millisecond apart from `from` on. */
async function addQueue(store: Store, endpoints: number, count: number, from: number, type = "cut.completed") {
  return store.write(async (tx) => {
    const { workspaceId } = await addUser(tx);
    const ids: string[] = [];
    for (let n = 0; n < endpoints; n++) {
      const { id } = await insertEndpoint(tx, {
        id: newId(),
        workspace_id: workspaceId,
        url: "http://127.0.0.1:1/",
        event_types: ["cut.completed"],
        state: "enabled",
        secret: "secret",
        created_at: 0,
      });
      ids.push(id);
      await tx.run(sql`
        WITH RECURSIVE counted(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM counted WHERE i + 1 < ${count})
        INSERT INTO deliveries (id, endpoint_id, workspace_id, event_id, type, body, state, due_at, created_at)
        SELECT ${id} || ' ' || i, ${id}, ${workspaceId}, 'event ' || i, ${type}, '{}', 'pending', ${from} + i, 0 FROM counted`);
    }
    return { workspaceId, endpoints: ids };
  });
}

test("each user with a due delivery is listed once", async () => {
  await using db = await freshStore();
  const { store } = db;
  expect(await listWorkspacesWithDueDeliveries(store.read, NOW)).toEqual([]);
  const anna = await addQueue(store, 3, 50, NOW - 100);
  const bert = await addQueue(store, 1, 1, NOW);
  await addQueue(store, 1, 5, NOW + 1);
  expect((await listWorkspacesWithDueDeliveries(store.read, NOW)).toSorted()).toEqual(
    [anna.workspaceId, bert.workspaceId].toSorted(),
  );
});

test("deliveries to disabled endpoints and of disabled accounts are not listed", async () => {
  await using db = await freshStore();
  const { store } = db;
  const anna = await addQueue(store, 2, 2, NOW - 100);
  const bert = await addQueue(store, 1, 1, NOW - 100);
  await store.write((tx) => updateAccountState(tx, bert.workspaceId, { disabled_at: NOW }));
  await store.write((tx) => updateEndpoint(tx, anna.endpoints[0]!, { state: "disabled" }));
  expect(await listWorkspacesWithDueDeliveries(store.read, NOW)).toEqual([anna.workspaceId]);
  const due = await listDueDeliveries(store.read, anna.workspaceId, NOW, 10);
  expect(due.map((one) => one.endpointId)).toEqual([anna.endpoints[1]!, anna.endpoints[1]!]);
  await store.write((tx) => updateEndpoint(tx, anna.endpoints[1]!, { state: "disabled" }));
  expect(await listWorkspacesWithDueDeliveries(store.read, NOW)).toEqual([]);
  await store.write((tx) => updateAccountState(tx, bert.workspaceId, { disabled_at: null }));
  expect(await listWorkspacesWithDueDeliveries(store.read, NOW)).toEqual([bert.workspaceId]);
});

test("only the first deliveries of each endpoint are listed, longest due first", async () => {
  await using db = await freshStore();
  const { store } = db;
  const { workspaceId, endpoints } = await addQueue(store, 2, 100, NOW - 50);
  const due = await listDueDeliveries(store.read, workspaceId, NOW, 3);
  expect(due.map((one) => one.id.split(" ")[1])).toEqual(["0", "0", "1", "1", "2", "2"]);
  await store.write((tx) => updateDelivery(tx, `${endpoints[0]!} 0`, { state: "delivered", due_at: null }));
  expect(await findPendingDelivery(store.read, `${endpoints[0]!} 0`)).toBeNull();
  expect((await findPendingDelivery(store.read, `${endpoints[1]!} 0`))?.endpoint.id).toBe(endpoints[1]!);
  expect(await listDueDeliveries(store.read, workspaceId, NOW - 50, 3)).toEqual([
    { id: `${endpoints[1]!} 0`, endpointId: endpoints[1]! },
  ]);
});

test("test events are counted by user, with the time of the first one", async () => {
  await using db = await freshStore();
  const { store } = db;
  const { workspaceId } = await addQueue(store, 2, 4, NOW + 7, "webhook.test");
  await addQueue(store, 1, 4, NOW, "webhook.test");
  expect(await countQueuedTests(store.read, workspaceId)).toEqual({ count: 8, nextDueAt: NOW + 7 });
  expect(await countQueuedTests(store.read, newId())).toEqual({ count: 0, nextDueAt: null });
});

test("reading the queue does not scan all deliveries", async () => {
  await using db = await freshStore();
  const { store } = db;
  const users = await Promise.all(Array.from({ length: 200 }, () => addQueue(store, 1, 100, NOW - 99)));
  const cost = await measureProcessorMs(async () => {
    expect(await listWorkspacesWithDueDeliveries(store.read, NOW)).toHaveLength(200);
    expect(await listDueDeliveries(store.read, users[0]!.workspaceId, NOW, 8)).toHaveLength(8);
    expect(await findNextDeliveryTime(store.read, NOW)).toBeNull();
  });
  // With the indexes it takes milliseconds, without them seconds.
  expect(cost).toBeLessThan(500);
}, 30_000);
