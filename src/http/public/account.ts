/** /v1/users/me and /v1/credits/history */
import { type LedgerEntry, listLedger } from "../../store/credits";
import { page } from "../../store/paging";
import { storageUsed } from "../../store/storage";
import { pageOf, shows } from "../answers";
import { isoTime, ok } from "../call";
import { exactly, paging } from "../fields";
import { type Route, route } from "../route";

/** A ledger entry; `asset_id` and `payment_invoice_id` are null where they do not apply. */
const showEntry = (entry: LedgerEntry) => ({
  id: entry.id,
  type: entry.type,
  delta: entry.delta,
  created_at: isoTime(entry.created_at),
  asset_id: entry.asset_id,
  payment_invoice_id: entry.payment_invoice_id,
});

export const accountRoutes: Route[] = [
  route({
    method: "GET",
    path: "/users/me",
    summary: "Read your account",
    answers: { 200: shows("User", "The user") },
    handle: async ({ services, user }) =>
      ok({
        id: user.id,
        email: user.email,
        name: [user.first_name, user.last_name].filter(Boolean).join(" ") || null,
        email_verified_at: isoTime(user.email_verified_at),
        deleted_at: isoTime(user.deleted_at),
        created_at: isoTime(user.created_at),
        storage_used_bytes: await storageUsed(services.store.read, user.id),
        storage_quota_bytes: services.config.storageQuotaBytes || null,
      }),
  }),
  route({
    method: "GET",
    path: "/credits/history",
    summary: "List what moved your credits, the newest first",
    query: exactly(paging(200, 50)),
    answers: { 200: pageOf("LedgerEntry", "A page of ledger entries") },
    handle: async ({ services, user }, { query }) => {
      const list = `ledger ${user.id}`;
      const rows = await listLedger(services.store.read, user.id, {
        afterId: query.cursor ? String(services.cursors.read(list, query.cursor)[0]) : null,
        limit: query.limit + 1,
      });
      return ok(page(rows, query.limit, showEntry, (row) => services.cursors.write(list, [row.id])));
    },
  }),
];
