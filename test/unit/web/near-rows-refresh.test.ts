/** The rows of a long list that are read again before an action on them. */
import { expect, test } from "bun:test";
import { until } from "../../until";
import { openList, useNearLists } from "./near-list";

useNearLists();

test("a refresh ends while events arrive, reads each row once, and shows them when it resolves", async () => {
  const { rows, list, near, requests } = await openList(400);
  await list.reload();
  for (const row of rows.values()) row.state = "ready";
  const events = setInterval(() => void list.reload(), 50);
  requests.length = 0;
  const started = performance.now();
  try {
    await near.refresh([...rows.keys()]);
  } finally {
    clearInterval(events);
  }
  expect(list.items.value!.every(({ state }) => state === "ready")).toBe(true);
  const reads = requests.filter((request) => request === "ids").length;
  expect(reads).toBeGreaterThanOrEqual(4);
  expect(reads).toBeLessThanOrEqual(6);
  // Four requests have three pauses between them.
  expect(performance.now() - started).toBeGreaterThan(700);
});

test("a refresh waits for a read that is under way, and repeats one that fails", async () => {
  const { rows, list, near, hooks, requests } = await openList(400);
  await list.reload();
  requests.length = 0;
  rows.get("r300")!.state = "ready";
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  hooks.beforeAnswer = (request) => (request === "ids" ? promise : Promise.resolve());
  const first = near.refresh(["r300"]);
  first.catch(() => {});
  await until("the first read", async () => requests.length === 1);
  const second = near.refresh(["r300"]);
  await new Promise(setImmediate);
  expect(requests).toEqual(["ids"]);
  delete hooks.beforeAnswer;
  reject(new Error("offline"));
  await expect(first).rejects.toThrow("offline");
  await second;
  expect(list.items.value!.find(({ id }) => id === "r300")!.state).toBe("ready");
  resolve();
});

test("a refresh does not wait until all pages have been read", async () => {
  const { rows, near, report, ids, requests, converges } = await openList(400);
  rows.get("r3")!.name = "zzz";
  await report("r3");
  const found = await near.refresh(["r3", "r4"]);
  expect(new Map(found.map(({ id, name }) => [id, name]))).toEqual(new Map(Object.entries({ r3: "zzz", r4: "00004" })));
  expect(requests).not.toContain("all");
  await converges();
  expect(ids().at(-1)).toBe("r3");
});

test("a refresh returns a selected row that the list has lost, but none that is gone", async () => {
  const { rows, near, list } = await openList(400);
  list.change((items) => items.filter(({ id }) => id !== "r300"));
  rows.delete("r200");
  near.doubt("r200");
  const found = await near.refresh(["r100", "r200", "r300"]);
  expect(found.map(({ id }) => id)).toEqual(["r100", "r300"]);
});

test("a refresh returns no row of many that are gone, whatever is read in the meantime", async () => {
  const { rows, near, list, hooks, ids, requests } = await openList(500);
  const leave = (from: number, to: number) => {
    const gone = ids().slice(from, to);
    for (const id of gone) rows.delete(id);
    for (const id of gone) near.doubt(id);
    return gone;
  };
  const find = async (asked: string[]) => (await near.refresh(asked)).map(({ id }) => id);
  // More than are doubted one by one, before the first page has been read again.
  expect(await find([...leave(100, 250), "r300"])).toEqual(["r300"]);

  const { promise, resolve } = Promise.withResolvers<void>();
  hooks.beforeAnswer = (request) => (request === "all" ? promise : Promise.resolve());
  const gone = leave(80, 230);
  await list.reload();
  await until("the reading of all pages", async () => requests.includes("all"));
  expect(await find([...gone, "r400"])).toEqual(["r400"]);
  resolve();
});

test("a refresh returns no row of many that are gone while the first page cannot be read", async () => {
  const { rows, near, list, hooks, ids } = await openList(400);
  hooks.beforeAnswer = async (request) => {
    if (request === "page") throw new Error("offline");
  };
  const gone = ids().slice(0, 150);
  for (const id of gone) rows.delete(id);
  for (const id of gone) near.doubt(id);
  void list.reload();
  expect((await near.refresh([...gone, "r300"])).map(({ id }) => id)).toEqual(["r300"]);
});

test("a refresh returns no row that is gone while a short list is read again as a whole", async () => {
  const { rows, near, list, hooks, requests, converges } = await openList(150);
  const { promise, resolve } = Promise.withResolvers<void>();
  const isSecond = () => requests.filter((request) => request === "page").length === 2;
  hooks.beforeAnswer = async (request) => {
    if (request === "page" && isSecond()) await promise;
  };
  rows.delete("r140");
  near.doubt("r140");
  const reload = list.reload();
  await until("the second page", async () => isSecond());
  expect((await near.refresh(["r1", "r140"])).map(({ id }) => id)).toEqual(["r1"]);
  resolve();
  await reload;
  await converges();
  expect(near.stop()).toBe(false);
});

test("a row that goes while the first page is on its way is read again", async () => {
  const { rows, near, list, hooks } = await openList(50);
  hooks.beforeAnswer = async () => {
    delete hooks.beforeAnswer;
    rows.delete("r3");
    near.doubt("r3");
  };
  await list.reload();
  expect((await near.refresh(["r2", "r3"])).map(({ id }) => id)).toEqual(["r2"]);
});

test("a refresh reads rows again that may no longer match a filter", async () => {
  const { rows, near } = await openList(400);
  rows.delete("r10");
  near.doubt(null);
  expect((await near.refresh(["r10", "r11"])).map(({ id }) => id)).toEqual(["r11"]);
});
