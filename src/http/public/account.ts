/** The account and its credit history. */
import { type LedgerEntry, listLedger } from "../../store/credits";
import { readStorageUsed } from "../../store/storage";
import { formatUserName } from "../../store/users";
import { readStorageQuota } from "../../work/storage/limits";
import { type Call, ok } from "../call";
import { listRoute } from "../list-route";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

async function showUser({ services, principal: { user, workspace } }: Call): Promise<Resource<"User">> {
  return showRow(SCHEMAS.User, user, {
    name: formatUserName(user),
    storage_used_bytes: await readStorageUsed(services.store.read, workspace.id),
    storage_quota_bytes: await readStorageQuota(services, services.store.read, workspace.id),
  });
}

export const showLedgerEntry = (entry: LedgerEntry): Resource<"LedgerEntry"> => showRow(SCHEMAS.LedgerEntry, entry, {});

export const readMe = route({
  summary: "Retrieve your account",
  access: { inGrace: true, target: "account" },
  responses: { 200: respondsWith("User", "The user") },
  handle: async (call) => ok(await showUser(call)),
});

export const listCredits = listRoute({
  summary: "List credit transactions, newest first",
  limits: { max: 200, default: 50 },
  item: "LedgerEntry",
  description: "A page of ledger entries",
  read: ({ services, principal }, { after, limit }) =>
    listLedger(services.store.read, principal.workspace.id, { afterId: after?.[0] ?? null, limit }),
  show: (_, entry) => showLedgerEntry(entry),
});
