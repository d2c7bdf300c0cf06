import { expect, test } from "bun:test";
import { createUploadLock } from "../../../../src/work/uploads/upload-lock";

const agree = () => true;

test("waiting requests get the lock in order, its holder is asked to release it, and further requests are refused", async () => {
  const lock = createUploadLock();
  let asked = 0;
  const release = await lock.acquire(() => {
    asked++;
    return true;
  });
  const order: number[] = [];
  const waiting = [1, 2, 3, 4].map(async (n) => {
    const releaseWaiting = await lock.acquire(agree);
    order.push(n);
    releaseWaiting();
  });
  await expect(lock.acquire(agree)).rejects.toMatchObject({ code: "conflict" });
  expect(asked).toBe(4);
  expect(order).toEqual([]);
  release();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3, 4]);
  await lock.acquire(agree);
});

test("a request is refused at once when the holder does not release the lock", async () => {
  const lock = createUploadLock();
  const release = await lock.acquire(() => false);
  await expect(lock.acquire(agree)).rejects.toMatchObject({ code: "conflict" });
  release();
  await lock.acquire(agree);
});

test("an aborted request stops waiting and does not get the lock", async () => {
  const lock = createUploadLock();
  const release = await lock.acquire(agree);
  const left = new AbortController();
  const waiting = lock.acquire(agree, left.signal);
  left.abort();
  await expect(waiting).rejects.toMatchObject({ code: "conflict" });
  release();
  await lock.acquire(agree);
});
