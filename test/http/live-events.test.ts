/** Live updates over HTTP: their recipients, the resumption of streams, and their end. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { insertNotification } from "../../src/store/notifications";
import { insertWorkspace } from "../../src/store/workspaces";
import { createApiKey } from "../../src/work/access/command-accounts";
import { sweep } from "../../src/work/recovery";
import { addMember } from "../unit/store/test-store";
import { until } from "../until";
import { emailOf, startSession } from "./accounts";
import type { Client } from "./client";
import { followEvents, openStream } from "./event-source";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
});
afterAll(() => server[Symbol.asyncDispose]());

const follow = (user: Pick<Client, "key">, options?: Parameters<typeof followEvents>[2]) =>
  followEvents(server.url(), user, options);
const open = (user: Pick<Client, "key">, options?: Parameters<typeof openStream>[2]) =>
  openStream(server.url(), user, options);

/** Creates a project, whose event everybody in the workspace has when it is there. */
async function createMarker(user: Client, headers: Record<string, string> = {}): Promise<string> {
  return (await user.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "M" }, headers })).id;
}

async function pipelineOf(subjectId: string): Promise<string> {
  const rows = await server
    .services()
    .store.read.all<{ id: string }>(sql`SELECT pipeline_id AS id FROM steps WHERE subject_id = ${subjectId}`);
  return rows[0]!.id;
}

/** Returns the ID of the newest event of a user. */
async function readLastId(user: Client): Promise<number> {
  const { store } = server.services();
  const rows = await store.read.all<{ id: number }>(
    sql`SELECT max(id) AS id FROM live_events WHERE workspace_id = ${user.userId}`,
  );
  return rows[0]!.id;
}

