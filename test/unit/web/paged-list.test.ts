/** Lists that are read page by page, while what they show changes. */
import { beforeAll, expect, test } from "bun:test";
import type { PagedList } from "../../../web/app/pages-of";
import { until } from "../../until";
import { usePageGlobals } from "./page-globals";

usePageGlobals();
let createPagedList: typeof import("../../../web/app/pages-of").createPagedList;
beforeAll(async () => {
  ({ createPagedList } = await import("../../../web/app/pages-of"));
});

/** Pages of two rows, of which each is answered when the test says so. */
function createSource() {
  const waiting: (() => void)[] = [];
  const read = async (cursor: string | null) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    const start = Number(cursor ?? 0);
    return { items: [start, start + 1], next_cursor: start + 2 < 8 ? String(start + 2) : null };
  };
  const answer = async (count = 1) => {
    for (let n = 0; n < count; n++) {
      await until("a reading", async () => waiting.length > 0);
      waiting.shift()!();
    }
  };
  return { read, answer, pending: () => waiting.length };
}

const shows = (list: PagedList<number>, count: number) =>
  until(`${count} rows`, async () => list.items.value?.length === count);

test("a list that is reloaded before its first page is there keeps all rows that are read later", async () => {
  const { read, answer } = createSource();
  const list = createPagedList(read);
  list.loadMore();
  void list.reload();
  await answer(2);
  await shows(list, 2);
  list.loadMore();
  await answer();
  await shows(list, 4);
  const reloaded = list.reload();
  await answer(2);
  await reloaded;
  expect(list.items.value).toEqual([0, 1, 2, 3]);
});

test("the next page is read after a reload that interrupts it, or during which it is asked for", async () => {
  const { read, answer, pending } = createSource();
  const list = createPagedList(read);
  list.loadMore();
  await answer();
  await shows(list, 2);
  list.loadMore();
  void list.reload();
  await answer(3);
  await shows(list, 4);
  void list.reload();
  list.loadMore();
  await answer(3);
  await shows(list, 6);
  expect(pending()).toBe(0);
});
