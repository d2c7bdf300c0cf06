/** Endpoints of administrators about the server: jobs, storage, health and the audit log. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { ADMIN_SCHEMAS } from "../../src/http/dashboard/admin/schemas";
import { newId } from "../../src/lib/ids";
import { COMMAND_ACTOR, recordAudit } from "../../src/work/access/audit";
import { listErrors } from "../contract/response-checks";
import { until } from "../until";
import { createAdmin, emailOf, startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

type Page<Item> = { items: Item[]; total: number; limit: number; offset: number };
type AdminJob = { id: string; name: string; state: string; progress: number | null; subject_id: string };
type StorageItem = { workspace: { id: string }; used_bytes: number; source_bytes: number; derived_bytes: number };
type Health = { status: string; encoders: { in_use: string } | null; queue: { name: string; pending: number }[] };
type AuditItem = { id: string; action: string; created_at: string; details: unknown; actor: { kind: string } };

let server: Harness;
let admin: Client;
beforeAll(async () => {
  server = await harness({ STORAGE_QUOTA_BYTES: "1000000" });
  admin = await startSession(server, await createAdmin(server));
});
afterAll(() => server[Symbol.asyncDispose]());

const ADMIN = "/api/v1/admin";

/** Reads a page, whose items must have the documented form. */
async function list<Item>(path: string, schema: keyof typeof ADMIN_SCHEMAS): Promise<Page<Item>> {
  const page = await admin.must<Page<Item>>("GET", `${ADMIN}/${path}`);
  for (const item of page.items) expect(listErrors(ADMIN_SCHEMAS[schema], item)).toEqual([]);
  return page;
}

describe("jobs", () => {
  const listJobs = (query: string) => list<AdminJob>(`jobs?${query}`, "AdminJob");

  test("of all users are listed with state, owner and error, newest first", async () => {
    const [anna, bert] = [await server.user(), await server.user()];
    const hold = server.speech.hold("analyze");
    const id = await anna.upload(await wav(2));
    await until(
      "the start of the job",
      async () => (await listJobs(`user_id=${anna.userId}&state=running`)).total === 1,
    );
    expect((await listJobs(`user_id=${anna.userId.toUpperCase()}`)).items).toEqual([
      expect.objectContaining({
        name: "prepare",
        state: "running",
        subject_id: id,
        attempts: 1,
        workspace: { id: anna.userId, name: "Personal" },
        created_by: { id: anna.userId, email: emailOf(anna) },
        error_code: null,
        finished_at: null,
      }),
    ]);
    hold.release();
    await bert.upload(new Uint8Array(100).fill(7));
    await server.idle();
    const [failed, prepared] = (await listJobs("name=prepare")).items;
    expect(failed).toMatchObject({ state: "failed", error_code: "unsupported_media", workspace: { id: bert.userId } });
    expect(prepared).toMatchObject({ state: "completed", progress: 1, subject_id: id });
    expect((await listJobs(`workspace_id=${bert.userId}&state=failed`)).total).toBe(1);
    expect((await listJobs(`workspace_id=${bert.userId}&name=render`)).total).toBe(0);
    const all = (await listJobs("")).total;
    const pages = [await listJobs("limit=1"), await listJobs("limit=1&offset=1")];
    expect(pages.map((page) => page.total)).toEqual([all, all]);
    expect(new Set(pages.flatMap((page) => page.items.map((job) => job.id))).size).toBe(2);
  });

  test.each(["state=gone", "name=upload", "user_id=me", "limit=0", "q=x"])(
    "cannot be searched by %s",
    async (query) => {
      expect((await admin.call("GET", `${ADMIN}/jobs?${query}`)).status).toBe(422);
    },
  );
});

test("storage is listed by workspace with its owners, largest first", async () => {
  const anna = await server.user();
  const asset = await anna.ready(await wav(3));
  const { items, total } = await list<StorageItem>("storage", "WorkspaceStorage");
  expect(items).toHaveLength(Math.min(20, total));
  expect(items.map((item) => item.used_bytes)).toEqual(items.map((item) => item.used_bytes).toSorted((a, b) => b - a));
  const { storage_used_bytes: used } = await anna.must<{ storage_used_bytes: number }>("GET", "/v1/users/me");
  expect(items.find((item) => item.workspace.id === anna.userId)).toMatchObject({
    workspace: { id: anna.userId, name: "Personal", is_personal: true },
    owners: [{ id: anna.userId, email: emailOf(anna) }],
    used_bytes: used,
    source_bytes: asset.size_bytes,
    render_bytes: 0,
    storage_quota_bytes: 1_000_000,
  } as never);
});

test("health names ffmpeg, encoders, models, disk, database and queue", async () => {
  const read = () => admin.must<Health>("GET", `${ADMIN}/health`);
  const health = await until("the encoders", async () => {
    const found = await read();
    return found.encoders === null ? null : found;
  });
  expect(listErrors(ADMIN_SCHEMAS.SystemHealth, health)).toEqual([]);
  expect(health).toMatchObject({
    status: "ok",
    disk: { is_low: false },
    database: { is_alive: true },
    encoders: { in_use: expect.any(String) },
    models: [{ name: "moonshine-tiny-en", languages: ["en"], is_built_in: true }],
    queue: [
      { name: "prepare", pending: 0, running: 0 },
      { name: "cut", slots: 2 },
      { name: "render", pending: 0 },
      { name: "preview", slots: 1 },
    ],
  } as never);
});

