/**
 * Secrets in the wrong place: every route with a body, or a query, of every family. No response and no line of the log
 * repeats them.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { createFamilies } from "../../src/http/app";
import type { Family } from "../../src/http/family";
import { createAdmin, startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { NO_ID } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

const SECRET = "my-very-secret-horse";

let server: Harness;
let session: Client;
let families: Family[];
beforeAll(async () => {
  server = await harness({ TRUSTED_PROXIES: "127.0.0.1", SIGNUP: "open" });
  session = await startSession(server, await createAdmin(server));
  families = createFamilies(server.services());
});
afterAll(() => server[Symbol.asyncDispose]());

/** Names under which people send secrets to calls that take none. */
const NAMES = ["password", "Passwort", "current_password", "token", "client_secret", "api_key", "code"];

/** Lists bodies with the secret in a place where it does not belong. */
function* wrongBodies(schema: TSchema): Generator<unknown> {
  yield SECRET;
  yield [SECRET];
  for (const name of NAMES) if (!(name in schema.properties)) yield { [name]: SECRET };
  for (const [name, property] of Object.entries(schema.properties as Record<string, TSchema>)) {
    if (!property.writeOnly) continue;
    yield { [name]: [SECRET] };
    yield { [name]: { [SECRET]: SECRET } };
    yield { [name]: `${SECRET}${"x".repeat(2_000)}` };
    yield { [`${name}s`]: SECRET };
  }
}

test("neither the responses nor the log repeat a secret that was sent in the wrong field", async () => {
  const echoed: string[] = [];
  let calls = 0;
  const send = async (method: string, path: string, body: string | null, type: string) => {
    calls++;
    const headers: Record<string, string> = { "X-Forwarded-For": `2001:db8:${calls.toString(16)}::1` };
    if (body !== null) headers["Content-Type"] = type;
    const client = path.startsWith("/v1") ? await keyClient() : session;
    const reply = await client.call(method, path, { ...(body === null ? {} : { body }), headers });
    const shown = JSON.stringify([reply.body, ...reply.headers]);
    if (shown.includes("secret-horse")) echoed.push(`${method} ${path} ${body?.slice(0, 80)}: ${shown.slice(0, 300)}`);
  };
  let key: Client | null = null;
  const keyClient = async () => {
    key ??= await server.user();
    return key;
  };
  for (const { prefix, routes } of families) {
    for (const route of routes) {
      const path = `${prefix}${route.path.replace(/:\w+/g, NO_ID)}`;
      if (route.body) {
        for (const body of wrongBodies(route.body))
          await send(route.method, path, JSON.stringify(body), "application/json");
        await send(route.method, path, `{"password":"${SECRET}`, "application/json");
        await send(
          route.method,
          path,
          new URLSearchParams({ password: SECRET }).toString(),
          "application/x-www-form-urlencoded",
        );
      }
      if (route.query) for (const name of NAMES) await send(route.method, `${path}?${name}=${SECRET}`, null, "");
    }
  }
  expect(calls).toBeGreaterThan(100);
  expect(echoed).toEqual([]);
  expect(server.log.filter((line) => line.includes("secret-horse"))).toEqual([]);
});

test("neither does the refusal of a credential", async () => {
  for (const headers of [
    { Authorization: `Bearer ${SECRET}` },
    { Authorization: `Basic ${SECRET}` },
    { Authorization: `Bearer sk_${SECRET}` },
    { Cookie: `service_session=${SECRET}` },
  ]) {
    const reply = await server.nobody.call("POST", "/api/v1/projects", { json: { name: "P" }, headers });
    expect(reply.status).toBe(401);
    expect(JSON.stringify([reply.body, ...reply.headers])).not.toContain("secret-horse");
  }
  expect(server.log.filter((line) => line.includes("secret-horse"))).toEqual([]);
});
