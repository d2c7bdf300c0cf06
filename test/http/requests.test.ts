import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { sql } from "drizzle-orm";
import { PUBLIC_PREFIX, publicRoutes } from "../../src/http/public";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID, outcome, tryCall } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness();
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Every call of the family, with paths to resources that do not exist. */
const CALLS = [
  ...publicRoutes.map(({ method, path }) => [method, `${PUBLIC_PREFIX}${path.replace(/:\w+/g, NO_ID)}`] as const),
  ["PATCH", `/v1/uploads/${NO_ID}`] as const,
  ["DELETE", `/v1/uploads/${NO_ID}`] as const,
];

describe("without a valid key", () => {
  test.each(CALLS)("%s %s is unauthenticated before any other check", async (method, path) => {
    expect(await tryCall(server.nobody, method, path)).toBe("401 unauthenticated");
  });
});

describe("a path", () => {
  test.each(CALLS.filter(([, path]) => path.includes(NO_ID) && !path.includes("uploads")))(
    "%s %s of a resource that does not exist is a 404 before its body is read",
    async (method, path) => {
      expect(await tryCall(anna, method, path, method === "PATCH" ? { nonsense: 1 } : undefined)).toBe("404 not_found");
    },
  );

  test.each([
    ["GET", "/v1/projects/7", "path.project_id"],
    ["GET", "/v1/projects/%E0%A4%A", "path.project_id"],
    ["PATCH", "/v1/projects/7", "path.project_id"],
    ["DELETE", "/v1/projects/..%2F..%2Fetc", "path.project_id"],
    ["GET", "/v1/assets/%00", "path.asset_id"],
    ["DELETE", `/v1/assets/${NO_ID}0`, "path.asset_id"],
    ["GET", "/v1/cuts/null", "path.cut_id"],
    ["GET", "/v1/renders/undefined", "path.render_id"],
    ["POST", "/v1/renders/x/cancel", "path.render_id"],
  ])("%s %s with an invalid UUID names the parameter", async (method, path, field) => {
    expect(await tryCall(anna, method, path)).toBe(`422 validation_error ${field}`);
  });
});