test("a stream reports what happens to an asset, its cut and its render, in order, with the progress", async () => {
  const user = await server.user();
  using stream = await follow(user);
  const asset = await user.ready(await wav(2));
  const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  const render = await user.renderEnded((await user.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
  await user.call("DELETE", `/v1/assets/${asset.id}`);
  const marker = await createMarker(user);
  await until("the last event", () => stream.received.some(({ data }) => data.entity_id === marker));
  const statesOf = (id: string, type: string) => {
    const states = stream.received.filter((event) => event.type === type && event.data.entity_id === id);
    return states.map(({ data }) => data.state).filter((state, n, all) => state !== all[n - 1]);
  };
  expect(statesOf(asset.id, "asset.updated")).toEqual(["pending_upload", "processing", "ready", "deleted"]);
  expect(statesOf(cut.id, "cut.updated")).toEqual(["pending", "processing", "completed", "deleted"]);
  expect(statesOf(render.id, "render.updated")).toEqual(["pending", "processing", "completed", "deleted"]);
  expect(statesOf(user.userId, "credits.updated")).toEqual([null]);
  const progress = stream.received.filter(({ type }) => type === "progress");
  expect(progress.length).toBeGreaterThan(0);
  for (const { data } of progress) {
    expect(Object.keys(data)).toEqual(["entity_id", "progress"]);
    expect(data.progress).toBeWithin(0, 1.000001);
  }
  const ids = stream.received.filter(({ type }) => type !== "progress").map(({ id }) => Number(id));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  for (const { type, data } of stream.received.filter((event) => event.type !== "progress"))
    expect([type, Object.keys(data)]).toEqual([type, ["entity_id", "state"]]);
});

test("a stream that continues from the profile's position has all that happens after it", async () => {
  const user = await server.user();
  await createMarker(user);
  const { headers } = await user.call("GET", "/api/v1/users/me");
  const position = headers.get("last-event-id");
  const marker = await createMarker(user);
  using stream = await follow(user, { path: `/api/v1/events?last_event_id=${position}` });
  await until("the event", () => stream.received.length > 0);
  expect(stream.received.map(({ data }) => data.entity_id)).toEqual([marker]);
});

test("a stream has the headers of one, and begins with the time to connect again and its position", async () => {
  const user = await server.user();
  await using stream = await open(user);
  expect(stream.status).toBe(200);
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  expect(stream.headers.get("cache-control")).toBe("no-store");
  expect(stream.headers.get("x-accel-buffering")).toBe("no");
  expect(stream.headers.has("ratelimit")).toBe(false);
  const id = await readLastId(user);
  expect(await stream.contains("\n\nid: ")).toBe(`retry: 1000\n\nid: ${id}\n\n`);
  const project = await createMarker(user);
  expect(await stream.contains(project)).toEndWith(
    `id: ${id + 1}\nevent: project.updated\ndata: {"entity_id":"${project}","state":"active"}\n\n`,
  );
});

test("streams do not count against the rate limit, and HEAD opens none", async () => {
  await using limited = await harness({ RATE_LIMIT: "5" });
  const user = await limited.user();
  for (let n = 0; n < 25; n++) {
    const reply = await user.call("HEAD", "/api/v1/events");
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  }
  await using stream = await openStream(limited.url(), user);
  expect(stream.status).toBe(200);
});

test("a stream resumes after Last-Event-ID, from the header or the query, and from the start with 0", async () => {
  const user = await server.user();
  const first = await createMarker(user);
  const id = await readLastId(user);
  const missed = [await createMarker(user), await createMarker(user)];
  for (const options of [
    { headers: { "Last-Event-ID": String(id) } },
    { path: `/api/v1/events?last_event_id=${id}` },
    { path: "/api/v1/events?last_event_id=0", headers: { "Last-Event-ID": String(id) } },
  ]) {
    await using stream = await open(user, options);
    const text = await stream.contains(missed[1]!);
    expect(text).toStartWith(`retry: 1000\n\nid: ${id}\n\nid: `);
    expect([...text.matchAll(/"entity_id":"([^"]+)"/g)].map((match) => match[1])).toEqual(missed);
  }
  await using all = await open(user, { headers: { "Last-Event-ID": "0" } });
  const text = await all.contains(missed[1]!);
  expect(text).toContain(first);
  expect(text).not.toContain("event: reset");
  await using now = await open(user, { headers: { "Last-Event-ID": "" } });
  expect(await now.contains("\n\nid: ")).not.toContain("event:");
});

test.each(["x", "-1", "1.5", "1e3", "999999999", "9".repeat(30), " "])(
  "Last-Event-ID %j is answered with a reset",
  async (lastEventId) => {
    const user = await server.user();
    await using stream = await open(user, { path: `/api/v1/events?last_event_id=${encodeURIComponent(lastEventId)}` });
    const text = await stream.contains("data: ");
    expect(text).toMatch(/^retry: 1000\n\nid: \d+\nevent: reset\ndata: \{\}\n\n$/);
    await createMarker(user);
    const id = await readLastId(user);
    expect(Number(/id: (\d+)/.exec(text)![1])).toBeWithin(1, id);
    expect(await stream.contains(`id: ${id}\n`)).toContain(`id: ${id}\nevent: project.updated\n`);
  },
);

test("events stay in their workspace, and those of a user with the user", async () => {
  const [owner, viewer, stranger] = await Promise.all([server.user(), server.user(), server.user()]);
  const { store, now } = server.services();
  const workspace = newId();
  await store.write(async (tx) => {
    await insertWorkspace(tx, { id: workspace, name: "Studio", created_by: owner.userId, created_at: 1 });
    await addMember(tx, workspace, owner.userId, "owner");
    await addMember(tx, workspace, viewer.userId, "viewer");
  });
  const inWorkspace = { "Offcut-Workspace": workspace };
  const ownerSession = await startSession(server, owner);
  const viewerSession = await startSession(server, viewer);
  using seenByViewer = await follow(viewerSession, { headers: inWorkspace });
  using seenInQuery = await follow(viewerSession, { path: `/api/v1/events?workspace_id=${workspace}` });
  using seenAtHome = await follow(viewerSession);
  using seenByStranger = await follow(stranger);
  const project = await createMarker(ownerSession, inWorkspace);
  await store.write((tx) =>
    insertNotification(tx, {
      id: newId(),
      user_id: viewer.userId,
      workspace_id: workspace,
      type: "asset_pending_payment",
      payload: {},
      cause: "c",
      mail_state: "none",
      created_at: now(),
    } as never),
  );
  await createMarker(stranger);
  await until("all events", () => seenByStranger.received.length === 1 && seenAtHome.received.length === 1);
  const expected = ["project.updated active", "notification.created null"];
  await until("the viewer's events", () => seenByViewer.received.length === 2 && seenInQuery.received.length === 2);
  expect(seenByViewer.states()).toEqual(expected);
  expect(seenInQuery.states()).toEqual(expected);
  expect(seenByViewer.received[0]!.data.entity_id).toBe(project);
  expect(seenAtHome.states()).toEqual(["notification.created null"]);
  expect(seenByStranger.states()).toEqual(["project.updated active"]);
  const refused = await stranger.call("GET", "/api/v1/events", { headers: inWorkspace });
  expect(refused.status).toBe(404);
});

test("a pipeline's stream has its events only, and is 404 for others", async () => {
  const [user, other] = await Promise.all([server.user(), server.user()]);
  const asset = await user.ready(await wav(2));
  const cut = await user.startCut({ asset_id: asset.id });
  const path = `/api/v1/pipelines/${await pipelineOf(cut.id)}/events`;
  using stream = await follow(user, { path, headers: { "Last-Event-ID": "0" } });
  await user.cutEnded(cut.id);
  await createMarker(user);
  const ends = ["pipeline.updated completed", "cut.updated completed"];
  await until("the end of the pipeline", () => ends.every((end) => stream.states().includes(end)));
  const types = new Set(stream.received.map(({ type }) => type));
  expect([...types].filter((type) => type !== "progress").toSorted()).toEqual(["cut.updated", "pipeline.updated"]);
  expect((await other.call("GET", path)).status).toBe(404);
  expect((await user.call("GET", `/api/v1/pipelines/${NO_ID}/events`)).status).toBe(404);
  expect((await user.call("GET", "/api/v1/pipelines/x/events")).status).toBe(422);
  expect(stream.refusals).toEqual([]);
});

test("a user has at most 20 streams, of all kinds together", async () => {
  const [user, other] = await Promise.all([server.user(), server.user()]);
  const asset = await user.ready(await wav(1));
  const path = `/api/v1/pipelines/${await pipelineOf(asset.id)}/events`;
  const streams = await Promise.all(Array.from({ length: 20 }, (_, n) => open(user, n % 2 ? { path } : {})));
  expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200));
  const refused = await user.call<{ code: string }>("GET", "/api/v1/events");
  expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await user.call("GET", path)).status).toBe(429);
  expect((await other.call("GET", "/api/v1/events")).status).toBe(200);
  await streams[0]![Symbol.asyncDispose]();
  await until("a free place", async () => (await user.call("GET", "/api/v1/events")).status === 200);
  await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
});

