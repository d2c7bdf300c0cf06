/** Orders of the offline provider: the immediate effects of an approval, permissions, and the page of an order. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { updateAsset } from "../../src/store/assets";
import { addAsset, addMember } from "../unit/store/test-store";
import { createAdmin, listAuditLog, startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { insertPendingOrder, PRICES, readOrderId } from "./prices";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let admin: Client;
beforeAll(async () => {
  server = await harness({}, { configuration: PRICES });
  admin = await startSession(server, await createAdmin(server));
});
afterAll(() => server[Symbol.asyncDispose]());

const user = async () => startSession(server, await server.user(0));
const checkOut = (as: Client, priceId: string, headers: Record<string, string> = {}) =>
  as.call<{ url: string; code: string }>("POST", "/api/v1/billing/checkout", { json: { price_id: priceId }, headers });
const order = async (as: Client, priceId = "pack-600") => readOrderId((await checkOut(as, priceId)).body.url);
const decide = (id: string, decision: "approve" | "reject", as: Client = admin) =>
  as.call<{ state: string; code: string }>("POST", `/api/v1/admin/orders/${id}/${decision}`);
const readLedger = async (as: Client) =>
  (await as.must<{ items: { type: string; delta: number }[] }>("GET", "/api/v1/credits/history")).items.map(
    ({ type, delta }) => `${type} ${delta}`,
  );

test("an approval pays the assets that wait, oldest first, as far as the credits go", async () => {
  const anna = await user();
  const project = await anna.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "P" } });
  const { store } = server.services();
  const owner = { workspaceId: anna.userId, projectId: project.id };
  const assets = await store.write(async (tx) => {
    const added = [];
    for (const charge of [200, 300, 200, 1]) {
      const asset = await addAsset(tx, owner, { state: "pending_payment" });
      added.push((await updateAsset(tx, asset.id, { charge }))!);
    }
    return added;
  });
  await decide(await order(anna), "approve");
  const states = await store.read.all<{ id: string; state: string }>(
    sql`SELECT id, state FROM assets WHERE workspace_id = ${anna.userId} ORDER BY id`,
  );
  expect(states.map(({ state }) => state)).toEqual(["ready", "ready", "pending_payment", "pending_payment"]);
  expect(await readLedger(anna)).toEqual(["consume_asset -300", "consume_asset -200", "topup 600"]);
  expect(assets).toHaveLength(4);
  await decide(await order(anna), "approve");
  expect((await anna.must<{ balance: number }>("GET", "/api/v1/credits/balance")).balance).toBe(499);
});

test("ten decisions at once: one of them counts", async () => {
  const anna = await user();
  const id = await order(anna);
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) => decide(id, i % 2 === 0 ? "approve" : "reject")),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ body }) => body.code === "conflict")).toHaveLength(9);
  const state = replies.find(({ status }) => status === 200)!.body.state;
  expect(await readLedger(anna)).toEqual(state === "paid" ? ["topup 600"] : []);
});

test("decisions are in the audit log, with who ordered what", async () => {
  const anna = await user();
  const [approved, rejected] = [await order(anna), await order(anna, "studio-monthly")];
  await decide(approved, "approve");
  await decide(rejected, "reject");
  const entries = (await listAuditLog(server)).filter(({ target_id: id }) => id === approved || id === rejected);
  expect(entries.map(({ action, actor_id: actor }) => [action, actor])).toEqual([
    ["order.approved", admin.userId],
    ["order.rejected", admin.userId],
  ]);
  expect(JSON.parse(entries[0]!.details!)).toEqual({
    price_id: "pack-600",
    credits: 600,
    amount: 1200,
    currency: "eur",
  });
});

test("administrators are notified of an order that waits, once", async () => {
  const anna = await user();
  const id = await order(anna);
  type Notice = { type: string; payload: { order_id: string; ordered_by: string }; workspace_id: string | null };
  const list = async (as: Client) =>
    (await as.must<{ items: Notice[] }>("GET", "/api/v1/notifications")).items.filter(
      ({ type, payload }) => type === "order_pending" && payload.order_id === id,
    );
  const { email } = await anna.must<{ email: string }>("GET", "/api/v1/users/me");
  expect(await list(admin)).toMatchObject([{ payload: { ordered_by: email, credits: 600 }, workspace_id: null }]);
  expect(await list(anna)).toEqual([]);
});

test("an approved subscription adds the credits of one period, and there is no subscription", async () => {
  const anna = await user();
  await decide(await order(anna, "studio-monthly"), "approve");
  expect(await readLedger(anna)).toEqual(["topup 1000"]);
  expect(await anna.must("GET", "/api/v1/billing/subscription")).toBeNull();
});

test("a workspace has at most 5 pending orders", async () => {
  const anna = await user();
  const replies = await Promise.all(Array.from({ length: 7 }, () => checkOut(anna, "pack-600")));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(replies.filter(({ body }) => body.code === "conflict")).toHaveLength(2);
  await decide(readOrderId(replies.find(({ status }) => status === 200)!.body.url), "reject");
  expect((await checkOut(anna, "pack-600")).status).toBe(200);
});

test("the price of an order stays as it was; its workspace sees it, nobody else does", async () => {
  const [anna, bert, carl] = [await user(), await user(), await user()];
  const workspace = await anna.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  const headers = { "Offcut-Workspace": workspace.id };
  await server.services().store.write((tx) => addMember(tx, workspace.id, bert.userId, "viewer"));
  const { url } = (await checkOut(anna, "pack-600", headers)).body;
  expect(new URL(url).searchParams.get("workspace_id")).toBe(workspace.id);
  const path = `/api/v1/billing/orders/${readOrderId(url)}`;
  const statusOf = async (as: Client, query = "") => (await as.call("GET", `${path}${query}`)).status;
  const query = `?workspace_id=${workspace.id}`;
  expect([await statusOf(anna, query), await statusOf(bert, query), await statusOf(carl, query)]).toEqual([
    200, 200, 404,
  ]);
  expect(await statusOf(anna)).toBe(404);
  expect((await checkOut(bert, "pack-600", headers)).status).toBe(403);
  const [price] = server.services().config.price as { credits: number }[];
  price!.credits = 1;
  await decide(readOrderId(url), "approve");
  price!.credits = 600;
  const { balance } = await anna.must<{ balance: number }>("GET", "/api/v1/credits/balance", { headers });
  // An account that never got credits brings none to its workspaces.
  expect(balance).toBe(600);
});

test("an order of a deleted workspace is closed, and cannot be approved", async () => {
  const anna = await user();
  const workspace = await anna.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  const { url } = (await checkOut(anna, "pack-600", { "Offcut-Workspace": workspace.id })).body;
  await anna.must("DELETE", `/api/v1/workspaces/${workspace.id}`);
  expect((await decide(readOrderId(url), "approve")).status).toBe(409);
  const shown = await admin.must<object>("GET", `/api/v1/admin/orders/${readOrderId(url)}`);
  expect(shown).toMatchObject({ state: "expired", workspace: null });
  // One that the deletion missed.
  const late = await insertPendingOrder(server, workspace.id, anna.userId);
  expect((await decide(late, "approve")).status).toBe(409);
  expect((await decide(late, "reject")).status).toBe(200);
});

test("the page of an order needs no inline script and is the same for every ID", async () => {
  for (const id of [await order(await user()), "nothing"]) {
    const page = await fetch(`${server.url()}/orders/${id}`);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    const html = await page.text();
    expect(html).not.toMatch(/<script>|onclick|style=/);
    const script = await fetch(server.url() + /<script[^>]* src="([^"]+)"/.exec(html)![1]!);
    expect(script.headers.get("content-type")).toStartWith("text/javascript");
  }
});