describe("over a raw connection", () => {
  /** Sends these lines and returns the response. `answered` false: closes the connection without waiting for it. */
  async function say(lines: string[], body = "", answered = true): Promise<string> {
    const { hostname, port } = new URL(server.url());
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    const said = Promise.withResolvers<string>();
    let text = "";
    socket.on("data", (data) => {
      text += data;
      const [head, sent = ""] = text.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0);
      if (text.includes("\r\n\r\n") && Buffer.byteLength(sent) >= length) said.resolve(text);
    });
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
    if (!answered) socket.end(() => said.resolve(text));
    await said.promise;
    socket.destroy();
    return text;
  }
  const authorization = () => `Authorization: Bearer ${anna.key}`;

  test.each([
    ["a host of one letter", "HTTP/1.1", ["Host: x"]],
    ["a short host name", "HTTP/1.1", ["Host: nas"]],
    ["a host with a port", "HTTP/1.1", ["Host: a:1"]],
    ["an invalid host", "HTTP/1.1", ["Host: a b c"]],
    ["no host, as in HTTP/1.0", "HTTP/1.0", []],
  ])("%s is served", async (_, version, host) => {
    const read = await say([`GET /v1/users/me ${version}`, ...host, authorization()]);
    expect(read).toContain(" 200 ");
    expect(read).toContain(anna.userId);
    const make = ["Content-Type: application/json", "Content-Length: 16"];
    const made = await say([`POST /v1/projects ${version}`, ...host, authorization(), ...make], '{"name":"short"}');
    expect(made).toContain(" 201 ");
    expect(await say([`GET /nothing?limit=1 ${version}`, ...host])).toContain(" 404 ");
  });

  // Written by Bun's parser before there is a request: no hook of it can add headers.
  test.each([
    ["what is not HTTP", "GARBAGE", [], 400],
    ["a header name with a space", "GET /v1/projects HTTP/1.1", ["Host: x", "Bad Name: x"], 400],
    ["no host in HTTP/1.1", "GET /v1/projects HTTP/1.1", [], 400],
    ["an invalid length", "POST /v1/projects HTTP/1.1", ["Host: x", "Content-Length: x"], 400],
    ["a path above 16 KiB", `GET /v1/${"x".repeat(16_384)} HTTP/1.1`, ["Host: x"], 431],
    ["a header above 16 KiB", "GET /v1/projects HTTP/1.1", ["Host: x", `A: ${"x".repeat(16_384)}`], 431],
    [
      "200 headers",
      "GET /v1/projects HTTP/1.1",
      ["Host: x", ...Array.from({ length: 200 }, (_, n) => `A${n}: x`)],
      431,
    ],
    ["another version of HTTP", "GET /v1/projects HTTP/9.9", ["Host: x"], 505],
  ])("%s is refused without a body, X-Request-Id or a logged error", async (_, first, headers, status) => {
    const before = server.errors.length;
    expect(await say([first, ...headers])).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [\\w ]+\\r\\nConnection: close\\r\\n\\r\\n$`),
    );
    expect(server.errors.slice(before)).toEqual([]);
  });

  test("the document lists the responses without X-Request-Id", async () => {
    const { info } = await anna.must<{ info: { description: string } }>("GET", "/openapi.json");
    expect(info.description.replaceAll("\n", " ")).toContain(
      "Every response has `X-Request-Id`, except 400, 431 and 505 responses to requests that are not valid HTTP or whose path and headers exceed 16 KiB",
    );
  });

  test("a client that disconnects during its body is not logged as a server error", async () => {
    const before = server.errors.length;
    const lines = ["POST /v1/projects HTTP/1.1", "Host: offcut", authorization(), "Content-Type: application/json"];
    await say([...lines, "Content-Length: 500"], '{"na', false);
    await tryCall(anna, "GET", "/v1/users/me");
    expect(server.errors.slice(before)).toEqual([]);
  });
});

describe("every response", () => {
  test.each([
    ["a success", "GET", "/v1/projects"],
    ["an error", "GET", `/v1/projects/${NO_ID}`],
    ["an unknown path", "GET", "/nothing"],
    ["a health probe", "GET", "/healthz"],
    ["an invalid link", "GET", `/files/assets/${NO_ID}/source`],
    ["TUS discovery", "OPTIONS", `/v1/uploads/${NO_ID}`],
  ])("has a new request ID: %s", async (_, method, path) => {
    const replies = await Promise.all(
      [1, 2].map(() => anna.call(method, path, { headers: { "X-Request-Id": "mine" } })),
    );
    const ids = replies.map((reply) => reply.headers.get("x-request-id")!);
    for (const id of ids) expect(id).toMatch(UUID);
    expect(ids[0]).not.toBe(ids[1]);
    for (const reply of replies) expect(JSON.stringify(reply.body)).not.toContain(reply.headers.get("x-request-id")!);
  });
});

test("answers and errors are not stored by caches: they are for one user, and have signed links", async () => {
  const user = await server.user();
  for (const path of ["/v1/projects", "/api/v1/notifications", `/v1/projects/${NO_ID}`]) {
    const { headers } = await user.call("GET", path);
    expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
  }
});

test("an error repeats nothing that the client sent and shows no internals", async () => {
  const sent = "s3cret-value";
  const replies = [
    await anna.call("POST", "/v1/projects", { json: { name: [sent], [sent]: 1 } }),
    await anna.call("GET", `/v1/projects?state=${sent}&cursor=${sent}`),
  ];
  for (const reply of replies) {
    expect(reply.status).toBe(422);
    expect(JSON.stringify(reply.body)).not.toMatch(/typebox|sqlite|stack|node_modules/i);
  }
  expect(JSON.stringify(replies[1]!.body)).not.toContain(sent);
});

describe("the OpenAPI document", () => {
  test("describes every route of the family", async () => {
    const { body } = await server.nobody.call<{ info: { version: string }; paths: Record<string, object> }>(
      "GET",
      "/openapi.json",
    );
    expect(body.info.version).toBe("0.0.0");
    const described = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "ID")}`),
    );
    for (const [method, path] of CALLS) expect(described).toContain(`${method} ${path.replaceAll(NO_ID, "ID")}`);
  });

  test.each([
    ["/docs", "/openapi.json"],
    ["/docs/", "/openapi.json"],
    ["/docs/dashboard", "/api/v1/openapi.json"],
    ["/docs/keys", "/api-keys/openapi.json"],
    ["/docs/devices/", "/oauth/openapi.json"],
  ])("has a page without external resources (%s)", async (path, document) => {
    const page = await server.nobody.call<string>("GET", path);
    expect(page.status).toBe(200);
    expect(page.body).toContain(`data-url="${document}"`);
    const addresses = [...page.body.matchAll(/<(?:link|script|img)[^>]* (?:src|href)="([^"]+)"/g)].map((m) => m[1]!);
    expect(addresses).toContain("/docs/start.js");
    addresses.push(/ data-script="([^"]+)"/.exec(page.body)![1]!);
    // Swagger UI would send the address of the document to a validator on the internet.
    expect((await server.nobody.call<string>("GET", "/docs/start.js")).body).toContain('validatorUrl: "none"');
    for (const address of addresses.filter((one) => !one.startsWith("data:"))) {
      expect(address).toStartWith("/");
      expect((await server.nobody.call("GET", address)).status).toBe(200);
    }
  });

  test.each([
    ...["/docs/json", "/docs/openapi.json", "/swagger", "/swagger/json", "/v1/docs", "/v1/openapi.json"],
    ...["/api-keys/docs", "/oauth/docs", "/api/v1/docs", "/api/v1/swagger/json"],
  ])("is not at a path that its generator uses (%s)", async (path) => {
    const { status, body } = await server.nobody.call<object>("GET", path);
    expect([status, Object.keys(body)[0]]).toEqual([404, path.startsWith("/api/v1/") ? "detail" : "error"]);
  });
});

