/**
 * The triggers that write live events: one event for each change that pages show, in its transaction, and none for
 * other writes.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { STORED_EVENT_TYPES } from "../../../src/domain/live-events";
import type { Queries } from "../../../src/store/db";
import { listMatchingEventsAfter, readEventIds } from "../../../src/store/live-events";
import { assets, cuts, drafts, holds, ledger, pipelines, projects, renders, steps } from "../../../src/store/schema";
import { reviews } from "../../../src/store/schema-cuts";
import { notifications } from "../../../src/store/schema-notifications";
import { freshStore, type TestStore } from "./test-store";

let fresh: TestStore;
beforeEach(async () => {
  fresh = await freshStore();
  await fresh.store.write(insertRows);
});
afterEach(() => fresh[Symbol.asyncDispose]());

/** A workspace of one user with one row of each table. Pipeline `pl` runs the cut, `chain` the render. */
async function insertRows(tx: Queries): Promise<void> {
  for (const statement of [
    "users (id, email, created_at) VALUES ('u', 'u@example.test', 1)",
    "workspaces (id, name, is_personal, created_at) VALUES ('u', 'Personal', true, 1)",
    "projects (id, workspace_id, name, state, created_at, updated_at, last_activity_at) VALUES ('p', 'u', 'P', 'active', 1, 1, 1)",
    "pipelines (id, workspace_id, state, created_at) VALUES ('pl', 'u', 'pending', 1)",
    "pipelines (id, workspace_id, state, is_chain, created_at) VALUES ('chain', 'u', 'pending', true, 1)",
    "pipelines (id, workspace_id, state, is_hidden, created_at) VALUES ('preview', 'u', 'pending', true, 1)",
    "steps (id, pipeline_id, workspace_id, step_order, processor_name, state, subject_id, created_at) VALUES ('s', 'pl', 'u', 0, 'cut', 'pending', 'c', 1)",
    "steps (id, pipeline_id, workspace_id, step_order, processor_name, state, subject_id, created_at) VALUES ('s2', 'chain', 'u', 0, 'render', 'pending', 'r', 1)",
    "steps (id, pipeline_id, workspace_id, step_order, processor_name, state, subject_id, created_at) VALUES ('s3', 'preview', 'u', 0, 'preview', 'pending', 'a', 1)",
    "assets (id, workspace_id, project_id, kind, state, upload_length, upload_active_at, payment, created_at) VALUES ('a', 'u', 'p', 'source', 'processing', 64, 1, 'none', 1)",
    "assets (id, workspace_id, project_id, kind, state, render_id, upload_length, upload_active_at, payment, created_at) VALUES ('out', 'u', 'p', 'rendered_video', 'processing', 'r', 64, 1, 'none', 1)",
    "cuts (id, workspace_id, asset_id, state, script, options, created_at) VALUES ('c', 'u', 'a', 'pending', '', '{}', 1)",
    "drafts (cut_id, workspace_id, revision, segments, texts, updated_at) VALUES ('c', 'u', 1, '[]', '[]', 1)",
    "reviews (cut_id, workspace_id, revision) VALUES ('c', 'u', 1)",
    "renders (id, workspace_id, asset_id, cut_id, state, output, resolved, request_hash, created_at) VALUES ('r', 'u', 'a', 'c', 'pending', '{}', '{}', 'h', 1)",
    "ledger (id, workspace_id, type, delta, created_at) VALUES ('l', 'u', 'grant', 5, 1)",
    "holds (id, workspace_id, pipeline_id, amount, created_at) VALUES ('h', 'u', 'pl', 2, 1)",
    "notifications (id, user_id, type, payload, cause, mail_state, created_at) VALUES ('n', 'u', 'data_export_ready', '{\"status\":\"pending\"}', 'c', 'none', 1)",
    "notifications (id, user_id, type, payload, cause, is_hidden, mail_state, created_at) VALUES ('hidden', 'u', 'pipeline_failed', '{}', 'd', true, 'none', 1)",
  ])
    await tx.run(sql.raw(`INSERT INTO ${statement}`));
}

type EventRow = { type: string; entity_id: string; state: string | null; pipeline_id: string | null };

const listAll = () =>
  fresh.store.read.all<EventRow & { id: number; workspace_id: string | null; user_id: string | null }>(
    sql`SELECT * FROM live_events ORDER BY id`,
  );

/** Returns the events that a change writes, as `type entity state`, with the pipeline if present. */
async function listWritten(...statements: (string | SQL)[]): Promise<string[]> {
  const { newest } = await readEventIds(fresh.store.read);
  await fresh.store.write(async (tx) => {
    for (const statement of statements) await tx.run(typeof statement === "string" ? sql.raw(statement) : statement);
  });
  const written = (await listAll()).filter(({ id }) => id > newest);
  return written.map((row) => [row.type, row.entity_id, row.state, row.pipeline_id].filter(Boolean).join(" "));
}

