/**
 * Purges accounts whose grace period has ended: files and rows. The ledger, orders, invoices and the audit log stay,
 * under a random ID and without personal data.
 *
 * Each piece is a transaction of its own, and the account's row goes with the last one. After a crash in between, the
 * next run finds the account again and deletes the rest.
 */
import { anonymizeAuditEntries, eraseAuditDetails, hasAuditEntry } from "../../store/audit";
import type { Queries } from "../../store/db";
import { moveInvoices } from "../../store/invoices";
import { closeOrders, moveOrders } from "../../store/orders";
import {
  countWorkspaceContent,
  deleteCredentials,
  deleteMailsTo,
  deleteWorkspace,
  moveLedger,
} from "../../store/purge";
import { deleteUser, findUserById, listUsersDeletedBefore, type User } from "../../store/users";
import { recordAudit, SERVER_ACTOR } from "../access/audit";
import { removeWorkspaceContent } from "../assets/deletion";
import type { BillingNeeds } from "../billing/needs";
import { endSubscriptions } from "../billing/subscriptions";
import { removeArchive } from "../data-export/requests";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { GRACE_PERIOD_MS } from "./account-deletion";

type PurgeNeeds = PipelineNeeds & BillingNeeds;

/**
 * Purges the accounts whose grace period has ended, unless a folder is offline. One that fails does not stop the
 * others. An abort stops between two pieces, with the signal's reason; the next start of the server continues.
 */
export async function purgeAccounts(services: PurgeNeeds, signal: AbortSignal): Promise<void> {
  const { confirmedNow, folders, log, store } = services;
  if ((await folders.guard.check()) !== null) return;
  for (const user of await listUsersDeletedBefore(store.read, confirmedNow() - GRACE_PERIOD_MS)) {
    signal.throwIfAborted();
    try {
      await purgeAccount(services, user, signal);
    } catch (error) {
      if (!signal.aborted) log.error("account.purge_failed", { user: user.id, error });
    }
  }
}

async function purgeAccount(services: PurgeNeeds, user: User, signal: AbortSignal): Promise<void> {
  const { store, now, log } = services;
  // Runs first, because it can fail: a deleted account must not be charged.
  await endSubscriptions(services, user.id);
  await store.write((tx) => startPurge(tx, user.id, now()));
  await removeWorkspaceContent(services, user.id, signal, { isErased: true });
  await removeArchive(services, user.id);
  await eraseDetails(services, user, signal);
  // Version 4: an ID of version 7 would contain the time.
  const randomId = crypto.randomUUID();
  await store.write((tx) => finishPurge(tx, user.id, randomId, now()));
  log.info("account.purged", { account: randomId });
}

/** Deletes the credentials of the account, and records the amount of its content, once. */
async function startPurge(tx: Queries, id: string, now: number): Promise<void> {
  await deleteCredentials(tx, id, { keepsApiKeys: false });
  if (await hasAuditEntry(tx, "user.purge_started", id)) return;
  const details = await countWorkspaceContent(tx, id);
  await recordAudit(tx, SERVER_ACTOR, { action: "user.purge_started", target: id, details }, now);
}

const ENTRIES_PER_TRANSACTION = 2_000;

/** Removes the details that name the account from entries about others, such as an invitation to its address. */
async function eraseDetails({ store }: PurgeNeeds, user: User, signal: AbortSignal): Promise<void> {
  const limit = ENTRIES_PER_TRANSACTION;
  const erase = (afterId: string) =>
    store.write((tx) => eraseAuditDetails(tx, [user.id, user.email], { afterId, limit }));
  for (let last = await erase(""); last !== null; last = await erase(last)) signal.throwIfAborted();
}

async function finishPurge(tx: Queries, userId: string, randomId: string, now: number): Promise<void> {
  const user = await findUserById(tx, userId);
  if (!user) return;
  await deleteMailsTo(tx, user.email);
  await deleteWorkspace(tx, userId);
  await deleteUser(tx, userId);
  await moveLedger(tx, userId, randomId);
  await closeOrders(tx, userId, now);
  await moveOrders(tx, { userId, randomId });
  await moveInvoices(tx, userId, randomId);
  await anonymizeAuditEntries(tx, { userId, randomId, keptActions: ["user.purge_started"] });
  await recordAudit(tx, SERVER_ACTOR, { action: "user.purged", target: randomId }, now);
}