/** Events that end a stream, and the status with which the session is then rejected. */
const endings: [string, 401 | 403, (user: Client, own: Client & { key: string }) => Promise<unknown>][] = [
  ["logout", 401, (_, own) => own.must("POST", "/api/v1/auth/logout")],
  [
    "the end of the session",
    401,
    (user) => server.services().store.write((tx) => tx.run(sql`DELETE FROM sessions WHERE user_id = ${user.userId}`)),
  ],
  [
    "an account that is disabled",
    401,
    (user) =>
      server.services().store.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${user.userId}`)),
  ],
  [
    "an account that is being deleted",
    403,
    (user) =>
      server.services().store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${user.userId}`)),
  ],
];

test.each(endings)("a stream ends with %s, and its session is refused with %d", async (_, refusal, end) => {
  const user = await server.user();
  const session = await startSession(server, user);
  await using stream = await open(session);
  await stream.contains("id: ");
  await end(user, session);
  await stream.ended;
  expect((await session.call("GET", "/api/v1/events")).status).toBe(refusal);
});

test("a stream ends with its key, with the role and with the membership in its workspace, and with the role on the server; others go on", async () => {
  const user = await server.user();
  const { store } = server.services();
  const workspace = newId();
  await store.write(async (tx) => {
    await insertWorkspace(tx, { id: workspace, name: "Studio", created_by: user.userId, created_at: 1 });
    await addMember(tx, workspace, user.userId, "viewer");
  });
  const { id, key } = await createApiKey(server.services(), { email: emailOf(user), name: "k", scopes: ["read"] });
  const session = await startSession(server, user);
  await using ofKey = await open({ key });
  await using own = await open(session);
  await store.write((tx) => tx.run(sql`DELETE FROM api_keys WHERE id = ${id}`));
  await ofKey.ended;
  await using asViewer = await open(session, { headers: { "Offcut-Workspace": workspace } });
  await store.write((tx) =>
    tx.run(sql`UPDATE workspace_members SET role = 'editor' WHERE workspace_id = ${workspace}`),
  );
  await asViewer.ended;
  await using ofWorkspace = await open(session, { headers: { "Offcut-Workspace": workspace } });
  await store.write((tx) => tx.run(sql`DELETE FROM workspace_members WHERE workspace_id = ${workspace}`));
  await ofWorkspace.ended;
  await own.contains(await createMarker(session));
  await store.write((tx) => tx.run(sql`UPDATE users SET is_admin = 1 WHERE id = ${user.userId}`));
  await own.ended;
});

