/**
 * Rows of the contract: additions of the dashboard family about credits and pending orders. The fixtures' server has
 * `PRICES`.
 */
import { expect } from "bun:test";
import { newId } from "../../../src/lib/ids";
import { insertHold, insertLedgerEntry } from "../../../src/store/credits";
import { NO_ID } from "../../http/outcome";
import { readOrderId } from "../../http/prices";
import * as schemas from "../billing-schemas";
import { pageOf } from "../schemas";
import { conforms } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

type Items<T> = { items: T[]; total: number };

export const creditRows: DashboardRow[] = [
  [
    "GET credits/holds: { items, total, limit, offset } with the steps and the recording of each (an addition)",
    async ({ server, call, user }) => {
      const as = await user();
      const { store, now } = server.services();
      const pipelineId = newId();
      await store.write((tx) =>
        insertHold(tx, { id: newId(), workspace_id: as.userId, pipeline_id: pipelineId, amount: 7, created_at: now() }),
      );
      const { body } = await call<Items<object>>("GET", "/credits/holds", { as });
      conforms(schemas.offsetPageOf(schemas.creditHold), body);
      expect(body.items).toMatchObject([{ amount: 7, pipeline_id: pipelineId, processor_names: [], asset: null }]);
    },
  ],
  [
    "GET credits/history takes type, since, until and q here, and says what each entry is about (an addition)",
    async ({ server, call, getOutcome, user }) => {
      const as = await user();
      const { store } = server.services();
      const entry = { workspace_id: as.userId, payment_invoice_id: "in_42", created_at: Date.UTC(2030, 0, 1) };
      await store.write((tx) => insertLedgerEntry(tx, { ...entry, id: newId(), type: "topup", delta: 9 }));
      const list = async (query: string) =>
        (await call<Items<{ delta: number }>>("GET", `/credits/history${query}`, { as })).body;
      conforms(pageOf(schemas.creditEntry), await list(""));
      for (const query of ["?type=topup", "?since=2029-12-31", "?q=IN_4"])
        expect((await list(query)).items.map(({ delta }) => delta)).toEqual([9]);
      expect((await list("?until=2029-12-31")).items.map(({ delta }) => delta)).toEqual([1000]);
      for (const [query, field] of [
        ["type=bonus", "type"],
        ["since=soon", "since"],
        ["q=", "q"],
      ])
        expect(await getOutcome("GET", `/credits/history?${query}`, { as })).toBe(
          `422 validation_error query.${field}`,
        );
    },
  ],
  [
    "GET credits/history/export is the same as CSV, oldest first (an addition)",
    async ({ call, user }) => {
      const as = await user();
      const { headers, body } = await call<string>("GET", "/credits/history/export", { as });
      expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(headers.get("content-disposition")).toMatch(/credits-\d{4}-\d\d-\d\d\.csv/);
      expect(String(body)).toContain("created_at,type,delta,");
    },
  ],
  [
    "POST billing/orders/{id}/checkout continues a pending order, …/cancel makes it expired; on another state 409 (additions)",
    async ({ call, getOutcome, user, bert }) => {
      const as = await user();
      const { body: first } = await call<{ url: string }>("POST", "/billing/checkout", {
        json: { price_id: "pack-600" },
        as,
      });
      const path = `/billing/orders/${readOrderId(first.url)}`;
      expect((await call<{ url: string }>("POST", `${path}/checkout`, { as })).body.url).toBe(first.url);
      for (const action of ["checkout", "cancel"]) {
        expect(await getOutcome("POST", `${path}/${action}`, { as: bert })).toBe("404 not_found");
        expect(await getOutcome("POST", `/billing/orders/${NO_ID}/${action}`, { as })).toBe("404 not_found");
      }
      const { body } = await call("POST", `${path}/cancel`, { as });
      conforms(schemas.order, body);
      expect(body.state).toBe("expired");
      for (const action of ["checkout", "cancel"])
        expect(await getOutcome("POST", `${path}/${action}`, { as })).toBe("409 conflict");
    },
  ],
];
