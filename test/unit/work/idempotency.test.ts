import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Store } from "../../../src/store/db";
import { type IdempotentResponse, RESPONSES_KEPT_MS, withIdempotencyKey } from "../../../src/work/idempotency";
import { addUser, freshStore } from "../store/test-store";

/** A call that counts how often it really happens. */
function counted() {
  let count = 0;
  const make = async (): Promise<IdempotentResponse> => {
    count++;
    return { status: 201, body: { made: count }, headers: { Location: `/things/${count}` } };
  };
  return { make, count: () => count };
}

const call = (
  store: Store,
  userId: string,
  key: string,
  make: () => Promise<IdempotentResponse>,
  requestHash = "same",
  now = 0,
) => store.write((tx) => withIdempotencyKey(tx, { userId, key, requestHash }, now, make));

test("fifty simultaneous identical requests create one resource and get the same response", async () => {
  await using db = await freshStore();
  const { userId } = await db.store.write((tx) => addUser(tx));
  const thing = counted();
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(db.store, userId, "k", thing.make)));
  expect(thing.count()).toBe(1);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toEqual({ status: 201, body: { made: 1 }, headers: { Location: "/things/1" } });
});

test("a key that was used for another request is refused and creates nothing", async () => {
  await using db = await freshStore();
  const { userId } = await db.store.write((tx) => addUser(tx));
  const thing = counted();
  await call(db.store, userId, "k", thing.make);
  await expect(call(db.store, userId, "k", thing.make, "other")).rejects.toMatchObject({ code: "validation_error" });
  expect(thing.count()).toBe(1);
});

test("different users can use the same key", async () => {
  await using db = await freshStore();
  const users = await db.store.write(async (tx) => [await addUser(tx), await addUser(tx)]);
  const thing = counted();
  for (const { userId } of users) await call(db.store, userId, "k", thing.make);
  expect(thing.count()).toBe(2);
});

test.each(["secret", "key"])("a %s is shown once and never stored", async (field) => {
  await using db = await freshStore();
  const { userId } = await db.store.write((tx) => addUser(tx));
  const body = { id: "1", [field]: "hunter2", name: "n" };
  const make = async (): Promise<IdempotentResponse> => ({ status: 201, body, headers: {} });
  expect((await call(db.store, userId, "k", make)).body).toEqual(body);
  expect(JSON.stringify(await db.store.read.all(sql`SELECT * FROM idempotency`))).not.toContain("hunter2");
  expect((await call(db.store, userId, "k", make)).body).toEqual({ ...body, [field]: null });
});

test("the response of a failed request is not stored", async () => {
  await using db = await freshStore();
  const { userId } = await db.store.write((tx) => addUser(tx));
  const thing = counted();
  const failing = async () => {
    await thing.make();
    throw new Error("no room");
  };
  await expect(call(db.store, userId, "k", failing)).rejects.toThrow("no room");
  expect((await call(db.store, userId, "k", thing.make)).body).toEqual({ made: 2 });
});

test("a response expires after a day", async () => {
  await using db = await freshStore();
  const { userId } = await db.store.write((tx) => addUser(tx));
  const thing = counted();
  await call(db.store, userId, "k", thing.make, "same", 1_000);
  const end = 1_000 + RESPONSES_KEPT_MS;
  expect((await call(db.store, userId, "k", thing.make, "same", end)).body).toEqual({ made: 1 });
  expect((await call(db.store, userId, "k", thing.make, "same", end + 1)).body).toEqual({ made: 2 });
});

test("a request while the clock is ahead deletes only the response that it replaces", async () => {
  await using db = await freshStore();
  const users = await db.store.write(async (tx) => [await addUser(tx), await addUser(tx)]);
  const [anna, bert] = users.map(({ userId }) => userId) as [string, string];
  const thing = counted();
  for (const [userId, key] of [
    [anna, "k"],
    [anna, "l"],
    [bert, "k"],
  ] as const)
    await call(db.store, userId, key, thing.make);
  await call(db.store, anna, "k", thing.make, "same", RESPONSES_KEPT_MS + 1);
  expect((await call(db.store, anna, "l", thing.make)).body).toEqual({ made: 2 });
  expect((await call(db.store, bert, "k", thing.make)).body).toEqual({ made: 3 });
  expect((await call(db.store, anna, "k", thing.make)).body).toEqual({ made: 4 });
});

test("without a key every request creates a resource", async () => {
  await using db = await freshStore();
  const thing = counted();
  await Promise.all([1, 2].map(() => db.store.write((tx) => withIdempotencyKey(tx, null, 0, thing.make))));
  expect(thing.count()).toBe(2);
});
