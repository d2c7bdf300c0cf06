/** `/metrics`: its access, its format, and the counters that change. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { version } from "../../package.json";
import { getControlSocketPath } from "../../src/data-folder";
import { KEY_SCOPES, type KeyScope } from "../../src/domain/access";
import { GUIDES } from "../../src/http/guide";
import { newId } from "../../src/lib/ids";
import { insertMember, insertWorkspace } from "../../src/store/workspaces";
import { insertNewKey } from "../../src/work/identity/api-keys";
import { parseScrape, type Scrape } from "../prometheus-text";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import { type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";

import { wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let admin: Client;
let anna: Client;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  admin = await createOperator(server);
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Creates an administrator with an account key. */
async function createOperator(on: Harness): Promise<Client> {
  const { userId } = await createAdmin(on);
  const { store, now } = on.services();
  const request = { userId, workspaceId: userId, name: "scrape", scopes: [...KEY_SCOPES], expiresAt: null };
  const { key } = await store.write((tx) => insertNewKey(tx, request, now()));
  return createClient(on.url, key, userId);
}

type KeyOptions = { scopes?: KeyScope[]; isDevice?: boolean; isShared?: boolean; isExpired?: boolean };

/** Creates a client with another key of the administrator. */
async function createKey({
  scopes = ["read", "write"],
  isDevice = false,
  isShared,
  isExpired,
}: KeyOptions): Promise<Client> {
  const { store, now } = server.services();
  const { userId } = admin;
  const created = await store.write(async (tx) => {
    const workspaceId = isShared ? newId() : userId;
    if (isShared) {
      await insertWorkspace(tx, { id: workspaceId, name: "Team", is_personal: false, created_at: now() });
      await insertMember(tx, { workspace_id: workspaceId, user_id: userId, role: "owner", created_at: now() });
    }
    const expiresAt = isExpired ? now() - 1 : null;
    return insertNewKey(tx, { userId, workspaceId, name: "k", scopes, isDevice, expiresAt }, now());
  });
  return createClient(server.url, created.key, userId);
}

const scrape = async (): Promise<Scrape> => parseScrape(await admin.must<string>("GET", "/metrics"));

describe("a scrape", () => {
  test.each<[string, () => Client | Promise<Client>, number, string | null]>([
    ["an account key of an administrator", () => admin, 200, null],
    ["nothing", () => server.nobody, 401, "unauthenticated"],
    ["an unknown key", () => createClient(server.url, "sk_unknown", ""), 401, "unauthenticated"],
    ["a session of an administrator", () => startSession(server, admin), 401, "unauthenticated"],
    ["an expired key of an administrator", () => createKey({ isExpired: true }), 401, "unauthenticated"],
    ["a key of a user", () => anna, 403, "forbidden"],
    ["an administrator's key of a shared workspace", () => createKey({ isShared: true }), 403, "forbidden"],
    ["a key that an administrator's device got", () => createKey({ isDevice: true }), 403, "forbidden"],
    ["an administrator's key that may only read", () => createKey({ scopes: ["read"] }), 403, "forbidden"],
  ])("with %s", async (_, create, status, code) => {
    const client = await create();
    for (const headers of [{}, { Accept: "text/html" }]) {
      const reply = await client.call("GET", "/metrics", { headers });
      expect(reply.status).toBe(status);
      if (code !== null) expect(reply.body).toEqual({ error: { code, message: expect.any(String) } });
      else expect(reply.headers.get("content-type")).toBe(TYPE);
      expect(reply.headers.get("cache-control")).toBe("no-store");
    }
    const head = await client.call("HEAD", "/metrics");
    expect([head.status, head.body]).toEqual([status, ""]);
  });

  test.each(["POST", "PUT", "DELETE"])("is not sent with %s", async (method) => {
    expect(await admin.call(method, "/metrics")).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  });

  test("over the control socket needs no key", async () => {
    const unix = getControlSocketPath(server.dataDir);
    const response = await fetch("http://offcut/metrics", { unix });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, TYPE]);
    expect(parseScrape(await response.text()).values.get("offcut_ready")).toBe(1);
  });

  test("has no rate limit", async () => {
    await using limited = await harness({ RATE_LIMIT: "2" });
    const operator = await createOperator(limited);
    for (let call = 0; call < 5; call++) {
      const { status, headers } = await operator.call("GET", "/metrics");
      expect([status, headers.get("ratelimit-limit")]).toEqual([200, null]);
    }
  });
});

test.each([
  ["offcut_build_info", "gauge", [`{version="${version}"}`]],
  ["process_start_time_seconds", "gauge", [""]],
  ["process_cpu_seconds_total", "counter", [""]],
  ["process_resident_memory_bytes", "gauge", [""]],
  ["offcut_ready", "gauge", [""]],
  ["offcut_ready_check", "gauge", ['{check="database"}', '{check="storage"}', '{check="ffmpeg"}']],
  ["offcut_http_requests_total", "counter", ['{family="other",method="GET",status="2xx"}']],
  ["offcut_http_request_duration_seconds", "histogram", []],
  ["offcut_jobs_ended_total", "counter", ['{job="render",outcome="failed"}']],
  ["offcut_jobs", "gauge", ['{job="cut",state="waiting"}', '{job="cut",state="running"}']],
  ["offcut_job_slots", "gauge", ['{job="prepare"}']],
  ["offcut_job_oldest_wait_seconds", "gauge", ['{job="preview"}']],
  ["offcut_event_streams", "gauge", [""]],
  ["offcut_disk_free_bytes", "gauge", [""]],
  ["offcut_disk_size_bytes", "gauge", [""]],
  ["offcut_disk_reserve_bytes", "gauge", [""]],
  ["offcut_workers", "gauge", ['{state="online"}', '{state="offline"}']],
  ["offcut_mails_pending", "gauge", [""]],
  ["offcut_webhook_deliveries", "gauge", ['{state="pending"}', '{state="failed"}']],
  ["offcut_uploads_open", "gauge", [""]],
  ["offcut_storage_bytes", "gauge", ['{kind="source"}', '{kind="derived"}', '{kind="render"}', '{kind="text"}']],
  ["offcut_database_bytes", "gauge", [""]],
  ["offcut_backup_last_success_timestamp_seconds", "gauge", []],
])("%s is a %s with help", async (name, type, labels) => {
  await scrape();
  const { types, helps, values } = await scrape();
  expect([types.get(name), helps.get(name)]).toEqual([type, expect.stringMatching(/\.$/)]);
  expect(labels.filter((one) => !values.has(`${name}${one}`))).toEqual([]);
});

