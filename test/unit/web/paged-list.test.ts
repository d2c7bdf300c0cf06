/** Lists that are read page by page while their content changes. */
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

/** A list with pages of two rows. The test decides when each page is returned. */
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

/** A list with pages of one row, which is answered when the test says so, and a server that may be away. */
async function createAway(key: string) {
  const { ApiError } = await import("../../../web/app/api");
  const waiting: { cursor: string | null; settle: () => void }[] = [];
  const { list, start } = createList([key], async (cursor) => {
    const isAnswered = await new Promise<boolean>((resolve) => {
      waiting.push({ cursor, settle: () => resolve(!server.isAway) });
    });
    if (!isAnswered) throw new ApiError("The server does not respond.", "offline", 0);
    const row = Number(cursor ?? 0);
    return { items: [row], next_cursor: row < 9 ? String(row + 1) : null };
  });
  const server = {
    isAway: false,
    /** Waits for the read from a row. */
    waitFor: (row: number) =>
      until(
        `the read from ${row}`,
        async () => Number(waiting.at(-1)?.cursor ?? (waiting.length > 0 ? 0 : -1)) === row,
      ),
    /** Answers all reads that wait, oldest first. */
    answer: () => {
      for (const { settle } of waiting.splice(0)) settle();
    },
  };
  stops.push(start());
  await server.waitFor(0);
  server.answer();
  await until("a row", async () => list.items.value?.length === 1);
  const fails = () => until("an error", async () => list.error.value !== null);
  /** The server is back, and everything is read again: first the rows that are shown, then the next page. */
  const recovers = async () => {
    server.isAway = false;
    const reloaded = list.reload();
    await server.waitFor(0);
    server.answer();
    await reloaded;
    await server.waitFor(1);
    expect(list.error.value).toBeNull();
    server.answer();
    await until("the next page", async () => list.items.value?.length === 2);
    expect(list.error.value).toBeNull();
  };
  return { list, server, fails, recovers };
}

test("while the server does not respond, a reload of a list says nothing", async () => {
  const { list, server } = await createAway("away");
  server.isAway = true;
  const reloaded = list.reload();
  await server.waitFor(0);
  server.answer();
  await reloaded;
  expect([list.items.value, list.error.value]).toEqual([[0], null]);
});

test("a next page that is asked for during a reload without an answer is an error, and is read later", async () => {
  const { list, server, fails, recovers } = await createAway("away-during");
  server.isAway = true;
  void list.reload();
  list.loadMore();
  await server.waitFor(0);
  server.answer();
  await fails();
  await recovers();
});

test("a next page that a reload without an answer has interrupted is an error, and is read later", async () => {
  const { list, server, fails, recovers } = await createAway("away-interrupted");
  list.loadMore();
  await server.waitFor(1);
  server.isAway = true;
  void list.reload();
  await server.waitFor(0);
  server.answer();
  await fails();
  await recovers();
});

test("the error of a next page stays while reloads have no answer, and the page is read later", async () => {
  const { list, server, fails, recovers } = await createAway("away-next");
  server.isAway = true;
  list.loadMore();
  await server.waitFor(1);
  server.answer();
  await fails();
  const reloaded = list.reload();
  await server.waitFor(0);
  server.answer();
  await reloaded;
  expect(list.error.value).not.toBeNull();
  await recovers();
  // It is read once.
  const again = list.reload();
  await server.waitFor(0);
  server.answer();
  await server.waitFor(1);
  server.answer();
  await again;
  expect(list.items.value).toEqual([0, 1]);
});

test("a list without live events whose reload had no answer is read again when the server is back", async () => {
  const { onlineManager } = await import("@tanstack/preact-query");
  const { client } = await import("../../../web/app/query-client");
  client.mount();
  stops.push(() => client.unmount());
  const { list, server } = await createAway("sessions");
  const reconnect = () => {
    onlineManager.setOnline(false);
    onlineManager.setOnline(true);
  };
  server.isAway = true;
  const reloaded = list.reload();
  await server.waitFor(0);
  server.answer();
  await reloaded;
  server.isAway = false;
  reconnect();
  await server.waitFor(0);
  server.answer();
  await until("an answer", async () => client.getQueryState(["sessions"])?.error === null);
});
