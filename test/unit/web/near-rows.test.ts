/** Long lists of recordings, of which only some rows are read again. */
import { expect, test } from "bun:test";
import { until } from "../../until";
import { openList, stops, useNearLists } from "./near-list";

useNearLists();

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

test("changes to shown fields do not read all pages", async () => {
  const { rows, requests, report, list, converges } = await openList(400);
  for (const id of ["r1", "r200", "r399"]) {
    rows.get(id)!.state = "ready";
    await report(id);
    await until(`row ${id}`, async () => list.items.value!.some((row) => row.id === id && row.state === "ready"));
  }
  rows.set("new", { id: "new", name: "-" });
  await report("new");
  await converges();
  // A reading of all pages would start between these.
  for (const id of ["r210", "r211"]) {
    rows.get(id)!.state = "ready";
    await report(id);
    await converges();
  }
  expect(requests).not.toContain("all");
  expect(requests.length).toBeLessThan(12);
});

test("changes made while all pages are read stay", async () => {
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

test("events of rows below what has been read of a list do not read it again", async () => {
  const { rows, report, requests, converges, list } = await openList(2_000, 360);
  for (const [n, id] of ["r800", "r1200", "r1999"].entries()) {
    rows.get(id)!.state = "ready";
    await report(id);
    await until("the read of the row", async () => requests.filter((request) => request === "ids").length > n);
  }
  expect(requests).not.toContain("all");
  expect(list.hasMore.value).toBe(true);
  // A row that comes up to those that are shown does.
  rows.get("r1999")!.name = "00300b";
  await report("r1999");
  await converges(361);
});

test("a closed list reports whether rows may be missing", async () => {
  const { near, report } = await openList(400);
  expect(near.stop()).toBe(false);
  await report(null);
  expect(near.stop()).toBe(true);
  // A list of one page is read again as a whole.
  const short = await openList(50);
  await short.report("r1");
  expect(short.near.stop()).toBe(false);
});