test("a session that is only used by an open stream ends after its time", async () => {
  await using fresh = await harness();
  const user = await fresh.user();
  const session = await startSession(fresh, user);
  await using stream = await openStream(fresh.url(), session);
  fresh.advance(29 * 24 * 3600 * 1000);
  // A change of accounts makes the server check all streams, as each comment does for its own.
  await fresh.user();
  await stream.contains(await createMarker(user));
  fresh.advance(2 * 24 * 3600 * 1000);
  await fresh.user();
  await stream.ended;
});

test("events are deleted after 7 days, and no ID is used again", async () => {
  await using fresh = await harness();
  const user = await fresh.user();
  const { store } = fresh.services();
  const old = Date.now() - 8 * 24 * 3600 * 1000;
  await store.write((tx) =>
    tx.run(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
      INSERT INTO live_events (workspace_id, type, entity_id, created_at) SELECT ${user.userId}, 'project.updated', 'e', ${old} FROM n`),
  );
  const read = async () =>
    (
      await store.read.all<{ n: number; least: number; most: number }>(
        sql`SELECT count(*) AS n, min(id) AS least, max(id) AS most FROM live_events`,
      )
    )[0]!;
  const before = await read();
  await createMarker(user);
  await sweep(fresh.services());
  expect(await read()).toEqual({ n: 1, least: before.most + 1, most: before.most + 1 });
  const startOf = async (lastEventId: number) => {
    await using stream = await openStream(fresh.url(), user, { headers: { "Last-Event-ID": String(lastEventId) } });
    const text = await stream.contains("id: ");
    return text.includes("event: reset") ? "reset" : "resumed";
  };
  expect(await startOf(before.most)).toBe("reset");
  expect(await startOf(before.most + 1)).toBe("resumed");
  fresh.advance(8 * 24 * 3600 * 1000);
  await sweep(fresh.services());
  expect((await read()).n).toBe(0);
  expect(await startOf(before.most)).toBe("reset");
  expect(await startOf(before.most + 1)).toBe("resumed");
  await store.write((tx) => tx.run(sql`UPDATE projects SET name = 'again'`));
  expect((await read()).least).toBe(before.most + 2);
});

test("open streams do not delay the stop of the server", async () => {
  await using fresh = await harness();
  const user = await fresh.user();
  const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(fresh.url(), user)));
  const started = performance.now();
  await fresh.restart();
  expect(performance.now() - started).toBeLessThan(5_000);
  await Promise.all(streams.map(({ ended }) => ended));
});
