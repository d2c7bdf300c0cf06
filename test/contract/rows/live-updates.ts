/** Rows of the contract: live updates. */
import { expect } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import { followEvents, LIVE_TYPES, openStream } from "../../http/event-source";
import { NO_ID } from "../../http/outcome";
import { until } from "../../until";
import { listErrors } from "../response-checks";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

const uuid = Type.String({ pattern: "^[0-9a-f-]{36}$" });
const change = Type.Object(
  { entity_id: uuid, state: Type.Union([Type.String(), Type.Null()]) },
  { additionalProperties: false },
);
const progress = Type.Object(
  { entity_id: uuid, progress: Type.Number({ minimum: 0, maximum: 1 }) },
  { additionalProperties: false },
);
const SCHEMAS: Record<string, TSchema> = { progress, reset: Type.Object({}, { additionalProperties: false }) };

/** Makes one event of each stored type for a user, in this order. */
async function createEvents({ server }: DashboardFixtures, userId: string): Promise<string[]> {
  const [project, asset, cut, render, pipeline, notification] = Array.from({ length: 6 }, () => newId());
  await server.services().store.write(async (tx) => {
    for (const statement of [
      sql`INSERT INTO projects (id, workspace_id, name, state, created_at, updated_at, last_activity_at)
        VALUES (${project}, ${userId}, 'P', 'active', 1, 1, 1)`,
      sql`INSERT INTO assets (id, workspace_id, project_id, kind, state, upload_length, upload_active_at, payment, created_at)
        VALUES (${asset}, ${userId}, ${project}, 'source', 'ready', 64, 1, 'none', 1)`,
      sql`INSERT INTO cuts (id, workspace_id, asset_id, state, script, options, created_at)
        VALUES (${cut}, ${userId}, ${asset}, 'completed', '', '{}', 1)`,
      sql`INSERT INTO renders (id, workspace_id, asset_id, state, output, resolved, request_hash, created_at)
        VALUES (${render}, ${userId}, ${asset}, 'failed', '{}', '{}', ${render}, 1)`,
      sql`INSERT INTO pipelines (id, workspace_id, state, created_at) VALUES (${pipeline}, ${userId}, 'running', 1)`,
      sql`INSERT INTO ledger (id, workspace_id, type, delta, created_at) VALUES (${newId()}, ${userId}, 'grant', 1, 1)`,
      sql`INSERT INTO notifications (id, user_id, type, payload, cause, mail_state, created_at)
        VALUES (${notification}, ${userId}, 'pipeline_failed', '{}', ${notification}, 'none', 1)`,
    ])
      await tx.run(statement);
  });
  return [
    "project.updated active",
    "asset.updated ready",
    "cut.updated completed",
    "render.updated failed",
    "pipeline.updated running",
    "credits.updated null",
    "notification.created null",
  ];
}

export const liveUpdateRows: DashboardRow[] = [
  [
    "Events: asset.updated, cut.updated, render.updated, pipeline.updated, project.updated, credits.updated, notification.created, each with { entity_id, state }",
    async (fixtures) => {
      const user = await fixtures.user();
      expect(await fixtures.getOutcome("GET", "/events", { as: user })).toBe("200");
      using stream = await followEvents(fixtures.server.url(), user);
      const expected = await createEvents(fixtures, user.userId);
      await until("all events", () => stream.received.length >= expected.length);
      expect(stream.states()).toEqual(expected);
      for (const { type, data } of stream.received) {
        expect(LIVE_TYPES).toContain(type);
        expect([type, listErrors(SCHEMAS[type] ?? change, data)]).toEqual([type, []]);
      }
    },
  ],
  [
    "GET /api/v1/pipelines/{id}/events: server-sent events with ids, Last-Event-ID resume; of another workspace 404",
    async (fixtures) => {
      const user = await fixtures.user();
      await createEvents(fixtures, user.userId);
      const { store } = fixtures.server.services();
      const [pipeline] = await store.read.all<{ id: string }>(
        sql`SELECT id FROM pipelines WHERE workspace_id = ${user.userId}`,
      );
      const path = `/pipelines/${pipeline!.id}/events`;
      expect(await fixtures.getOutcome("GET", path, { as: user })).toBe("200");
      expect(await fixtures.getOutcome("GET", path, { as: fixtures.bert })).toBe("404 not_found");
      expect(await fixtures.getOutcome("GET", `/pipelines/${NO_ID}/events`, { as: user })).toBe("404 not_found");
      const headers = { "Last-Event-ID": "0" };
      await using stream = await openStream(fixtures.server.url(), user, { path: `/api/v1${path}`, headers });
      expect(await stream.contains("data: ")).toMatch(
        /^retry: 1000\n\nid: 0\n\nid: \d+\nevent: pipeline\.updated\ndata: \{"entity_id":"[^"]+","state":"running"\}\n\n$/,
      );
    },
  ],
  [
    "reset when Last-Event-ID is not stored any more (7 days are). Last-Event-ID: 0 starts at the oldest stored event",
    async (fixtures) => {
      const user = await fixtures.user();
      const expected = await createEvents(fixtures, user.userId);
      for (const [lastEventId, states] of [
        ["0", expected],
        ["999999999", ["reset undefined"]],
        ["yesterday", ["reset undefined"]],
      ] as const) {
        using stream = await followEvents(fixtures.server.url(), user, { headers: { "Last-Event-ID": lastEventId } });
        await until("the first events", () => stream.received.length >= states.length);
        expect(stream.states().slice(-states.length)).toEqual([...states]);
      }
    },
  ],
  [
    "20 streams a user, then 429",
    async (fixtures) => {
      const user = await fixtures.user();
      const open = () => openStream(fixtures.server.url(), user);
      const streams = await Promise.all(Array.from({ length: 20 }, open));
      expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(await fixtures.getOutcome("GET", "/events", { as: user })).toBe("429 rate_limited");
      await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
    },
  ],
  [
    "A session acts in the workspace named by workspace_id in the query of event streams; to somebody who is not a member it is 404",
    async (fixtures) => {
      const { anna, bert, getOutcome } = fixtures;
      const { id } = await anna.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
      expect(await getOutcome("GET", `/events?workspace_id=${id}`)).toBe("200");
      expect(await getOutcome("GET", `/events?workspace_id=${id}`, { as: bert })).toBe("404 not_found");
      expect(await getOutcome("GET", "/events", { as: fixtures.server.nobody })).toBe("401 unauthenticated");
    },
  ],
  [
    "events do not count against the rate limit",
    async ({ call }) => expect((await call("GET", "/events")).headers.has("ratelimit")).toBe(false),
  ],
];
