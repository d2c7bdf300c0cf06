/** The newest deliveries are read again, and the rows behind them stay. */
import { expect, test } from "bun:test";
import { mergeNewest } from "../../../web/app/merge-newest";
import type { Delivery } from "../../../web/pages/webhooks/webhook-texts";

/** Makes a delivery; a higher number is a newer one. */
const row = (n: number, state: Delivery["state"] = "delivered"): Delivery => ({
  id: String(n),
  event_type: "cut.completed",
  state,
  attempts: 1,
  response_status: 204,
  response_milliseconds: 1,
  error: null,
  created_at: new Date(n * 1000).toISOString(),
  last_attempt_at: null,
  next_attempt_at: null,
});
const page = (items: Delivery[], hasMore = true) => ({ items, next_cursor: hasMore ? "next" : null });
const ids = (rows: Delivery[] | null) => rows?.map(({ id }) => Number(id));

test("new rows come first, and rows behind the page stay the same objects", () => {
  const before = [row(4), row(3), row(2), row(1)];
  const after = mergeNewest(before, page([row(5), row(4), row(3, "failed")]))!;
  expect(ids(after)).toEqual([5, 4, 3, 2, 1]);
  expect(after[1]).toBe(before[0]!);
  expect(after[2]!.state).toBe("failed");
  expect(after[3]).toBe(before[2]!);
});

test("a row that the filter no longer matches disappears", () => {
  const before = [row(4), row(3), row(2), row(1)];
  expect(ids(mergeNewest(before, page([row(4), row(2)])))).toEqual([4, 2, 1]);
  expect(ids(mergeNewest(before, page([row(3)], false)))).toEqual([3]);
  expect(ids(mergeNewest(before, page([], false)))).toEqual([]);
});

test("nothing changes while nothing has happened, and a gap is noticed", () => {
  const before = [row(4), row(3), row(2)];
  expect(mergeNewest(before, page([row(4), row(3)]))).toBe(before);
  expect(mergeNewest(before, page([row(9), row(8)]))).toBeNull();
  expect(ids(mergeNewest([], page([row(9), row(8)])))).toEqual([9, 8]);
});
