import { expect, test } from "bun:test";
import { createLocker } from "../../../src/http/uploads/locker";

const { signal } = new AbortController();

test("waiting requests get the lock in order, its holder is asked to release it, and further requests are refused", async () => {
  const locker = createLocker();
  let asked = 0;
  await locker.newLock("a").lock(signal, () => {
    asked++;
  });
  await locker.newLock("b").lock(signal, () => {});
  const order: number[] = [];
  const waiting = [1, 2, 3, 4].map(async (n) => {
    const lock = locker.newLock("a");
    await lock.lock(signal, () => {});
    order.push(n);
    await lock.unlock();
  });
  await expect(locker.newLock("a").lock(signal, () => {})).rejects.toMatchObject({ status_code: 409 });
  expect(asked).toBe(4);
  expect(order).toEqual([]);
  await locker.newLock("a").unlock();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3, 4]);
  await locker.newLock("a").lock(signal, () => {});
});

test("an aborted request stops waiting and does not get the lock", async () => {
  const locker = createLocker();
  const first = locker.newLock("a");
  await first.lock(signal, () => {});
  const left = new AbortController();
  const waiting = locker.newLock("a").lock(left.signal, () => {});
  left.abort();
  await expect(waiting).rejects.toMatchObject({ status_code: 409 });
  await first.unlock();
  await locker.newLock("a").lock(signal, () => {});
});
