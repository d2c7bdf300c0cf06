/** /v1/users/me and /v1/credits/history */
import { type LedgerEntry, listLedger } from "../../store/credits";
import { toPage } from "../../store/paging";
import { readStorageUsed } from "../../store/storage";
import { formatTime, ok } from "../call";
import { pagingParameters, strictObject } from "../fields";
import { respondsWith, respondsWithPage } from "../response-docs";
import { type Route, route } from "../route";

/** A ledger entry; `asset_id` and `payment_invoice_id` are null where they do not apply. */
const showEntry = (entry: LedgerEntry) => ({
  id: entry.id,
  type: entry.type,
  delta: entry.delta,
  created_at: formatTime(entry.created_at),
  asset_id: entry.asset_id,
  payment_invoice_id: entry.payment_invoice_id,
});

export const accountRoutes: Route[] = [
  route({
    method: "GET",
    path: "/users/me",
    summary: "Read your account",
    responses: { 200: respondsWith("User", "The user") },
    handle: async ({ services, user }) =>
      ok({
        id: user.id,
        email: user.email,
        name: [user.first_name, user.last_name].filter(Boolean).join(" ") || null,
        email_verified_at: formatTime(user.email_verified_at),
        deleted_at: formatTime(user.deleted_at),
        created_at: formatTime(user.created_at),
        storage_used_bytes: await readStorageUsed(services.store.read, user.id),
        storage_quota_bytes: services.config.storageQuotaBytes || null,
      }),
  }),
  route({
    method: "GET",
    path: "/credits/history",
    summary: "List what moved your credits, the newest first",
    query: strictObject(pagingParameters(200, 50)),
    responses: { 200: respondsWithPage("LedgerEntry", "A page of ledger entries") },
    handle: async ({ services, user }, { query }) => {
      const list = `ledger ${user.id}`;
      const rows = await listLedger(services.store.read, user.id, {
        afterId: query.cursor ? String(services.cursors.decode(list, query.cursor)[0]) : null,
        limit: query.limit + 1,
      });
      return ok(toPage(rows, query.limit, showEntry, (row) => services.cursors.encode(list, [row.id])));
    },
  }),
];