test("every metric is in the table of the guide or begins with process_", async () => {
  const { text } = GUIDES.administration;
  const missing = [...(await scrape()).types.keys()].filter((name) => !text.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

describe("a counter moves", () => {
  const count = (at: Scrape, series: string) => at.values.get(series) ?? 0;
  const requests = (labels: string) => `offcut_http_requests_total{${labels}}`;

  test.each([
    ["GET", "/v1/projects", 'family="/v1",method="GET",status="2xx"'],
    ["GET", "/v1/nothing", 'family="/v1",method="GET",status="4xx"'],
    ["POST", "/api/v1/projects", 'family="/api/v1",method="POST",status="4xx"'],
    ["GET", "/api-keys", 'family="/api-keys",method="GET",status="4xx"'],
    ["GET", "/files/assets/x/source", 'family="/files",method="GET",status="4xx"'],
    ["HEAD", "/nothing", 'family="other",method="HEAD",status="4xx"'],
    ["PROPFIND", "/healthz", 'family="other",method="other",status="4xx"'],
  ])("with a request: %s %s", async (method, path, labels) => {
    const before = await scrape();
    await anna.call(method, path);
    const after = await scrape();
    expect(count(after, requests(labels)) - count(before, requests(labels))).toBe(1);
    const family = labels.split(",")[0]!;
    const seconds = `offcut_http_request_duration_seconds_count{${family}}`;
    expect(count(after, seconds)).toBeGreaterThan(count(before, seconds));
  });

  test("with a job: it waits, runs and ends", async () => {
    const before = await scrape();
    const hold = server.speech.hold("analyze");
    await anna.upload(await wav(2));
    const running = 'offcut_jobs{job="prepare",state="running"}';
    await until("the start of the job", async () => count(await scrape(), running) === 1);
    hold.release();
    await server.idle();
    await anna.upload(new Uint8Array(100).fill(7));
    await server.idle();
    const after = await scrape();
    const ended = (outcome: string) => `offcut_jobs_ended_total{job="prepare",outcome="${outcome}"}`;
    const moved = ["completed", "failed", "cancelled"].map(
      (one) => count(after, ended(one)) - count(before, ended(one)),
    );
    expect([count(after, running), moved]).toEqual([0, [1, 1, 0]]);
  });
});

test("the age of the oldest waiting job does not include a job that is due later", async () => {
  await using stopped = await harness();
  const { userId } = await stopped.user();
  const { runner, readMetrics, store, now } = stopped.services();
  await runner.stop();
  await store.write(async (tx) => {
    await tx.run(
      sql`INSERT INTO pipelines (id, workspace_id, state, created_at) VALUES ('p', ${userId}, 'pending', 1)`,
    );
    for (const [id, name, delayMs] of [
      ["due", "render", -90_000],
      ["recent", "render", -1_000],
      ["later", "cut", 3_600_000],
    ] as const)
      await tx.run(sql`INSERT INTO steps (id, pipeline_id, workspace_id, step_order, processor_name, state, run_after, created_at)
        VALUES (${id}, 'p', ${userId}, 0, ${name}, 'pending', ${now() + delayMs}, 1)`);
  });
  const { values } = parseScrape(await readMetrics());
  expect(values.get('offcut_jobs{job="render",state="waiting"}')).toBe(2);
  expect(values.get('offcut_job_oldest_wait_seconds{job="render"}')).toBeWithin(90, 120);
  expect(values.get('offcut_jobs{job="cut",state="waiting"}')).toBe(1);
  expect(values.get('offcut_job_oldest_wait_seconds{job="cut"}')).toBe(0);
});

test("metrics of the database have no samples while it does not respond, and the others remain", async () => {
  const services = server.services();
  const { isAlive } = services.store;
  services.store.isAlive = async () => false;
  try {
    const { values, types } = parseScrape(await services.readMetrics());
    expect([values.get("offcut_ready"), values.get('offcut_ready_check{check="database"}')]).toEqual([0, 0]);
    expect([types.has("offcut_database_bytes"), values.has("offcut_database_bytes")]).toEqual([true, false]);
    expect(values.has("offcut_disk_free_bytes")).toBeTrue();
  } finally {
    services.store.isAlive = isAlive;
  }
});

test("no label names a user, an ID, a path or a file", async () => {
  await anna.call("GET", `/v1/projects/${newId()}?secret=1`);
  const text = await admin.must<string>("GET", "/metrics");
  for (const part of [anna.userId, admin.userId, "secret", "example.test", "projects", ".wav", server.dataDir])
    expect(text).not.toContain(part);
});
