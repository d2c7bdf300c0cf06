/** A long list of recordings, of which only some rows are read again, and a server of the test's own. */
import { afterEach, beforeAll } from "bun:test";
import type { List } from "../../../web/app/cache";
import { until } from "../../until";
import { usePageGlobals } from "./page-globals";

let createList: typeof import("../../../web/app/cache").createList;
let createNearRows: typeof import("../../../web/pages/project/near-rows").createNearRows;

type Row = { id: string; name: string; state?: string };
const PAGE = 60;
const MAX_PAGE = 100;

export const stops: (() => void)[] = [];

/** Prepares the globals of a page, and ends the lists of each test. */
export function useNearLists(): void {
  usePageGlobals();
  beforeAll(async () => {
    ({ createList } = await import("../../../web/app/cache"));
    ({ createNearRows } = await import("../../../web/pages/project/near-rows"));
  });
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
}

let lists = 0;

/** A server with rows sorted by name, and a list of them of which `shown` are loaded. */
export async function openList(count: number, shown = count) {
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
  /** Simulates an event. */
  const report = async (id: string | null) => {
    near.doubt(id);
    await list.reload();
  };
  return { rows, list, near, requests, hooks, ids, converges, report };
}
