/** Long lists of recordings, of which only some rows are read again. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import type { List } from "../../../web/app/cache";
import { until } from "../../until";
import { usePageGlobals } from "./page-globals";

usePageGlobals();
let createList: typeof import("../../../web/app/cache").createList;
let createNearRows: typeof import("../../../web/pages/project/near-rows").createNearRows;
beforeAll(async () => {
  ({ createList } = await import("../../../web/app/cache"));
  ({ createNearRows } = await import("../../../web/pages/project/near-rows"));
});

type Row = { id: string; name: string; state?: string };
const PAGE = 60;
const MAX_PAGE = 100;

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

let lists = 0;

/** A server with rows sorted by name, and a list of them of which `shown` are loaded. */
async function openList(count: number, shown = count) {
  const rows = new Map<string, Row>();
  for (let n = 0; n < count; n++) rows.set(`r${n}`, { id: `r${n}`, name: String(n).padStart(5, "0") });
  const sorted = () => [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((row) => ({ ...row }));
  const requests: string[] = [];
  /** Called before each answer. */
  const hooks: { beforeAnswer?: (request: string) => Promise<void> } = {};
  const answer = async <T>(request: string, find: () => T): Promise<T> => {
    requests.push(request);
    const found = find();
    await hooks.beforeAnswer?.(request);
    return found;
  };
  const readPage = (cursor: string | null, limit: number) =>
    answer(limit === PAGE ? "page" : "all", () => {
      const rest = sorted().filter(({ name }) => cursor === null || name > cursor);
      const items = rest.slice(0, limit);
      return { items, next_cursor: rest.length > limit ? items.at(-1)!.name : null };
    });
  const near = createNearRows<Row>({
    getList: (): List<Row> => list,
    readRows: (ids) => answer("ids", () => ids.flatMap((id) => (rows.has(id) ? { ...rows.get(id)! } : []))),
    readPage: (cursor) => readPage(cursor, MAX_PAGE),
    compare: (one, other) => (one.name === other.name ? 0 : one.name < other.name ? -1 : 1),
  });
  const { list, start } = createList<Row>([`near-${lists++}`], (cursor) => readPage(cursor, PAGE), near);
  stops.push(start(), near.stop);
  while ((list.items.value?.length ?? 0) < shown) {
    const before = list.items.value?.length ?? 0;
    if (before > 0) list.loadMore();
    await until("a page", async () => (list.items.value?.length ?? 0) > before);
  }
  requests.length = 0;
  const ids = () => (list.items.value ?? []).map(({ id }) => id);
  const converges = (of = sorted().length) =>
    until("the rows of the server", async () => {
      const expected = sorted().slice(0, of);
      return Bun.deepEquals(list.items.value?.slice(0, of), expected) && list.items.value!.length >= of;
    });
  /** What an event does. */
  const report = async (id: string | null) => {
    near.doubt(id);
    await list.reload();
  };
  return { rows, list, near, requests, hooks, ids, converges, report };
}

test("a row that was added below the first page comes, at its place", async () => {
  const { rows, converges, report } = await openList(400);
  rows.set("new", { id: "new", name: "00200b" });
  await report("new");
  await converges();
  rows.set("last", { id: "last", name: "zzz" });
  await report("last");
  await converges();
});

test("a renamed row moves to its new place, in both directions and out of the first page", async () => {
  const { rows, converges, report } = await openList(400);
  rows.get("r3")!.name = "zzz";
  await report("r3");
  await converges();
  rows.get("r390")!.name = "00000b";
  await report("r390");
  await converges();
  rows.get("r100")!.name = "00300b";
  await report("r100");
  await converges();
});

test("a row that leaves goes, with or without an event", async () => {
  const { rows, converges, list, report } = await openList(400);
  rows.delete("r5");
  await list.reload();
  await converges();
  rows.delete("r250");
  await report("r250");
  await converges();
});

test("a list converges after changes that no event named, and after many at once", async () => {
  const { rows, converges, report, list } = await openList(400);
  for (let n = 0; n < 400; n += 7) rows.delete(`r${n}`);
  for (let n = 0; n < 150; n++) rows.set(`n${n}`, { id: `n${n}`, name: `${String(n * 3).padStart(5, "0")}c` });
  await report(null);
  await converges();
  // More than a page of new rows at the top.
  for (let n = 0; n < 130; n++) rows.set(`t${n}`, { id: `t${n}`, name: `-${String(n).padStart(5, "0")}` });
  await list.reload();
  await converges();
});

test("a list that is loaded in part continues without a gap", async () => {
  const { rows, converges, report, list, ids } = await openList(700, 360);
  for (let n = 0; n < 80; n++) rows.set(`n${n}`, { id: `n${n}`, name: `00200${String(n).padStart(2, "0")}` });
  await report(null);
  await converges(360);
  expect(ids().length).toBeLessThan(600);
  while (list.hasMore.value) {
    const before = ids().length;
    list.loadMore();
    await until("the next page", async () => ids().length > before);
  }
  await converges();
});

test("a list that is loaded in part is not read to its end when its last row is gone", async () => {
  const { rows, converges, report, list, ids, requests } = await openList(2_000, 360);
  rows.delete(ids().at(-1)!);
  await report(null);
  await until("the rows after it", async () => ids().length > 360);
  await converges(359);
  expect(requests.filter((request) => request === "all").length).toBeWithin(4, 8);
  expect(list.hasMore.value).toBe(true);
  expect(ids().length).toBeLessThan(600);
});

test("a row that moves up while all pages are read stays in the list", async () => {
  const { rows, converges, report, list, hooks, requests } = await openList(400);
  let hasMoved = false;
  let wasGone = false;
  stops.push(
    list.items.subscribe((items) => {
      wasGone ||= !(items ?? []).some(({ id }) => id === "r390");
    }),
  );
  hooks.beforeAnswer = async () => {
    if (hasMoved || requests.filter((request) => request === "all").length < 3) return;
    hasMoved = true;
    rows.get("r390")!.name = "00100b";
    await report("r390");
  };
  await report(null);
  await until("the row to move", async () => hasMoved);
  await converges();
  expect(wasGone).toBe(false);
});

test("changes of what rows show need no reading of all pages", async () => {
  const { rows, requests, report, list, converges } = await openList(400);
  for (const id of ["r1", "r200", "r399"]) {
    rows.get(id)!.state = "ready";
    await report(id);
    await until(`row ${id}`, async () => list.items.value!.some((row) => row.id === id && row.state === "ready"));
  }
  rows.set("new", { id: "new", name: "-" });
  await report("new");
  await converges();
  await Bun.sleep(600);
  expect(requests).not.toContain("all");
  expect(requests.length).toBeLessThan(12);
});

test("what is changed while all pages are read stays", async () => {
  const { rows, hooks, requests, report, near, converges, ids } = await openList(400);
  let stage = 0;
  hooks.beforeAnswer = async (request) => {
    if (request !== "all" || stage++ !== 2) return;
    rows.delete("r10");
    rows.get("r20")!.state = "ready";
    rows.set("new", { id: "new", name: "-" });
    for (const id of ["r10", "r20", "new"]) near.doubt(id);
  };
  await report(null);
  await until("the third page", async () => stage > 2);
  await report("new");
  await converges();
  expect(ids()[0]).toBe("new");
  expect(requests.filter((request) => request === "all").length).toBeLessThan(10);
});

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
  const { rows, list, near, hooks } = await openList(400);
  await list.reload();
  rows.get("r300")!.state = "ready";
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  hooks.beforeAnswer = (request) => (request === "ids" ? promise : Promise.resolve());
  const first = near.refresh(["r300"]);
  first.catch(() => {});
  await Bun.sleep(10);
  let isDone = false;
  const second = near.refresh(["r300"]).then(() => {
    isDone = true;
  });
  await Bun.sleep(20);
  expect(isDone).toBe(false);
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

test("a refresh returns no row of many that are gone, whatever is read meanwhile", async () => {
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

test("a refresh reads rows again that may no longer match a filter", async () => {
  const { rows, near } = await openList(400);
  rows.delete("r10");
  near.doubt(null);
  expect((await near.refresh(["r10", "r11"])).map(({ id }) => id)).toEqual(["r11"]);
});

test("events of rows below what has been read of a list do not read it again", async () => {
  const { rows, report, requests, converges, list } = await openList(2_000, 360);
  for (const id of ["r800", "r1200", "r1999"]) {
    rows.get(id)!.state = "ready";
    await report(id);
    await Bun.sleep(300);
  }
  expect(requests).not.toContain("all");
  expect(list.hasMore.value).toBe(true);
  // A row that comes up to those that are shown does.
  rows.get("r1999")!.name = "00300b";
  await report("r1999");
  await converges(361);
});

test("a list that is closed says whether rows may be missing", async () => {
  const { near, report } = await openList(400);
  expect(near.stop()).toBe(false);
  await report(null);
  expect(near.stop()).toBe(true);
  // A list of one page is read again as a whole.
  const short = await openList(50);
  await short.report("r1");
  expect(short.near.stop()).toBe(false);
});