describe("the audit log", () => {
  const listEntries = (query: string) => list<AuditItem>(`audit?${query}`, "AuditEntry");

  test("is listed newest first, with the actor's address, and by each filter", async () => {
    const anna = await server.user();
    const before = new Date(server.services().now()).toISOString();
    const { requestId } = await admin
      .call("PATCH", `${ADMIN}/users/${anna.userId}`, { json: { disabled: true } })
      .then(({ headers }) => ({ requestId: headers.get("x-request-id") }));
    server.advance(60_000);
    const between = new Date(server.services().now()).toISOString();
    await admin.must("PATCH", `${ADMIN}/users/${anna.userId}`, { json: { disabled: false } });
    const target = `target_id=${anna.userId}`;
    const actions = async (query: string) => (await listEntries(query)).items.map((entry) => entry.action);
    expect((await listEntries(target)).items[1]).toEqual({
      id: expect.any(String),
      created_at: expect.any(String),
      action: "user.disabled",
      actor: { kind: "user", id: admin.userId, email: emailOf(admin), credential_id: expect.any(String) },
      target: { kind: "user", id: anna.userId, name: emailOf(anna) },
      workspace_id: null,
      address: "127.0.0.1",
      request_id: requestId,
      details: null,
      named_user: null,
    } as never);
    const both = ["user.enabled", "user.disabled", "api_key.created"];
    expect(await actions(target)).toEqual(both.slice(0, 2));
    expect(await actions(`${target}&action=user.enabled`)).toEqual(["user.enabled"]);
    expect(await actions(`${target}&actor_id=${admin.userId}`)).toEqual(both.slice(0, 2));
    expect(await actions(`${target}&actor_id=${anna.userId}`)).toEqual([]);
    expect(await actions(`${target}&since=${between}`)).toEqual(["user.enabled"]);
    expect(await actions(`${target}&since=${before}&until=${between}`)).toEqual(["user.disabled"]);
    expect(await actions(`workspace_id=${anna.userId}`)).toEqual(["api_key.created"]);
    for (const query of ["since=yesterday", "actor_id=1", "action=", "kind=user"])
      expect([query, (await admin.call("GET", `${ADMIN}/audit?${query}`)).status]).toEqual([query, 422]);
  });

  test("is exported as JSON lines of any number, oldest first", async () => {
    const marker = newId();
    await server.services().store.write(async (tx) => {
      for (let n = 0; n < 1_203; n++) {
        const record = { action: "user.created", target: { kind: "user", id: marker }, details: { n } } as const;
        await recordAudit(tx, COMMAND_ACTOR, record, n);
      }
    });
    const reply = await admin.call<string>("GET", `${ADMIN}/audit/export?target_id=${marker}`);
    expect(reply.headers.get("content-type")).toBe("application/x-ndjson");
    expect(reply.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.jsonl"/);
    expect(reply.body.endsWith("\n")).toBe(true);
    const entries = reply.body
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditItem);
    expect(entries.map((entry) => (entry.details as { n: number }).n)).toEqual(
      Array.from({ length: 1_203 }, (_, n) => n),
    );
    expect(listErrors(ADMIN_SCHEMAS.AuditEntry, entries[0])).toEqual([]);
    const last = (await listEntries("action=audit_log.exported")).items[0];
    expect(last).toMatchObject({ actor: { id: admin.userId }, target: null } as never);
    expect((await admin.call<string>("GET", `${ADMIN}/audit/export?action=none`)).body).toBe("");
  });

  test("has entries of the command line", async () => {
    const { items } = await listEntries("action=api_key.created&limit=1");
    expect(items[0]).toMatchObject({
      actor: { kind: "command", id: null, email: null } as never,
      address: null,
    } as never);
  });

  test("cannot be changed, replaced or deleted in the database", async () => {
    const { store } = server.services();
    const [row] = await store.read.all<{ id: string }>(sql`SELECT id FROM audit_log WHERE actor_kind = 'user' LIMIT 1`);
    const { id } = row!;
    for (const statement of [
      sql`DELETE FROM audit_log`,
      sql`DELETE FROM audit_log WHERE id = ${id}`,
      sql`UPDATE audit_log SET action = 'user.enabled' WHERE id = ${id}`,
      sql`UPDATE audit_log SET created_at = 0 WHERE id = ${id}`,
      sql`UPDATE audit_log SET details = '{}' WHERE id = ${id}`,
      sql`UPDATE audit_log SET address = '192.0.2.1' WHERE id = ${id}`,
      sql`UPDATE audit_log SET actor_id = NULL WHERE id = ${id}`,
      sql`UPDATE audit_log SET actor_id = ${(await server.user()).userId} WHERE id = ${id}`,
      sql`UPDATE audit_log SET target_id = ${admin.userId} WHERE id = ${id}`,
      sql`INSERT OR REPLACE INTO audit_log (id, created_at, actor_kind, action) VALUES (${id}, 0, 'server', 'x')`,
      sql`REPLACE INTO audit_log (id, created_at, actor_kind, action) VALUES (${id}, 0, 'server', 'x')`,
      sql`INSERT INTO audit_log (id, created_at, actor_kind, action) VALUES (${id}, 0, 'server', 'x')
        ON CONFLICT (id) DO UPDATE SET action = 'x'`,
    ]) {
      const failure = await store
        .write((tx) => tx.run(statement))
        .then(
          () => null,
          (error: Error) => `${error.cause}`,
        );
      expect(failure).toMatch(/audit entries cannot be/);
    }
  });
});
