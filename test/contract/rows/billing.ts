/**
 * Rows of the contract: prices, orders, invoices and credits with the offline provider. The fixtures' server has
 * `PRICES`.
 */
import { expect } from "bun:test";
import { newId } from "../../../src/lib/ids";
import { insertHold } from "../../../src/store/credits";
import { createAdmin, startSession } from "../../http/accounts";
import type { Client } from "../../http/client";
import { NO_ID } from "../../http/outcome";
import { readOrderId } from "../../http/prices";
import * as schemas from "../billing-schemas";
import { conforms } from "./account-setting";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

type Balance = { balance: number; total_held: number; holds: object[] };
type Entry = { type: string; delta: number; payment_invoice_id: string | null };
type Items<T> = { items: T[]; total: number };

const CHECKOUT = { price_id: "pack-600" };

const startAdmin = async ({ server }: DashboardFixtures): Promise<Client> =>
  startSession(server, await createAdmin(server));

async function order({ call }: DashboardFixtures, as: Client, json: object = CHECKOUT): Promise<string> {
  const { status, body } = await call<{ url: string }>("POST", "/billing/checkout", { json, as });
  expect([status, Object.keys(body)]).toEqual([200, ["url"]]);
  return readOrderId(body.url);
}

export const billingRows: DashboardRow[] = [
  [
    "billing = on (default): GET billing, without authentication, tells the mode and whether it is configured",
    async ({ call, server }) => {
      const { status, body } = await call("GET", "/billing", { as: server.nobody });
      expect(status).toBe(200);
      expect(body).toEqual({ mode: "on", is_configured: false });
    },
  ],
  [
    "GET billing/prices lists the active ones as items with price_id for id",
    async ({ call }) => {
      const { body } = await call<Items<{ price_id: string }>>("GET", "/billing/prices");
      conforms(schemas.priceList, body);
      expect(body.items.map(({ price_id }) => price_id)).toEqual(["pack-600", "studio-monthly"]);
      expect(body.items[0]).toEqual({
        price_id: "pack-600",
        name: "600 credits",
        kind: "pack",
        credits: 600,
        amount: 1200,
        currency: "eur",
        interval: null,
      } as never);
    },
  ],
  [
    "POST billing/checkout { price_id } -> { url }; the offline provider's URL is a page of this server; an unknown or inactive price is 422",
    async (fixtures) => {
      const { server, call, getOutcome, user } = fixtures;
      const as = await user();
      const { body } = await call<{ url: string }>("POST", "/billing/checkout", { json: CHECKOUT, as });
      expect(body.url).toStartWith(`${server.services().publicUrl()}/orders/`);
      const page = await fetch(body.url);
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      for (const json of [
        {},
        { price_id: "" },
        { price_id: "x".repeat(121) },
        { price_id: "none" },
        { price_id: "old-pack" },
        { price_id: 5 },
      ])
        expect(await getOutcome("POST", "/billing/checkout", { json, as })).toBe("422 validation_error body.price_id");
      expect(await getOutcome("POST", "/billing/checkout", { json: { ...CHECKOUT, amount: 1 }, as })).toBe(
        "422 validation_error body.amount",
      );
    },
  ],
  [
    "Idempotency-Key is honoured: the same key and body get the same checkout",
    async (fixtures) => {
      const as = await fixtures.user();
      const options = { json: CHECKOUT, as, headers: { "Idempotency-Key": newId() } };
      const [first, second] = [
        await fixtures.call("POST", "/billing/checkout", options),
        await fixtures.call("POST", "/billing/checkout", options),
      ];
      expect(second.body).toEqual(first.body);
      expect((await fixtures.call<Items<object>>("GET", "/billing/orders", { as })).body.total).toBe(1);
      expect(
        await fixtures.getOutcome("POST", "/billing/checkout", { ...options, json: { price_id: "studio-monthly" } }),
      ).toBe("422 validation_error header.Idempotency-Key");
    },
  ],
  [
    "POST admin/orders/{id}/approve: a top-up of payment_invoice_id offline_…, an invoice; a second decision is 409",
    async (fixtures) => {
      const { call, getOutcome, user } = fixtures;
      const [as, admin] = [await user(), await startAdmin(fixtures)];
      const id = await order(fixtures, as);
      const path = `/admin/orders/${id}`;
      const before = (await call<Balance>("GET", "/credits/balance", { as })).body.balance;
      const approved = await call<{ state: string; decided_by: string }>("POST", `${path}/approve`, { as: admin });
      conforms(schemas.adminOrder, approved.body);
      expect(approved.body).toMatchObject({ state: "paid", decided_by: admin.userId });
      for (const decision of ["approve", "reject"])
        expect(await getOutcome("POST", `${path}/${decision}`, { as: admin })).toBe("409 conflict");
      expect((await call<Balance>("GET", "/credits/balance", { as })).body.balance).toBe(before + 600);
      const [entry] = (await call<Items<Entry>>("GET", "/credits/history", { as })).body.items;
      expect(entry).toMatchObject({ type: "topup", delta: 600, payment_invoice_id: `offline_${id}` });
      const invoices = (await call<Items<object>>("GET", "/billing/invoices", { as })).body;
      conforms(schemas.offsetPageOf(schemas.invoice), invoices);
      expect(invoices.items).toEqual([
        expect.objectContaining({ state: "paid", payment_invoice_id: `offline_${id}`, order_id: id, amount: 1200 }),
      ]);
    },
  ],
  [
    "POST admin/orders/{id}/reject: no credits; administration: a member gets 403, an API key 403, an unknown order 404",
    async (fixtures) => {
      const { server, call, getOutcome, user } = fixtures;
      const [as, admin] = [await user(), await startAdmin(fixtures)];
      const id = await order(fixtures, as);
      for (const path of ["/admin/orders", `/admin/orders/${id}`])
        for (const one of [as, await server.user()])
          expect(await getOutcome("GET", path, { as: one })).toBe("403 forbidden");
      expect(await getOutcome("POST", `/admin/orders/${id}/approve`, { as })).toBe("403 forbidden");
      expect(await getOutcome("POST", `/admin/orders/${id}/reject`, { as: admin })).toBe("200");
      expect((await call<{ state: string }>("GET", `/billing/orders/${id}`, { as })).body.state).toBe("rejected");
      expect((await call<Items<object>>("GET", "/billing/invoices", { as })).body.items).toEqual([]);
      expect(await getOutcome("POST", `/admin/orders/${NO_ID}/approve`, { as: admin })).toBe("404 not_found");
    },
  ],
  [
    "GET admin/orders: { items, total, limit, offset }, filter state; GET billing/orders lists the workspace's own",
    async (fixtures) => {
      const { call, getOutcome, user, bert } = fixtures;
      const [as, admin] = [await user(), await startAdmin(fixtures)];
      const id = await order(fixtures, as, { price_id: "studio-monthly" });
      const all = await call<Items<{ id: string; state: string }>>("GET", "/admin/orders?state=pending", { as: admin });
      conforms(schemas.offsetPageOf(schemas.adminOrder), all.body);
      expect(all.body.items[0]!.id).toBe(id);
      conforms(schemas.adminOrder, (await call("GET", `/admin/orders/${id}`, { as: admin })).body);
      expect(await getOutcome("GET", "/admin/orders?state=open", { as: admin })).toBe(
        "422 validation_error query.state",
      );
      const own = await call<Items<object>>("GET", "/billing/orders", { as });
      conforms(schemas.offsetPageOf(schemas.order), own.body);
      expect(own.body.total).toBe(1);
      conforms(schemas.order, (await call("GET", `/billing/orders/${id}`, { as })).body);
      expect(await getOutcome("GET", `/billing/orders/${id}`, { as: bert })).toBe("404 not_found");
    },
  ],
  [
    "GET credits/balance: balance already reduced by active holds, total_held, holds of amount, created_at and pipeline_id",
    async ({ server, call, user }) => {
      const as = await user();
      const { store, now } = server.services();
      const pipelineId = newId();
      await store.write((tx) =>
        insertHold(tx, { id: newId(), workspace_id: as.userId, pipeline_id: pipelineId, amount: 7, created_at: now() }),
      );
      const { body } = await call<Balance>("GET", "/credits/balance", { as });
      conforms(schemas.creditBalance, body);
      expect(body).toMatchObject({ balance: 993, total_held: 7, holds: [{ amount: 7, pipeline_id: pipelineId }] });
    },
  ],
  [
    "GET billing/subscription is null without one; POST billing/webhook is 404 without Stripe",
    async ({ call, getOutcome, server }) => {
      const { body } = await call("GET", "/billing/subscription");
      conforms(schemas.currentSubscription, body);
      expect(body).toBeNull();
      expect(await getOutcome("DELETE", "/billing/subscription")).toBe("404 not_found");
      expect(await getOutcome("POST", "/billing/webhook", { as: server.nobody, json: {} })).toBe("404 not_found");
    },
  ],
];
