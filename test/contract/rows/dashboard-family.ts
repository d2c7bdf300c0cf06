/** Rows of the contract: the dashboard family itself. */
import { expect } from "bun:test";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf, startSession } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import { NO_ID } from "../../http/outcome";
import { startOwn } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

export const familyRows: DashboardRow[] = [
  [
    "/api/v1 takes a session JWT, the cookie or an API key; there its error shapes are the dashboard's",
    async ({ server, anna, call }) => {
      const { key } = await createApiKey(server.services(), { email: emailOf(anna), name: "k" });
      const cookie = { Cookie: `service_session=${anna.key}` };
      expect((await call("GET", "/users/me")).status).toBe(200);
      expect((await call("GET", "/users/me", { as: server.nobody, headers: cookie })).status).toBe(200);
      expect((await call("GET", "/users/me", { as: createClient(server.url, key, anna.userId) })).status).toBe(200);
    },
  ],
  [
    "/v1 takes API keys only (a session token there is 401)",
    async ({ anna }) => expect((await anna.call("GET", "/v1/projects")).status).toBe(401),
  ],
  [
    "A missing or invalid token gives 401 unauthenticated, with WWW-Authenticate: Bearer",
    async ({ server, call, getOutcome }) => {
      for (const token of [null, "x", "sk_x", "a.b.c"]) {
        const as = createClient(server.url, token, "");
        expect(await getOutcome("GET", "/projects", { as })).toBe("401 unauthenticated");
        expect((await call("GET", "/projects", { as })).headers.get("www-authenticate")).toBe("Bearer");
      }
    },
  ],
  [
    "An unknown path, or a known path with another method, is 404 not_found in its family's error shape",
    async ({ getOutcome }) => {
      for (const [method, path] of [
        ["GET", "/nothing"],
        ["GET", "/auth/login"],
        ["PUT", "/users/me"],
        ["PUT", "/sessions"],
      ] as const)
        expect(await getOutcome(method, path)).toBe("404 not_found");
    },
  ],
  [
    "A path id that is no UUID is 422; a resource that exists for someone else is 404",
    async ({ server, bert, call, getOutcome }) => {
      expect(await getOutcome("DELETE", "/sessions/x")).toBe("422 validation_error path.session_id");
      const { body } = await call<{ items: { id: string }[] }>("GET", "/sessions", { as: bert });
      expect(await getOutcome("DELETE", `/sessions/${body.items[0]!.id}`)).toBe("404 not_found");
      expect(await getOutcome("DELETE", `/sessions/${NO_ID}`)).toBe("404 not_found");
      expect(server.errors).toEqual([]);
    },
  ],
  [
    "Validation: { detail: [{ loc, msg, type, input, ctx }] } with pydantic v2's type names; unknown body properties are 422",
    async ({ call }) => {
      const json = { first_name: "a".repeat(121), last_name: 5, color: "red" };
      const { status, body } = await call<{ detail: { loc: string[] }[] }>("PATCH", "/users/me", { json });
      expect([status, body.detail.toSorted((a, b) => a.loc[1]!.localeCompare(b.loc[1]!))]).toEqual([
        422,
        [
          // Not echoed, because the body may have a password: it could be one under a misspelled name.
          { loc: ["body", "color"], msg: expect.any(String), type: "extra_forbidden", input: null, ctx: {} },
          {
            loc: ["body", "first_name"],
            msg: expect.any(String),
            type: "string_too_long",
            input: "a".repeat(121),
            ctx: { max_length: 120 },
          },
          { loc: ["body", "last_name"], msg: expect.any(String), type: "string_type", input: 5, ctx: {} },
        ] as never,
      ]);
    },
  ],
  [
    "A body that is not JSON is 400; another Content-Type 415; above 64 KiB 413; deeper than 64 levels 400",
    async ({ getOutcome }) => {
      const send = (body: string, type = "application/json") =>
        getOutcome("PATCH", "/users/me", { body, headers: { "Content-Type": type } });
      expect(await send("{")).toBe("400 bad_request");
      expect(await send("{}", "text/plain")).toBe("415 unsupported_media_type");
      expect(await send(JSON.stringify({ first_name: "x".repeat(65_536) }))).toBe("413 payload_too_large");
      expect(await send(`${"[".repeat(65)}${"]".repeat(65)}`)).toBe("400 bad_request");
    },
  ],
  [
    "detail holds at most 50 entries",
    async ({ call }) => {
      const json = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`f${i}`, i]));
      const { body } = await call<{ detail: unknown[] }>("PATCH", "/users/me", { json });
      expect(body.detail).toHaveLength(50);
    },
  ],
  [
    "Order of checks: authentication, rate, existence of the path's resource, body shape",
    async ({ server, getOutcome }) => {
      const path = `/projects/${NO_ID}`;
      expect(await getOutcome("PATCH", path, { json: { x: 1 }, as: server.nobody })).toBe("401 unauthenticated");
      expect(await getOutcome("PATCH", path, { json: { x: 1 } })).toBe("404 not_found");
    },
  ],
  [
    "GET /api/v1/projects?ids= -> only those of the workspace's projects, in any case; 422 for anything that is not an ID",
    async ({ anna, bert, call, getOutcome }) => {
      const create = (as: Client, name: string) =>
        as.must<{ id: string }>("POST", "/api/v1/projects", { json: { name } });
      const [first, second, foreign] = [await create(anna, "a"), await create(anna, "b"), await create(bert, "c")];
      await create(anna, "d");
      const ids = [second.id.toUpperCase(), first.id, foreign.id, NO_ID].join();
      const { body } = await call<{ items: { id: string }[] }>("GET", `/projects?sort=created_at&ids=${ids}`);
      expect(body.items.map(({ id }) => id)).toEqual([first.id, second.id]);
      for (const refused of ["", "x", `${first.id},`])
        expect(await getOutcome("GET", `/projects?ids=${refused}`)).toBe("422 validation_error query.ids");
    },
  ],
  [
    "Rate limit: token bucket a user, shared by both families; 429 with Retry-After; transfer URLs do not count",
    async () => {
      await using server = await startOwn({ RATE_LIMIT: "3" });
      const user = await server.user();
      const session = await startSession(server, user);
      const calls: [Client, string][] = [
        [user, "/v1/projects"],
        [session, "/api/v1/projects"],
        [user, "/api/v1/projects"],
      ];
      for (const [client, path] of calls) expect((await client.call("GET", path)).status).toBe(200);
      for (const [client, path] of calls) {
        const { status, headers } = await client.call("GET", path);
        expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true]);
        expect(headers.get("ratelimit")).toStartWith('"user";r=0');
      }
      const upload = await session.call("HEAD", `/api/v1/uploads/${NO_ID}`, { headers: { "Tus-Resumable": "1.0.0" } });
      expect(upload.status).toBe(404);
    },
  ],
  [
    "OpenAPI: info.version 0.0.0; /api/v1/openapi.json the dashboard family",
    async ({ server }) => {
      const document = await server.nobody.must<{ info: object; paths: object }>("GET", "/api/v1/openapi.json");
      expect(document.info).toMatchObject({ version: "0.0.0" });
      const paths = Object.keys(document.paths);
      expect(paths.every((path) => path.startsWith("/api/v1/"))).toBe(true);
      for (const path of ["/api/v1/auth/login", "/api/v1/sessions/{session_id}", "/api/v1/cuts/{cut_id}/edits"])
        expect(paths).toContain(path);
    },
  ],
];
