/** The device authorization grant, with a real client of OAuth. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import * as oauth from "openid-client";
import { KEY_SCOPES } from "../../src/domain/access";
import { countApiKeys } from "../../src/store/users";
import { disableUser } from "../../src/work/access/command-accounts";
import { insertNewKey } from "../../src/work/identity/api-keys";
import { emailOf, listAuditLog, startSession } from "./accounts";
import { type Client, createClient, type Reply } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { tryCall } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let client: oauth.Configuration;
beforeAll(async () => {
  server = await harness();
  anna = await startSession(server, await server.user());
  client = await connect();
});
afterAll(() => server[Symbol.asyncDispose]());

const CLIENT_ID = "Premiere panel";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Discovers the server as a device does. */
const connect = (): Promise<oauth.Configuration> =>
  oauth.discovery(new URL(server.url()), CLIENT_ID, undefined, oauth.None(), {
    algorithm: "oauth2",
    execute: [oauth.allowInsecureRequests],
  });

// Each call leaves the hour in which an address may start 20 grants.
const start = (scope?: string): Promise<oauth.DeviceAuthorizationResponse> => {
  server.advance(200_000);
  return oauth.initiateDeviceAuthorization(client, scope === undefined ? {} : { scope });
};

type OAuthBody = { error?: string; error_description?: string; access_token?: string; scope?: string };
const post = (path: string, parameters: Record<string, string>, by: Client = server.nobody) =>
  by.call<OAuthBody & Record<string, unknown>>("POST", `/oauth/${path}`, {
    body: new URLSearchParams(parameters).toString(),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
const poll = (device_code: string, client_id = CLIENT_ID) =>
  post("token", { grant_type: GRANT, device_code, client_id });
const answer = ({ status, body }: Reply<OAuthBody>): string => `${status} ${body.error ?? "ok"}`;
const decide = (decision: "approve" | "deny", user_code: string, by: Client = anna) =>
  post(`device/${decision}`, { user_code }, by);

test("a client finds the endpoints, and gets a key that its user approved", async () => {
  const started = await start("read");
  expect(started).toMatchObject({ expires_in: 600, interval: 5 });
  expect(started.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  expect(started.verification_uri).toBe(`${server.url()}/oauth/device`);
  expect(started.verification_uri_complete).toBe(`${server.url()}/oauth/device?user_code=${started.user_code}`);

  const polling = oauth.pollDeviceAuthorizationGrant(client, { ...started, interval: 0.05 });
  expect(await post("device", { user_code: started.user_code.toLowerCase() }, anna)).toMatchObject({
    status: 200,
    body: { user_code: started.user_code, client_id: CLIENT_ID, scope: "read", address: "127.0.0.1" },
  });
  expect(answer(await decide("approve", started.user_code))).toBe("200 ok");
  server.advance(60_000);
  const tokens = await polling;
  expect(tokens.access_token).toMatch(/^sk_/);
  expect(tokens).toMatchObject({ token_type: "bearer", scope: "read" });

  const device = createClient(server.url, tokens.access_token, anna.userId);
  expect(await tryCall(device, "GET", "/v1/users/me")).toStartWith("200");
  expect(await tryCall(device, "POST", "/v1/projects", { name: "a" })).toBe("403 forbidden");
  const { items } = await anna.must<{ items: { name: string; scopes: string[] }[] }>("GET", "/api-keys");
  expect(items[0]).toMatchObject({ name: CLIENT_ID, scopes: ["read"], expires_at: null });

  await oauth.tokenRevocation(client, tokens.access_token);
  expect(await tryCall(device, "GET", "/v1/users/me")).toBe("401 unauthenticated");
  await oauth.tokenRevocation(client, tokens.access_token);
  const entries = (await listAuditLog(server)).filter(({ actor_id }) => actor_id === anna.userId);
  const actions = entries.map(({ action, actor_id }) => [action, actor_id]);
  expect(actions).toEqual([
    ["device.approved", anna.userId],
    ["api_key.created", anna.userId],
    ["api_key.deleted", anna.userId],
  ]);
});

test("without a scope the key may do everything", async () => {
  const { device_code, user_code } = await start();
  await decide("approve", user_code);
  const { body, headers } = await poll(device_code);
  expect(body).toMatchObject({ token_type: "Bearer", scope: "read write" });
  expect(headers.get("cache-control")).toBe("no-store");
  const device = createClient(server.url, body.access_token!, anna.userId);
  expect(await tryCall(device, "POST", "/v1/projects", { name: "a" })).toBe("201");
});

test("a device waits, is slowed down when it polls too fast, and may then continue", async () => {
  const { device_code, user_code } = await start();
  expect(answer(await poll(device_code))).toBe("400 authorization_pending");
  expect(answer(await poll(device_code))).toBe("400 slow_down");
  server.advance(6_000);
  expect(answer(await poll(device_code))).toBe("400 slow_down");
  server.advance(15_000);
  expect(answer(await poll(device_code))).toBe("400 authorization_pending");
  await decide("approve", user_code);
  expect(answer(await poll(device_code))).toBe("200 ok");
});

test("a client sees the denial", async () => {
  const started = await start();
  expect(answer(await decide("deny", started.user_code))).toBe("200 ok");
  const polling = oauth.pollDeviceAuthorizationGrant(client, { ...started, interval: 0.05 });
  expect(await polling.catch((error) => error.error)).toBe("access_denied");
  expect(answer(await decide("approve", started.user_code))).toBe("404 not_found");
});

test("a code expires, approved or not", async () => {
  const [first, second] = [await start(), await start()];
  await decide("approve", first.user_code);
  server.advance(601_000);
  expect(answer(await poll(first.device_code))).toBe("400 expired_token");
  expect(answer(await poll(second.device_code))).toBe("400 expired_token");
  expect(answer(await decide("approve", second.user_code))).toBe("404 not_found");
});

test("a code yields one key, also to two polls at once, and after two approvals at once", async () => {
  const { device_code, user_code } = await start();
  const approvals = await Promise.all([decide("approve", user_code), decide("approve", user_code)]);
  expect(approvals.map(answer).sort()).toEqual(["200 ok", "404 not_found"]);
  const polls = await Promise.all([poll(device_code), poll(device_code), poll(device_code)]);
  expect(polls.map(answer).sort()).toEqual(["200 ok", "400 invalid_grant", "400 invalid_grant"]);
  expect(answer(await poll(device_code))).toBe("400 invalid_grant");
});

test("the key belongs to the user who approved, even when two users decide at once", async () => {
  const ben = await startSession(server, await server.user());
  const { device_code, user_code } = await start();
  const [byAnna, byBen] = await Promise.all([decide("deny", user_code), decide("approve", user_code, ben)]);
  expect([byAnna, byBen].map(answer).sort()).toEqual(["200 ok", "404 not_found"]);
  const { body } = await poll(device_code);
  if (byAnna.status === 200) expect(body.error).toBe("access_denied");
  else
    expect(await createClient(server.url, body.access_token!, "").must("GET", "/v1/users/me")).toMatchObject({
      id: ben.userId,
    });
});

test("nobody gets a key of an account that was disabled after the approval", async () => {
  const user = await server.user();
  const { device_code, user_code } = await start();
  await decide("approve", user_code, await startSession(server, user));
  await disableUser(server.services(), { email: emailOf(user), disabled: true });
  expect(answer(await poll(device_code))).toBe("400 access_denied");
  await disableUser(server.services(), { email: emailOf(user), disabled: false });
  expect(answer(await poll(device_code))).toBe("400 access_denied");
});

test("nobody gets more keys than an account may have, also when they were created after the approval", async () => {
  const user = await server.user();
  const { device_code, user_code } = await start();
  expect((await decide("approve", user_code, await startSession(server, user))).status).toBe(200);
  const { store } = server.services();
  const request = { userId: user.userId, workspaceId: user.userId, name: "k", scopes: KEY_SCOPES, expiresAt: null };
  await store.write(async (tx) => {
    for (let n = 1; n < 100; n++) await insertNewKey(tx, request, n);
  });
  expect(answer(await poll(device_code))).toBe("400 access_denied");
  expect(await countApiKeys(store.read, user.userId)).toBe(100);
});

describe("refused:", () => {
  test("another client's device code", async () => {
    const { device_code, user_code } = await start();
    await decide("approve", user_code);
    expect(answer(await poll(device_code, "another"))).toBe("400 invalid_grant");
    expect(answer(await poll("x".repeat(43)))).toBe("400 invalid_grant");
    expect(answer(await poll(user_code))).toBe("400 invalid_grant");
  });

  test.each<[string, string, Record<string, string>, string]>([
    ["no grant type", "token", {}, "400 invalid_request"],
    ["another grant", "token", { grant_type: "password", username: "a" }, "400 unsupported_grant_type"],
    ["no device code", "token", { grant_type: GRANT, client_id: "a" }, "400 invalid_request"],
    ["no client", "token", { grant_type: GRANT, device_code: "a" }, "400 invalid_request"],
    [
      "a long device code",
      "token",
      { grant_type: GRANT, client_id: "a", device_code: "a".repeat(5_000) },
      "400 invalid_request",
    ],
    ["no client to start with", "device/code", {}, "400 invalid_request"],
    ["an empty client", "device/code", { client_id: "" }, "400 invalid_request"],
    ["a long client", "device/code", { client_id: "a".repeat(65) }, "400 invalid_request"],
    ["a client that breaks lines", "device/code", { client_id: "a\nb" }, "400 invalid_request"],
    ["a client that turns text around", "device/code", { client_id: "a\u202eb" }, "400 invalid_request"],
    ["an unknown scope", "device/code", { client_id: "a", scope: "read admin" }, "400 invalid_scope"],
    ["no token", "revoke", {}, "400 invalid_request"],
    ["a huge body", "revoke", { token: "a".repeat(70_000) }, "413 payload_too_large"],
  ])("%s", async (_, path, parameters, expected) => {
    server.advance(200_000);
    const reply = await post(path, parameters);
    expect(answer(reply)).toBe(expected);
    expect(reply.body.error_description).toBeString();
  });

  test("a repeated parameter, and a body that is not a form", async () => {
    const call = (body: string, type: string) =>
      server.nobody.call<OAuthBody>("POST", "/oauth/token", { body, headers: { "Content-Type": type } });
    const form = "application/x-www-form-urlencoded";
    expect(answer(await call(`grant_type=${GRANT}&client_id=a&client_id=b`, form))).toBe("400 invalid_request");
    expect(answer(await call("{}", "application/json"))).toBe("415 unsupported_media_type");
    expect(await server.nobody.call("GET", "/oauth/token")).toMatchObject({
      status: 404,
      body: { error: "not_found" },
    });
  });

  test("an approval without a session, with an API key, or from another site", async () => {
    const { user_code, device_code } = await start();
    const owner = await server.user();
    for (const path of ["device", "device/approve", "device/deny"]) {
      expect(answer(await post(path, { user_code }))).toBe("401 unauthenticated");
      expect(answer(await post(path, { user_code }, owner))).toBe("403 forbidden");
      const foreign = await server.nobody.call<OAuthBody>("POST", `/oauth/${path}`, {
        body: `user_code=${user_code}`,
        headers: {
          "Content-Type": "application/x-www-form-urlencoded",
          cookie: `service_session=${anna.key}`,
          origin: "https://evil.example",
        },
      });
      expect(answer(foreign)).toBe("403 forbidden");
    }
    expect(answer(await poll(device_code))).toBe("400 authorization_pending");
  });

  test("an approval with an old session", async () => {
    await using own = await harness();
    const old = await startSession(own, await own.user());
    own.advance(12 * 3600_000 + 1_000);
    const form = (path: string, body: string, by: Client) =>
      by.call<OAuthBody & { user_code: string }>("POST", `/oauth/${path}`, {
        body,
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
      });
    const { user_code } = (await form("device/code", "client_id=a", own.nobody)).body;
    expect((await form("device", `user_code=${user_code}`, old)).status).toBe(200);
    expect(await form("device/approve", `user_code=${user_code}`, old)).toMatchObject({
      status: 403,
      body: { error: "forbidden", reason: "session_too_old" },
    });
    expect((await form("device/deny", `user_code=${user_code}`, old)).status).toBe(200);
  });
});

test("codes cannot be guessed: 10 wrong ones of a user, or 30 of an address, end it for 15 minutes", async () => {
  await using own = await harness();
  const guess = (by: Client, user_code = "BBBB-BBBB") =>
    by.call<OAuthBody>("POST", "/oauth/device", {
      body: `user_code=${user_code}`,
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
  const eve = await own.user();
  for (let session = 0; session < 2; session++) {
    const client = await startSession(own, eve);
    for (let i = 0; i < 5; i++) expect((await guess(client)).status).toBe(404);
  }
  const refused = await guess(await startSession(own, eve));
  expect(answer(refused)).toBe("429 rate_limited");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  for (let user = 0; user < 2; user++) {
    const client = await startSession(own, await own.user());
    for (let i = 0; i < 10; i++) expect((await guess(client, i % 2 ? "x" : undefined)).status).toBe(404);
  }
  const other = await startSession(own, await own.user());
  expect((await guess(other)).status).toBe(429);
  own.advance(15 * 60_000 + 1_000);
  expect((await guess(other)).status).toBe(404);
});

test("an address starts 20 grants an hour", async () => {
  await using own = await harness();
  const request = () =>
    own.nobody.call<OAuthBody>("POST", "/oauth/device/code", {
      body: "client_id=a",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
  const statuses = await Promise.all(Array.from({ length: 21 }, async () => (await request()).status));
  expect(statuses.sort()).toEqual([...Array(20).fill(200), 429]);
  const refused = await request();
  expect(answer(refused)).toBe("429 rate_limited");
  expect(refused.headers.get("retry-after")).toBeString();
});

test("no code and no key is stored in clear", async () => {
  const { device_code, user_code } = await start();
  await decide("approve", user_code);
  const { access_token: key } = (await poll(device_code)).body;
  const { store } = server.services();
  const copy = `${server.dataDir}/copy.db`;
  await store.copyTo(copy);
  const bytes = await Bun.file(copy).text();
  for (const secret of [device_code, user_code, user_code.replace("-", ""), key!]) expect(bytes).not.toContain(secret);
});

test("the OpenAPI document describes every call with form bodies", async () => {
  type Operation = { requestBody: { content: object }; security?: unknown[] };
  const { paths } = await server.nobody.must<{ paths: Record<string, { post: Operation }> }>(
    "GET",
    "/oauth/openapi.json",
  );
  expect(Object.keys(paths)).toEqual([
    "/oauth/device/code",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/device",
    "/oauth/device/approve",
    "/oauth/device/deny",
  ]);
  for (const { post: operation } of Object.values(paths))
    expect(Object.keys(operation.requestBody.content)).toEqual(["application/x-www-form-urlencoded"]);
  expect(paths["/oauth/token"]!.post.security).toEqual([]);
});
