/** Rows of the contract: authentication, errors, limits of the family, the account. */
import { expect } from "bun:test";
import { sql } from "drizzle-orm";
import { NO_ID, outcome } from "../../http/outcome";
import type { ErrorBody, LedgerEntry, Paged } from "../../http/resources";
import { createFixtures, limitRow, type Row } from "./fixtures";

const ORIGIN = "https://studio.example";

export const requestRows: Row[] = [
  [
    "401 unauthenticated: no token, no sk_ key, an unknown key, a session token; transfer URLs too",
    async ({ send, server, anna }) => {
      const key = `sk_${"x".repeat(40)}`;
      const wrong = ["Bearer x", `Bearer ${key}`, key, "Basic eDp4", "Bearer ", "Bearer sk_a sk_b"];
      for (const token of [null, ...wrong, "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x"]) {
        const headers: Record<string, string> = token === null ? {} : { Authorization: token };
        const reply = await send(server.nobody, "GET", "/v1/projects", { headers });
        expect([token, outcome(reply)]).toEqual([token, "401 unauthenticated"]);
        expect(reply.headers.get("www-authenticate")).toBe("Bearer");
        const head = await send(server.nobody, "HEAD", `/v1/uploads/${NO_ID}`, {
          headers: { ...anna.tus(), ...headers },
        });
        expect([head.status, String(head.body)]).toEqual([401, ""]);
      }
    },
  ],
  [
    "403 forbidden in the account's grace period",
    async ({ server, getOutcome }) => {
      const user = await server.user();
      await server
        .services()
        .store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${user.userId}`));
      expect(await getOutcome("GET", "/v1/projects", undefined, user)).toBe("403 forbidden");
    },
  ],
  [
    "an unknown path, and a known one with another method: 404 not_found in the error shape",
    async ({ call }) => {
      for (const [method, path] of [
        ["GET", "/v1/nothing"],
        ["GET", "/v1"],
        ["GET", "/v2/projects"],
        ["PUT", "/v1/projects"],
        ["DELETE", "/v1/projects"],
        ["PATCH", "/v1/cuts"],
        ["PATCH", `/v1/assets/${NO_ID}`],
        ["POST", `/v1/assets/${NO_ID}`],
        ["GET", `/v1/uploads/${NO_ID}`],
        ["POST", "/v1/uploads"],
        ["GET", `/v1/renders/${NO_ID}/cancel`],
        ["GET", "/v1/projects/a/b/c"],
        ["GET", "//v1//projects"],
      ] as const) {
        const reply = await call<ErrorBody>(method, path);
        expect([method, path, outcome(reply)]).toEqual([method, path, "404 not_found"]);
        expect(reply.body.error.message).toMatch(/^.+$/);
      }
    },
  ],
  [
    "bodies: not JSON 400, another Content-Type 415, over 1 MiB 413, failing fields 422 with the name of each",
    async ({ send, anna, call }) => {
      const json = "application/json";
      const unsupported = "415 unsupported_media_type";
      const bodies: [BodyInit | undefined, string | null, string][] = [
        [undefined, null, "400 bad_request"],
        ["", json, "400 bad_request"],
        ["{", json, "400 bad_request"],
        ["{name: 'x'}", json, "400 bad_request"],
        ['{"name":"x"}', `${json}; charset=utf-8`, "201"],
        ['{"name":"x"}', "text/plain", unsupported],
        ["name=x", "application/x-www-form-urlencoded", unsupported],
        [JSON.stringify({ name: "x".repeat(1_048_577) }), json, "413 payload_too_large"],
      ];
      for (const [body, type, expected] of bodies) {
        const headers: Record<string, string> = type === null ? {} : { "Content-Type": type };
        const found = outcome(await send(anna, "POST", "/v1/projects", { body, headers }));
        expect([type, found]).toEqual([type, expected]);
      }
      const refused = await call<{ error: { fields: { field: string; message: string }[] } }>("POST", "/v1/assets", {
        size_bytes: 0,
        x: 1,
      });
      expect(refused.body.error.fields.map((one) => one.field).toSorted()).toEqual([
        "body.project_id",
        "body.size_bytes",
        "body.x",
      ]);
    },
  ],
  [
    "field is a dotted path starting body., query. or path.; header. for a header, body.__root__ for a body that is no object",
    async ({ send, anna, call }) => {
      type Failure = { error: { fields: { field: string; message: string }[] } };
      const headers = { "Content-Type": "application/json" };
      const fields = async (method: string, path: string, body: string) =>
        (await send<Failure>(anna, method, path, { body, headers })).body.error.fields;
      for (const body of ["[]", "null", "5", '"x"', "true"])
        expect(await fields("POST", "/v1/projects", body)).toEqual([
          { field: "body.__root__", message: "must be an object" },
        ]);
      const nul = "must not contain the character U+0000";
      expect(await fields("POST", "/v1/projects", '{"name":"a\\u0000","b":["\\u0000"]}')).toEqual([
        { field: "body.name", message: nul },
        { field: "body.b.0", message: nul },
      ]);
      expect(await fields("POST", "/v1/projects", '"\\u0000"')).toEqual([{ field: "body.__root__", message: nul }]);
      expect(await fields("POST", "/v1/webhook-endpoints", '{"\\u0000":1}')).toEqual([
        { field: "body.\\u0000", message: nul },
      ]);
      const key = { "Idempotency-Key": "fields" };
      await send(anna, "POST", "/v1/projects", { json: { name: "a" }, headers: key });
      const other = await send<Failure>(anna, "POST", "/v1/projects", { json: { name: "b" }, headers: key });
      expect(other.body.error.fields.map(({ field }) => field)).toEqual(["header.Idempotency-Key"]);
      const read = await call<Failure>("GET", "/v1/projects?limit=x");
      expect(read.body.error.fields.map(({ field }) => field)).toEqual(["query.limit"]);
    },
  ],
  [
    "order of checks: authentication, rate limit, existence, body shape, state, credits",
    async ({ send, server, getOutcome, anna }) => {
      const bad = { body: "{", headers: { "Content-Type": "application/json" } };
      expect(outcome(await send(server.nobody, "PATCH", `/v1/projects/${NO_ID}`, bad))).toBe("401 unauthenticated");
      expect(outcome(await send(anna, "PATCH", `/v1/projects/${NO_ID}`, bad))).toBe("404 not_found");
      const poor = await server.user(0);
      const { id } = await poor.project();
      expect(await getOutcome("POST", "/v1/assets", { project_id: id, size_bytes: 0 }, poor)).toBe(
        "422 validation_error body.size_bytes",
      );
      await poor.must("PATCH", `/v1/projects/${id}`, { json: { state: "archived" } });
      expect(await getOutcome("POST", "/v1/assets", { project_id: id, size_bytes: 100 }, poor)).toBe("409 conflict");
    },
  ],
  [
    "Idempotency-Key: at most 255 characters",
    async ({ send, anna }) => {
      const make = async (key: string) =>
        outcome(await send(anna, "POST", "/v1/projects", { json: { name: "a" }, headers: { "Idempotency-Key": key } }));
      expect(await make("x".repeat(256))).toBe("400 bad_request");
      expect(await make("x".repeat(255))).toBe("201");
    },
  ],
  [
    "rate limit: 600 per minute and user, burst 100; RateLimit headers; 429 with a correct Retry-After; not on transfer URLs",
    async () => {
      await using own = await createFixtures({ RATE_LIMIT: "600" });
      const user = await own.server.user();
      const call = (as = user) => own.send(as, "GET", "/v1/users/me", {});
      const first = await call();
      expect(first.headers.get("ratelimit-policy")).toBe('"user";q=600;w=60');
      expect(first.headers.get("ratelimit")).toMatch(/^"user";r=99;t=\d+$/);
      let refused = await call();
      for (let n = 0; n < 300 && refused.status === 200; n++) refused = await call();
      expect(outcome(refused)).toBe("429 rate_limited");
      expect(refused.headers.get("ratelimit")).toStartWith('"user";r=0');
      expect((await call(own.bert)).status).toBe(200);
      const head = await own.send(user, "HEAD", `/v1/uploads/${NO_ID}`, { headers: user.tus() });
      expect(head.status).toBe(404);
      own.server.advance(Number(refused.headers.get("retry-after")) * 1_000);
      expect((await call()).status).toBe(200);
    },
  ],
  [
    "CORS: none unless the settings name the origin; preflight, exposed TUS headers, also on errors",
    async ({ server, anna }) => {
      const preflight = (origin: string) =>
        server.nobody.call("OPTIONS", "/v1/assets", {
          headers: {
            Origin: origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
          },
        });
      const allowed = await preflight(ORIGIN);
      expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([204, ORIGIN]);
      expect(allowed.headers.get("access-control-allow-headers")).toContain("Upload-Offset");
      expect(allowed.headers.get("access-control-allow-methods")).toContain("PATCH");
      expect((await preflight("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
      const evil = { headers: { Origin: "https://evil.example" } };
      const discovery = await anna.call("OPTIONS", `/v1/uploads/${NO_ID}`, evil);
      expect(discovery.headers.get("access-control-allow-origin")).toBeNull();
      for (const path of ["/v1/projects", `/v1/projects/${NO_ID}`]) {
        const read = await anna.call("GET", path, { headers: { Origin: ORIGIN } });
        expect(read.headers.get("access-control-allow-origin")).toBe(ORIGIN);
        expect(read.headers.get("access-control-expose-headers")).toMatch(/Location.*Upload-Offset.*Retry-After/);
        expect(read.headers.get("access-control-expose-headers")).toContain("X-Request-Id");
        const other = await anna.call("GET", path, { headers: { Origin: "https://evil.example" } });
        expect(other.headers.get("access-control-allow-origin")).toBeNull();
      }
    },
  ],
  [
    "GET /v1/users/me: the User of the public family",
    async ({ call, anna }) => {
      const { status, body } = await call("GET", "/v1/users/me");
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: anna.userId, name: null, deleted_at: null });
    },
  ],
  limitRow("/v1/credits/history", 200, 50),
  [
    "GET /v1/credits/history: newest first, each once, asset_id on consume_asset, only the user's own",
    async ({ ids, call, server, bert }) => {
      const user = await server.user(3);
      for (const credits of [5, 7]) await server.grant(user, credits);
      const { body } = await call<Paged<LedgerEntry>>("GET", "/v1/credits/history", undefined, user);
      expect(body.items.map((entry) => [entry.type, entry.delta])).toEqual([
        ["grant", 7],
        ["grant", 5],
        ["grant", 3],
      ]);
      expect(await ids("/v1/credits/history?limit=1", user)).toEqual(body.items.map((entry) => entry.id));
      expect(
        (await ids("/v1/credits/history?limit=200", bert)).filter((id) => body.items.some((entry) => entry.id === id)),
      ).toEqual([]);
    },
  ],
  [
    "ids are UUIDv7, times ISO 8601 UTC with milliseconds, X-Request-Id a new UUID",
    async ({ call }) => {
      const [one, two] = [
        await call("POST", "/v1/projects", { name: "a" }),
        await call("POST", "/v1/projects", { name: "a" }),
      ];
      for (const { body } of [one, two]) {
        expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
      expect(one.headers.get("x-request-id")).not.toBe(two.headers.get("x-request-id"));
    },
  ],
  [
    "health: /healthz, /readyz; the document carries version 0.0.0",
    async ({ server }) => {
      expect((await server.nobody.call("GET", "/healthz")).status).toBe(200);
      expect(await server.nobody.call("GET", "/readyz")).toMatchObject({
        status: 200,
        body: { ready: true, database: true, storage: true, ffmpeg: true },
      });
      expect((await server.nobody.call("GET", "/openapi.json")).body).toMatchObject({ info: { version: "0.0.0" } });
    },
  ],
];