test("each new resource is one event, of its workspace or its user", async () => {
  const rows = await listAll();
  expect(rows.map((row) => [row.type, row.entity_id, row.state, row.pipeline_id].filter(Boolean).join(" "))).toEqual([
    "project.updated p active",
    "pipeline.updated pl pending pl",
    "pipeline.updated chain pending chain",
    "asset.updated a processing",
    "asset.updated out processing chain",
    "cut.updated c pending pl",
    "draft.updated c saved",
    "review.updated c",
    "render.updated r pending chain",
    "credits.updated u",
    "credits.updated u",
    "notification.created n pending",
  ]);
  expect(rows.map(({ workspace_id, user_id }) => [workspace_id, user_id])).toEqual([
    ...Array(11).fill(["u", null]),
    [null, "u"],
  ]);
});

test.each([
  ["UPDATE projects SET name = 'Q', updated_at = 2", ["project.updated p active"]],
  ["UPDATE projects SET state = 'archived', archived_at = 2", ["project.updated p archived"]],
  ["UPDATE assets SET state = 'ready' WHERE id = 'a'", ["asset.updated a ready"]],
  ["UPDATE assets SET type = 'video', extension = 'mp4' WHERE id = 'a'", ["asset.updated a processing"]],
  ["UPDATE assets SET duration = 1 WHERE id = 'out'", ["asset.updated out processing chain"]],
  ["UPDATE cuts SET state = 'failed', error_code = 'no_speech'", ["cut.updated c failed pl"]],
  ["UPDATE renders SET state = 'cancelled'", ["render.updated r cancelled chain"]],
  ["UPDATE pipelines SET state = 'running' WHERE id = 'pl'", ["pipeline.updated pl running pl"]],
  ["UPDATE pipelines SET input_asset_deleted = true WHERE id = 'pl'", ["pipeline.updated pl pending pl"]],
  ["UPDATE steps SET state = 'running' WHERE id = 's2'", ["pipeline.updated chain pending chain"]],
  ["UPDATE steps SET output_asset_deleted = true WHERE id = 's2'", ["pipeline.updated chain pending chain"]],
  // A preview is hidden, and no event of its recording is one of its pipeline.
  ["UPDATE pipelines SET state = 'running' WHERE id = 'preview'", []],
  ["UPDATE steps SET state = 'running' WHERE id = 's3'", []],
  ["DELETE FROM pipelines WHERE id = 'preview'", []],
  // A pipeline of one step has the state of its step, and changes with it.
  ["UPDATE steps SET state = 'running' WHERE id = 's'", []],
  ["UPDATE holds SET amount = 1", ["credits.updated u"]],
  ["DELETE FROM holds", ["credits.updated u"]],
  ["UPDATE notifications SET payload = '{\"status\":\"ready\"}' WHERE id = 'n'", ["notification.created n ready"]],
  ["DELETE FROM renders", ["render.updated r deleted chain"]],
  ["DELETE FROM cuts", ["render.updated r deleted chain", "draft.updated c deleted", "cut.updated c deleted pl"]],
  ["DELETE FROM drafts", ["draft.updated c deleted"]],
  ["DELETE FROM pipelines WHERE id = 'pl'", ["pipeline.updated pl deleted pl"]],
  [
    "DELETE FROM projects",
    [
      "render.updated r deleted chain",
      "draft.updated c deleted",
      "cut.updated c deleted pl",
      "asset.updated a deleted",
      "asset.updated out deleted chain",
      "project.updated p deleted",
    ],
  ],
  // The same again, and several rows at once.
  ["UPDATE assets SET state = 'processing'", []],
  ["UPDATE assets SET state = 'failed'", ["asset.updated a failed", "asset.updated out failed chain"]],
  ["UPDATE projects SET name = 'P', state = 'active'", []],
] as [string, string[]][])("%s", async (statement, expected) => {
  expect((await listWritten(statement)).toSorted()).toEqual(expected.toSorted());
});

/** The columns that a page shows and that change with time, by table. The state is always one. */
const SHOWN: Record<string, string[]> = {
  projects: ["name", "cut_mode", "cut_language"],
  assets: [
    "type",
    "extension",
    "content_type",
    "filename",
    "name",
    "tags",
    "note",
    "duration",
    "payment",
    "audio_prepared",
    "has_transcript",
    "has_poster",
    "has_preview",
    "has_waveform",
  ],
  cuts: ["name", "note", "superseded_by"],
  drafts: ["revision"],
  reviews: ["revision"],
  pipelines: ["input_asset_deleted"],
  steps: ["output_asset_deleted"],
  holds: ["amount"],
  notifications: ["payload"],
};

