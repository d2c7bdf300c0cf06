/** Lists that are read page by page, while what they show changes. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import { until } from "../../until";
import { usePageGlobals } from "./page-globals";

usePageGlobals();
let createList: typeof import("../../../web/app/cache").createList;
beforeAll(async () => {
  ({ createList } = await import("../../../web/app/cache"));
});

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A list with pages of two rows, of which each is answered when the test says so. */
function createPages(key: string) {
  const waiting: (() => void)[] = [];
  const { list, start } = createList([key], async (cursor) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    const from = Number(cursor ?? 0);
    return { items: [from, from + 1], next_cursor: from + 2 < 8 ? String(from + 2) : null };
  });
  stops.push(start());
  const answer = async (count = 1) => {
    for (let n = 0; n < count; n++) {
      await until("a reading", async () => waiting.length > 0);
      waiting.shift()!();
    }
  };
  const shows = (count: number) => until(`${count} rows`, async () => list.items.value?.length === count);
  return { list, answer, shows, pending: () => waiting.length };
}

test("a list that is reloaded before its first page is there keeps all rows that are read later", async () => {
  const { list, answer, shows } = createPages("reloaded");
  void list.reload();
  await answer();
  await shows(2);
  list.loadMore();
  await answer();
  await shows(4);
  const reloaded = list.reload();
  await answer(2);
  await reloaded;
  expect(list.items.value).toEqual([0, 1, 2, 3]);
});

test("the next page is read after a reload that interrupts it, or during which it is asked for", async () => {
  const { list, answer, shows, pending } = createPages("interrupted");
  await answer();
  await shows(2);
  list.loadMore();
  await until("the next page", async () => pending() === 1);
  void list.reload();
  await until("the reload", async () => pending() === 2);
  await answer(3);
  await shows(4);
  void list.reload();
  list.loadMore();
  await answer(3);
  await shows(6);
  expect(pending()).toBe(0);
});

test("while the server does not respond, a list says so only for a next page", async () => {
  const { ApiError } = await import("../../../web/app/api");
  let isAway = false;
  const { list, start } = createList(["away"], async (cursor) => {
    if (isAway) throw new ApiError("The server does not respond.", "offline", 0);
    return { items: [Number(cursor ?? 0)], next_cursor: String(Number(cursor ?? 0) + 1) };
  });
  stops.push(start());
  await until("a row", async () => list.items.value?.length === 1);
  isAway = true;
  await list.reload();
  expect([list.items.value, list.error.value]).toEqual([[0], null]);
  list.loadMore();
  await until("an error", async () => list.error.value !== null);
  isAway = false;
  await list.reload();
  expect(list.error.value).toBeNull();
});
