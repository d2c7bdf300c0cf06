/** The account and its credit history. */
import { type LedgerEntry, listLedger } from "../../store/credits";
import { readStorageUsed } from "../../store/storage";
import { formatUserName } from "../../store/users";
import { readStorageQuota } from "../../work/storage/limits";
import { type Call, ok } from "../call";
import { formatTime } from "../format-time";
import { listRoute } from "../list-route";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

async function showUser({ services, principal: { user, workspace } }: Call): Promise<Resource<"User">> {
  return {
    id: user.id,
    email: user.email,
    name: formatUserName(user),
    email_verified_at: formatTime(user.email_verified_at),
    deleted_at: formatTime(user.deleted_at),
    created_at: formatTime(user.created_at),
    storage_used_bytes: await readStorageUsed(services.store.read, workspace.id),
    storage_quota_bytes: await readStorageQuota(services, services.store.read, workspace.id),
  };
}

export const showLedgerEntry = (entry: LedgerEntry): Resource<"LedgerEntry"> => ({
  id: entry.id,
  type: entry.type,
  delta: entry.delta,
  created_at: formatTime(entry.created_at),
  asset_id: entry.asset_id,
  payment_invoice_id: entry.payment_invoice_id,
});

export const readMe = route({
  summary: "Retrieve your account",
  access: { inGrace: true, target: "account" },
  responses: { 200: respondsWith("User", "The user") },
  handle: async (call) => ok(await showUser(call)),
});

export const listCredits = listRoute({
  summary: "List credit transactions, newest first",
  filters: {},
  limits: { max: 200, default: 50 },
  item: "LedgerEntry",
  description: "A page of ledger entries",
  scope: ({ principal }) => ["ledger", principal.workspace.id],
  read: ({ services, principal }, { after, limit }) =>
    listLedger(services.store.read, principal.workspace.id, { afterId: after?.[0] ?? null, limit }),
  sortKey: (entry: LedgerEntry): [string] => [entry.id],
  show: (_, entry) => showLedgerEntry(entry),
});