describe("the rate limit", () => {
  test("counts by user, reports the remaining requests and ignores transfer URLs", async () => {
    await using limited = await harness({ RATE_LIMIT: "3" });
    const [first, second] = [await limited.user(), await limited.user()];
    const replies = [];
    for (let n = 0; n < 4; n++) replies.push(await first.call("GET", "/v1/users/me"));
    expect(replies.map(outcome)).toEqual(["200", "200", "200", "429 rate_limited"]);
    expect(replies.map((r) => r.headers.get("ratelimit-remaining"))).toEqual(["2", "1", "0", "0"]);
    expect(replies[3]!.headers.get("ratelimit")).toMatch(/^"user";r=0;t=\d+$/);
    expect(Number(replies[3]!.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await tryCall(second, "GET", "/v1/users/me")).toBe("200");
    expect(await tryCall(first, "DELETE", "/v1/projects/no-uuid")).toBe("429 rate_limited");
    for (let n = 0; n < 6; n++) {
      expect((await first.call("HEAD", `/v1/uploads/${NO_ID}`, { headers: first.tus() })).status).toBe(404);
    }
    limited.advance(20_000);
    expect(await tryCall(first, "GET", "/v1/users/me")).toBe("200");
    const missing = await second.call("GET", `/v1/projects/${NO_ID}`);
    expect([outcome(missing), missing.headers.get("ratelimit-policy")]).toEqual(["404 not_found", '"user";q=3;w=60']);
  });
});

describe("another origin", () => {
  test("is refused unless the settings allow it", async () => {
    const reply = await anna.call("GET", "/v1/users/me", { headers: { Origin: "https://evil.test" } });
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
    const asked = { Origin: "https://evil.test", "Access-Control-Request-Method": "PATCH" };
    expect((await anna.call("OPTIONS", `/v1/uploads/${NO_ID}`, { headers: asked })).status).toBe(403);
  });
});

test("an expired key is refused", async () => {
  const user = await server.user();
  const { store } = server.services();
  const end = Date.now() + 60_000;
  await store.write((tx) => tx.run(sql`UPDATE api_keys SET expires_at = ${end} WHERE user_id = ${user.userId}`));
  expect(await tryCall(user, "GET", "/v1/users/me")).toBe("200");
  await store.write((tx) => tx.run(sql`UPDATE api_keys SET expires_at = ${Date.now()} WHERE user_id = ${user.userId}`));
  expect(await tryCall(user, "GET", "/v1/users/me")).toBe("401 unauthenticated");
});

test("a piece that a closed browser waited for is not an error", async () => {
  const { id } = await anna.ready(await wav(2));
  const { pieces } = server.services();
  const { read } = pieces;
  const asked = Promise.withResolvers<AbortSignal>();
  pieces.read = (_, { signal }) => {
    asked.resolve(signal);
    return new Promise((__, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  try {
    const leaving = new AbortController();
    const headers = { Authorization: `Bearer ${anna.key}` };
    const url = `${server.url()}/api/v1/assets/${id}/pieces/audio?from=0&to=1`;
    const got = fetch(url, { headers, signal: leaving.signal }).catch((error) => error.name);
    const signal = await asked.promise;
    leaving.abort();
    expect(await got).toBe("AbortError");
    await until("the server to see it", () => signal.aborted);
    await server.idle();
    expect(server.errors).toEqual([]);
  } finally {
    pieces.read = read;
  }
});
