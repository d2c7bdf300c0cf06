/** The purge of deleted accounts: nothing of them stays, whenever the server is killed. */
import { expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { getFolders } from "../../../../src/blobs/folders";
import { sweepTrash } from "../../../../src/blobs/trash";
import { CUT_MODES } from "../../../../src/domain/plan";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { insertLedgerEntry } from "../../../../src/store/credits";
import { insertCut } from "../../../../src/store/cuts";
import type { Queries, Store } from "../../../../src/store/db";
import { insertProject } from "../../../../src/store/projects";
import { insertSession } from "../../../../src/store/sessions";
import { insertApiKey, updateAccountState, updateProfile } from "../../../../src/store/users";
import { type AuditActor, COMMAND_ACTOR, recordAudit } from "../../../../src/work/access/audit";
import type { BillingNeeds } from "../../../../src/work/billing/needs";
import { GRACE_PERIOD_MS, startAccountDeletion } from "../../../../src/work/identity/account-deletion";
import { purgeAccounts } from "../../../../src/work/identity/account-purge";
import { createPartialTranscripts } from "../../../../src/work/live/partial-transcripts";
import type { PipelineNeeds } from "../../../../src/work/pipelines/pipelines";
import { sweepOrphans } from "../../../../src/work/recovery";
import { fullOr } from "../../../full-size";
import { addAsset, addStep, addUser, freshStore } from "../../store/test-store";

const START = 1_800_000_000_000;
const NAMES = ["Annabelle", "Zyskowski"];

class PowerCut extends Error {}

/** A store that loses power at the write with this index: before it is committed, or right after. */
function withPowerCut(store: Store, index: number, when: "before" | "after"): Store {
  let writes = 0;
  return {
    ...store,
    write: async (work) => {
      const isLast = writes++ >= index;
      if (isLast && when === "before") throw new PowerCut();
      const result = await store.write(work);
      if (isLast) throw new PowerCut();
      return result;
    },
  };
}

const NEVER = new AbortController().signal;
const runner = { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} };

