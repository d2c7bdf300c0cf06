/** The credit history of the dashboard: filters, the subjects of entries, and the file for spreadsheets. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { updateAsset } from "../../src/store/assets";
import { insertHold, insertLedgerEntry } from "../../src/store/credits";
import { addAsset } from "../unit/store/test-store";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { addGrants } from "./ledger-rows";
import type { Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness();
});
afterAll(() => server[Symbol.asyncDispose]());

type Entry = {
  id: string;
  type: string;
  delta: number;
  asset: { id: string; name: string | null; filename: string } | null;
};

const list = (as: Client, query = "") => as.must<Paged<Entry>>("GET", `/api/v1/credits/history${query}`);
const download = (as: Client, query = "") =>
  fetch(`${server.url()}/api/v1/credits/history/export${query}`, { headers: { Authorization: `Bearer ${as.key}` } });
const readCsv = async (as: Client, query = "") => (await (await download(as, query)).text()).split("\r\n").slice(1, -1);

/** Adds a recording that was charged. */
async function addCharge(as: Client, filename: string, delta: number): Promise<string> {
  const project = await as.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "P" } });
  return server.services().store.write(async (tx) => {
    const asset = await addAsset(tx, { workspaceId: as.userId, projectId: project.id }, { state: "ready" });
    await updateAsset(tx, asset.id, { filename });
    await insertLedgerEntry(tx, {
      id: newId(),
      workspace_id: as.userId,
      type: "consume_asset",
      delta,
      asset_id: asset.id,
      created_at: server.services().now(),
    });
    return asset.id;
  });
}

test("entries name their recording; q finds a part of its name in any case", async () => {
  const anna = await server.user();
  const id = await addCharge(anna, "Interview Ünal.mp4", -3);
  await addCharge(anna, "b-roll.mp4", -1);
  expect((await list(anna, "?q=interview")).items).toMatchObject([
    { delta: -3, asset: { id, filename: "Interview Ünal.mp4" } },
  ]);
  expect((await list(anna, "?q=%25")).items).toEqual([]);
  expect((await list(anna, "?type=consume_asset&q=roll")).items).toHaveLength(1);
  await anna.must("DELETE", `/api/v1/assets/${id}`);
  expect((await list(anna, "?type=consume_asset")).items[1]).toMatchObject({ delta: -3, asset: null, asset_id: id });
});

test("a renamed recording is shown and found by its name, and found by its file name too", async () => {
  const anna = await server.user();
  const id = await addCharge(anna, "C0001.mp4", -3);
  await anna.must("PATCH", `/api/v1/assets/${id}`, { json: { name: "Interview" } });
  for (const q of ["interv", "c0001"])
    expect((await list(anna, `?q=${q}`)).items).toMatchObject([
      { asset: { id, name: "Interview", filename: "C0001.mp4" } },
    ]);
  expect((await readCsv(anna, "?type=consume_asset")).map((line) => line.split(",")[3])).toEqual(["Interview"]);
});

test("a cursor belongs to its filter", async () => {
  const anna = await server.user(0);
  for (const credits of [1, 2]) await server.grant(anna, credits);
  const { next_cursor } = await list(anna, "?limit=1&type=grant");
  expect((await list(anna, `?limit=1&type=grant&cursor=${next_cursor}`)).items.map(({ delta }) => delta)).toEqual([1]);
  expect((await anna.call("GET", `/api/v1/credits/history?cursor=${next_cursor}`)).status).toBe(422);
});

test("the file has every entry of the filter once, oldest first, and none of other workspaces", async () => {
  const [anna, bert] = [await server.user(0), await server.user(5)];
  await addGrants(server, anna.userId, 1_201);
  const deltas = (lines: string[]) => lines.map((line) => Number(line.split(",")[2]));
  expect(deltas(await readCsv(anna))).toEqual(Array.from({ length: 1_201 }, (_, i) => i + 1));
  expect(await readCsv(anna, "?type=topup")).toEqual([]);
  expect(deltas(await readCsv(bert))).toEqual([5]);
});

test("no name of a recording becomes a formula or a cell of its own in a spreadsheet", async () => {
  const anna = await server.user(0);
  const names = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(A1)", "\t=1", "＝1", 'a,"b"\r\nc', "plain.mp4"];
  for (const name of names) await addCharge(anna, name, -2);
  const body = await (await download(anna)).arrayBuffer();
  // The byte order mark, which a text decoder drops.
  expect([...new Uint8Array(body).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const text = new TextDecoder().decode(body);
  for (const name of names.slice(0, 6)) expect(text).toContain(`'${name.replaceAll('"', '""')}`);
  expect(text).toContain('"a,""b""\r\nc"');
  expect(text).toContain(",-2,plain.mp4,");
});

test("holds name the steps and the recording of their pipeline", async () => {
  const anna = await server.user();
  const id = await addCharge(anna, "talk.mp4", -1);
  const { store, now } = server.services();
  await store.write((tx) =>
    insertHold(tx, {
      id: newId(),
      workspace_id: anna.userId,
      pipeline_id: newId(),
      asset_id: id,
      amount: 4,
      created_at: now(),
    }),
  );
  const { items, total } = await anna.must<{ items: object[]; total: number }>("GET", "/api/v1/credits/holds");
  expect(total).toBe(1);
  expect(items).toMatchObject([{ amount: 4, asset: { id, filename: "talk.mp4" } }]);
});