const TABLES: SQLiteTable[] = [
  ...[projects, assets, cuts, drafts, reviews, renders, pipelines, steps, ledger, holds],
  notifications,
];
const KEYS = ["id", "workspace_id", "user_id", "project_id", "asset_id", "pipeline_id", "created_by", "updated_by"];

test("a column that no page shows writes no event, and one that a page shows writes one for each row", async () => {
  for (const table of TABLES) {
    const name = getTableName(table);
    // Steps of pipelines of several steps; nothing hidden.
    const one: Record<string, string> = { steps: "s2", notifications: "n", pipelines: "pl" };
    const rows = one[name] ? `id = '${one[name]}'` : "true";
    const [{ n }] = (await fresh.store.read.all<{ n: number }>(
      sql.raw(`SELECT count(*) AS n FROM ${name} WHERE ${rows}`),
    )) as [{ n: number }];
    for (const column of Object.values(getTableColumns(table)).map((one) => one.name)) {
      // A notification keeps its type.
      if (KEYS.includes(column) || (name === "notifications" && column === "type")) continue;
      const isShown = (column === "state" && name !== "ledger") || (SHOWN[name] ?? []).includes(column);
      const value = column === "payload" ? `'{"status":"${name}"}'` : "999";
      // Unique columns can have the value in one row.
      const isUnique = ["cut_id", "render_id", "step_id", "payment_invoice_id", "cause"].includes(column);
      if (isUnique) continue;
      const written = await listWritten(`UPDATE ${name} SET ${column} = ${value} WHERE ${rows}`);
      expect([name, column, written.length]).toEqual([name, column, isShown ? n : 0]);
    }
  }
});

test("every trigger is one of these", async () => {
  const rows = await fresh.store.read.all<{ name: string }>(
    sql`SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%live_events%' ORDER BY name`,
  );
  const of = (table: string, ...changes: string[]) => changes.map((change) => `live_${table}_${change}`);
  expect(rows.map(({ name }) => name)).toEqual(
    [
      ...["projects", "assets", "cuts", "drafts", "renders", "pipelines", "holds"].flatMap((table) =>
        of(table, "insert", "update", "delete"),
      ),
      ...of("reviews", "insert", "update"),
      ...of("steps", "update"),
      ...of("ledger", "insert"),
      ...of("notifications", "insert", "update"),
      ...of("workspaces", "delete"),
      ...of("users", "delete"),
    ].toSorted(),
  );
});

test("an event is rolled back with its change, and its ID is not used up", async () => {
  const before = await readEventIds(fresh.store.read);
  const failed = fresh.store.write(async (tx) => {
    await tx.run(sql`UPDATE cuts SET state = 'completed'`);
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  expect(await readEventIds(fresh.store.read)).toEqual(before);
  expect(await listWritten("UPDATE cuts SET state = 'completed'")).toEqual(["cut.updated c completed pl"]);
  expect((await readEventIds(fresh.store.read)).newest).toBe(before.newest + 1);
});

test("a workspace and a user that are deleted leave no event, and IDs continue", async () => {
  const { newest } = await readEventIds(fresh.store.read);
  await fresh.store.write((tx) => tx.run(sql`DELETE FROM workspaces`));
  expect((await listAll()).map(({ type }) => type)).toEqual(["notification.created"]);
  await fresh.store.write((tx) => tx.run(sql`DELETE FROM users`));
  expect(await listAll()).toEqual([]);
  const ids = await readEventIds(fresh.store.read);
  expect(ids.oldest).toBeNull();
  expect(ids.newest).toBeGreaterThan(newest);
});

test("an event has the time of its change", async () => {
  const rows = await fresh.store.read.all<{ at: number }>(sql`SELECT created_at AS at FROM live_events`);
  for (const { at } of rows) expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
});

test("a page of the events of a workspace and its user is read from indexes", async () => {
  const { read } = fresh.store;
  const explain = { all: (query: SQL) => read.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`) };
  for (const [filter, indexes] of [
    [{ workspaceId: "u", userId: "u" }, ["live_events_by_workspace", "live_events_by_user"]],
    [{ pipelineId: "pl" }, ["live_events_by_pipeline"]],
  ] as const) {
    const plan = await listMatchingEventsAfter(explain as unknown as Queries, filter, 0, 10);
    const details = plan.map((step) => (step as unknown as { detail: string }).detail);
    for (const index of indexes) expect(details.join("\n")).toContain(`USING INDEX ${index}`);
  }
});

test("the triggers write each listed type of event, and no other", async () => {
  const triggers = await fresh.store.read.all<{ text: string }>(
    sql`SELECT sql AS text FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%live_events%'`,
  );
  const found = triggers.flatMap(({ text }) =>
    [...text.matchAll(/'(\w+\.(?:updated|created))'/g)].map(([, type]) => type!),
  );
  expect([...new Set(found)].sort()).toEqual(STORED_EVENT_TYPES.toSorted());
});