async function setting() {
  const db = await freshStore();
  const folders = getFolders(db.folder);
  const services = {
    store: db.store,
    folders,
    runner,
    partialTranscripts: createPartialTranscripts(),
    now: () => START + GRACE_PERIOD_MS,
    confirmedNow: () => START + GRACE_PERIOD_MS,
    log: silentLog(),
    payments: null,
  } as unknown as PipelineNeeds & BillingNeeds;
  return {
    ...services,
    folder: db.folder,
    /** Simulates a start of the server, with all writes until the power fails. */
    start: async (store: Store = db.store, confirmedNow = services.confirmedNow) => {
      await sweepOrphans({ ...services, store }).catch((error) => {
        if (!(error instanceof PowerCut)) throw error;
      });
      await purgeAccounts({ ...services, store, confirmedNow }, NEVER);
      await sweepTrash(folders, services.now());
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

type Setting = Awaited<ReturnType<typeof setting>>;

/** Creates an account with a row in every table, and one that shares a workspace with it. */
async function fill({ store, folders }: Pick<Setting, "store" | "folders">) {
  return store.write(async (tx) => {
    const [anna, bert] = [await addUser(tx), await addUser(tx)];
    const email = `${anna.userId}@example.test`;
    await updateProfile(tx, anna.userId, { first_name: NAMES[0]!, last_name: NAMES[1]! });
    const assets = [await addAsset(tx, anna), await addAsset(tx, anna, { state: "failed", created_by: anna.userId })];
    for (const asset of assets) {
      await mkdir(folders.media(asset.id).dir, { recursive: true });
      await Bun.write(folders.media(asset.id).source, "bytes");
    }
    const cutId = newId();
    await insertCut(tx, {
      id: cutId,
      workspace_id: anna.workspaceId,
      asset_id: assets[0]!.id,
      state: "pending",
      script: "",
      options: CUT_MODES.natural,
      created_by: anna.userId,
      created_at: 0,
    });
    await addStep(tx, { workspaceId: anna.workspaceId, subjectId: assets[0]!.id });
    await addLedger(tx, anna.workspaceId, [100, -7]);
    await addLedger(tx, bert.workspaceId, [5]);
    await addCredentials(tx, anna.userId);
    await addSharedWorkspace(tx, anna.userId, bert.userId);
    await addOutbox(tx, anna.workspaceId);
    await addMessages(tx, anna.userId, email, bert.userId);
    await addHistory(tx, anna.userId, email, bert.userId);
    await addOrders(tx, anna.userId, bert.userId);
    await updateAccountState(tx, bert.userId, { is_admin: true });
    await startAccountDeletion(tx, actorOf(anna.userId), anna.userId, START);
    return { anna: { ...anna, email }, bert, assets };
  });
}

async function addLedger(tx: Queries, workspaceId: string, deltas: number[]) {
  for (const delta of deltas)
    await insertLedgerEntry(tx, { id: newId(), workspace_id: workspaceId, type: "grant", delta, created_at: 0 });
  await tx.run(sql`INSERT INTO holds (id, workspace_id, pipeline_id, amount, created_at)
    VALUES (${newId()}, ${workspaceId}, ${newId()}, 1, 0)`);
}

async function addCredentials(tx: Queries, userId: string) {
  const name = `key of ${NAMES[0]}`;
  const key = { id: newId(), user_id: userId, workspace_id: userId, name, prefix: "sk_", hash: newId(), created_at: 0 };
  await insertApiKey(tx, key);
  const times = { created_at: 0, authenticated_at: 0, last_seen_at: 0, expires_at: START * 2 };
  await insertSession(tx, { id: newId(), user_id: userId, ...times, user_agent: "B", address: "192.0.2.9" });
  for (const statement of [
    sql`INSERT INTO recovery_codes (id, user_id, hash, created_at) VALUES ('r', ${userId}, 'h', 0)`,
    sql`INSERT INTO oidc_identities (id, user_id, issuer, subject, created_at) VALUES ('o', ${userId}, 'i', 's', 0)`,
    sql`INSERT INTO device_codes (id, device_code_hash, user_code_hash, client_id, state, user_id, interval_seconds, created_at, expires_at)
      VALUES ('d', 'h', 'h', 'c', 'approved', ${userId}, 5, 0, 1)`,
    sql`INSERT INTO idempotency (user_id, key, request_hash, status, body, headers, created_at)
      VALUES (${userId}, 'k', 'h', 201, '{}', '{}', ${START * 2})`,
  ])
    await tx.run(statement);
}

/** Orders of both, each approved by the other. */
async function addOrders(tx: Queries, annaId: string, bertId: string) {
  for (const [userId, otherId] of [
    [annaId, bertId],
    [bertId, annaId],
  ]) {
    const order = newId();
    await tx.run(sql`INSERT INTO orders (id, workspace_id, user_id, provider, state, price_id, price_name, price_kind, credits, amount,
      currency, decided_by, created_at) VALUES (${order}, ${userId}, ${userId}, 'offline', 'paid', 'p', 'P', 'pack', 5, 7, 'eur', ${otherId}, 0)`);
    await tx.run(sql`INSERT INTO invoices (id, workspace_id, order_id, payment_invoice_id, state, credits, amount, currency, url, created_at)
      VALUES (${newId()}, ${userId}, ${order}, ${`offline_${order}`}, 'paid', 5, 7, 'eur', ${`https://pay.example/${userId}`}, 0)`);
  }
  await tx.run(
    sql`INSERT INTO payment_customers (workspace_id, provider_customer_id, created_at) VALUES (${annaId}, 'cus_1', 0)`,
  );
  await tx.run(sql`INSERT INTO subscriptions (id, workspace_id, user_id, provider, provider_subscription_id, state, price_id, is_ending, created_at)
    VALUES (${newId()}, ${annaId}, ${annaId}, 'stripe', 'sub_1', 'active', 'p', 1, 0)`);
}

async function addSharedWorkspace(tx: Queries, annaId: string, bertId: string) {
  await tx.run(
    sql`INSERT INTO workspaces (id, name, created_by, created_at) VALUES ('shared', 'Studio', ${annaId}, 0)`,
  );
  for (const id of [annaId, bertId])
    await tx.run(sql`INSERT INTO workspace_members (workspace_id, user_id, role, created_at)
      VALUES ('shared', ${id}, 'owner', 0)`);
  const times = { archived_at: null, created_at: 0, updated_at: 0, last_activity_at: 0 };
  const project = { name: "Shared", state: "active", created_by: annaId, ...times } as const;
  await insertProject(tx, { id: newId(), workspace_id: "shared", ...project });
}

async function addOutbox(tx: Queries, workspaceId: string) {
  const [endpoint, event] = [newId(), newId()];
  await tx.run(sql`INSERT INTO webhook_endpoints (id, workspace_id, url, event_types, state, secret, created_at)
    VALUES (${endpoint}, ${workspaceId}, 'https://hooks.example', '[]', 'enabled', 's', 0)`);
  await tx.run(sql`INSERT INTO events (id, workspace_id, type, entity_id, data, created_at)
    VALUES (${event}, ${workspaceId}, 'asset.ready', 'e', '{}', 0)`);
  await tx.run(sql`INSERT INTO deliveries (id, endpoint_id, workspace_id, event_id, type, body, state, due_at, created_at)
    VALUES (${newId()}, ${endpoint}, ${workspaceId}, ${event}, 'asset.ready', '{}', 'pending', 0, 0)`);
}

async function addMessages(tx: Queries, annaId: string, email: string, bertId: string) {
  const tokens = [
    ["password_reset", annaId, email, null, null],
    ["invitation", null, email.toUpperCase(), "shared", bertId],
  ];
  for (const [purpose, userId, address, workspaceId, createdBy] of tokens)
    await tx.run(sql`INSERT INTO one_time_tokens (id, purpose, hash, user_id, email, workspace_id, created_by, created_at, expires_at)
      VALUES (${newId()}, ${purpose}, ${newId()}, ${userId}, ${address}, ${workspaceId}, ${createdBy}, 0, ${START * 2})`);
  for (const userId of [annaId, null])
    await tx.run(sql`INSERT INTO mails (id, user_id, recipient, template, state, created_at)
      VALUES (${newId()}, ${userId}, ${email}, 'invitation', 'sent', 0)`);
}

const actorOf = (userId: string): AuditActor => ({
  kind: "user",
  userId,
  credentialId: newId(),
  address: "192.0.2.9",
  requestId: newId(),
});

async function addHistory(tx: Queries, annaId: string, email: string, bertId: string) {
  const record = (actor: AuditActor, change: Partial<Parameters<typeof recordAudit>[2]>) =>
    recordAudit(tx, actor, { action: "user.role_changed", target: { kind: "user", id: annaId }, ...change }, 0);
  await record(actorOf(annaId), { workspaceId: annaId, details: { role: "admin" } });
  await record(actorOf(annaId), { target: { kind: "user", id: bertId }, details: { role: "member" } });
  await record(actorOf(annaId), { target: { kind: "api_key", id: newId() }, details: { name: NAMES[0] } });
  await record(actorOf(bertId), { details: { note: `for ${NAMES[1]}` } });
  await record(actorOf(bertId), { target: null, details: { email: email.toUpperCase() } });
  await record(actorOf(bertId), { target: null, details: { role: "kept" } });
  await record({ ...actorOf(""), kind: "anonymous", userId: null, credentialId: null }, { action: "session.refused" });
  await record(COMMAND_ACTOR, { action: "user.created" });
}

const readTables = async ({ store }: Pick<Setting, "store">): Promise<Record<string, Record<string, unknown>[]>> => {
  const names = await store.read.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE type = 'table'`);
  const tables: Record<string, Record<string, unknown>[]> = {};
  for (const { name } of names) tables[name] = await store.read.all(sql.raw(`SELECT * FROM "${name}"`));
  return tables;
};

/** Checks that nothing of the account is left, and that nothing else is missing. */
async function expectPurged(s: Setting, { anna, bert, assets }: Awaited<ReturnType<typeof fill>>) {
  const tables = await readTables(s);
  const text = JSON.stringify(tables).toLowerCase();
  for (const trace of [anna.userId, anna.email, ...NAMES]) expect(text).not.toContain(trace.toLowerCase());
  expect(tables.audit_log!.filter((row) => row.address !== null).map((row) => row.actor_id)).toEqual(
    Array.from({ length: 3 }, () => bert.userId),
  );
  const details = tables.audit_log!.map((row) => row.details).filter((one) => one !== null);
  expect(details.toSorted()).toEqual([
    '{"projects":1,"assets":2,"renders":0,"bytes":2000}',
    '{"role":"kept"}',
    '{"role":"member"}',
  ]);
  const actions = tables.audit_log!.map((row) => row.action);
  for (const once of ["user.deletion_started", "user.purge_started", "user.purged"])
    expect(actions.filter((action) => action === once)).toEqual([once]);
  expect(actions).toHaveLength(11);
  // One random ID stands for the account everywhere.
  const ledger = tables.ledger!.filter((row) => row.workspace_id !== bert.workspaceId);
  expect(ledger.map((row) => row.delta).toSorted()).toEqual([-7, 100]);
  const purged = tables.audit_log!.find((row) => row.action === "user.purged");
  const [order, ...others] = tables.orders!.filter((row) => row.workspace_id !== bert.workspaceId);
  const [invoice] = tables.invoices!.filter((row) => row.workspace_id !== bert.workspaceId);
  expect([others, order!.user_id, order!.amount, invoice!.url, invoice!.amount]).toEqual([[], null, 7, null, 7]);
  const [decided] = tables.orders!.filter((row) => row.workspace_id === bert.workspaceId);
  const moved = [...ledger, order!, invoice!].map((row) => row.workspace_id);
  expect(new Set([...moved, decided!.decided_by, purged!.target_id]).size).toBe(1);
  expect([tables.payment_customers, tables.subscriptions]).toEqual([[], []]);
  expect(tables.users!.map((row) => row.id)).toEqual([bert.userId]);
  expect(tables.workspaces!.map((row) => row.id).toSorted()).toEqual([bert.workspaceId, "shared"].toSorted());
  expect(tables.projects!.map((row) => row.name).toSorted()).toEqual(["Project", "Shared"]);
  expect(await s.store.read.all<object>(sql`PRAGMA foreign_key_check`)).toEqual([]);
  const files = await readdir(s.folder, { recursive: true });
  for (const { id } of assets) expect(files.filter((path) => path.includes(id))).toEqual([]);
}

test("a purged account leaves the ledger and the audit log, without personal data", async () => {
  await using s = await setting();
  const filled = await fill(s);
  await s.start();
  await expectPurged(s, filled);
  const before = await readTables(s);
  await s.start();
  expect(await readTables(s)).toEqual(before);
});

test("a server that loses power at any write, several times, completes the purge when it starts again", async () => {
  const cut = fc.tuple(fc.nat({ max: 16 }), fc.constantFrom("before" as const, "after" as const));
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 3 }), async (cuts) => {
      await using s = await setting();
      const filled = await fill(s);
      for (const [index, when] of cuts) await s.start(withPowerCut(s.store, index, when));
      await s.start();
      await expectPurged(s, filled);
    }),
    { numRuns: fullOr(100, 12) },
  );
}, 180_000);

test("an account is not purged before its grace period has ended, nor after it was restored", async () => {
  await using s = await setting();
  const { anna } = await s.store.write(async (tx) => ({ anna: await addUser(tx), bert: await addUser(tx) }));
  for (const deletedAt of [null, START + 1]) {
    await s.store.write((tx) => updateAccountState(tx, anna.userId, { deleted_at: deletedAt }));
    await s.start();
    expect((await readTables(s)).users).toHaveLength(2);
  }
  await s.store.write((tx) => updateAccountState(tx, anna.userId, { deleted_at: START }));
  await s.start();
  expect((await readTables(s)).users).toHaveLength(1);
});

test("a purge that is stopped leaves the rest for the next start", async () => {
  await using s = await setting();
  const filled = await fill(s);
  const stopping = new AbortController();
  const running = purgeAccounts(s, stopping.signal);
  stopping.abort(new Error("The server stops."));
  await expect(running).rejects.toThrow("The server stops.");
  expect((await readTables(s)).users).toHaveLength(2);
  await s.start();
  await expectPurged(s, filled);
});

test("a clock that is ahead purges nobody until its time is confirmed", async () => {
  await using s = await setting();
  const filled = await fill(s);
  await s.start(s.store, () => START + GRACE_PERIOD_MS - 1);
  expect((await readTables(s)).users).toHaveLength(2);
  await s.start();
  await expectPurged(s, filled);
});
