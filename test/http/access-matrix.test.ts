/**
 * Every endpoint of every family, called by everybody: without a credential, with one that has ended, in each role,
 * with each kind of credential. The expected outcome follows from the declaration of the route
 * (`access-matrix/expected.ts`). A route without an entry fails.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { createFamilies } from "../../src/http/app";
import type { Family, FamilyHost } from "../../src/http/family";
import { DEFAULT_ACCESS } from "../../src/work/access/access";
import { findResponseSchema } from "../contract/response-checks";
import { dashboardFailure, dashboardValidation, failure } from "../contract/schemas";
import { ACCOUNT_ENTRIES, KEY_ENTRIES } from "./access-matrix/account-entries";
import { ADMIN_ENTRIES } from "./access-matrix/admin-entries";
import { BILLING_ENTRIES } from "./access-matrix/billing-entries";
import { EDIT_ENTRIES } from "./access-matrix/edit-entries";
import { CREATION_ENTRIES, type Entry, RESOURCE_ENTRIES, UPLOAD_ENTRIES } from "./access-matrix/entries";
import { type Endpoint, getExpected } from "./access-matrix/expected";
import { createMatrixFixtures, type Fixtures } from "./access-matrix/fixtures";
import { LIVE_ENTRIES } from "./access-matrix/live-entries";
import { MEDIA_ENTRIES } from "./access-matrix/media-entries";
import { OAUTH_ENTRIES, OIDC_ENTRIES } from "./access-matrix/oauth-entries";
import { PIPELINE_ENTRIES } from "./access-matrix/pipeline-entries";
import type { Caller } from "./access-matrix/principals";
import type { Reply } from "./client";
import { PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

/** The entries of each family by its prefix. A family without entries fails. */
const ENTRIES: Record<string, Record<string, Entry>> = {
  "/v1": { ...RESOURCE_ENTRIES, ...UPLOAD_ENTRIES },
  "/api/v1": {
    ...RESOURCE_ENTRIES,
    ...UPLOAD_ENTRIES,
    ...CREATION_ENTRIES,
    ...PIPELINE_ENTRIES,
    ...ACCOUNT_ENTRIES,
    ...ADMIN_ENTRIES,
    ...BILLING_ENTRIES,
    ...OIDC_ENTRIES,
    ...LIVE_ENTRIES,
    ...MEDIA_ENTRIES,
    ...EDIT_ENTRIES,
  },
  "/api-keys": KEY_ENTRIES,
  "/oauth": OAUTH_ENTRIES,
};

const OPEN = { ...DEFAULT_ACCESS, authentication: "none" as const };

let fixtures: Fixtures;
let families: Family[];
beforeAll(async () => {
  fixtures = await createMatrixFixtures();
  families = createFamilies(fixtures.server.services());
});
afterAll(() => fixtures[Symbol.asyncDispose]());

type Described = Endpoint & Pick<Family["routes"][number], "responses">;

/** Lists the endpoints that a family mounts. The TUS endpoints have the default access of a route. */
function listEndpoints(family: Family): Described[] {
  const { prefix } = family;
  // Nothing is called, so no services are needed.
  return family.mount({} as FamilyHost).map(({ method, path: mounted }) => {
    const path = mounted.slice(prefix.length);
    const route = family.routes.find((one) => one.method === method && one.path === path);
    // A signed link is its own credential.
    const access = route?.access ?? (method === "OPTIONS" || method === "PUT" ? OPEN : DEFAULT_ACCESS);
    return { prefix, method, path, access, responses: route?.responses ?? {} };
  });
}

type Body = { error?: { code: string; reason?: string } | string; code?: string; reason?: string; detail?: unknown };

/** Formats a response as `201`, `404 not_found` or `403 forbidden session_too_old`. */
function format({ status, body }: Reply<Body>): string {
  if (status < 400) return String(status);
  const { code, reason } = typeof body.error === "string" ? { ...body, code: body.error } : (body.error ?? body);
  return [status, code ?? "validation_error", reason].filter(Boolean).join(" ");
}

/** RFC 6749, section 5.2. */
const oauthFailure = Type.Object(
  { error: Type.String(), error_description: Type.String(), reason: Type.Optional(Type.String()) },
  { additionalProperties: false },
);

/** The error bodies of families with a shape of their own. */
const FAILURES: Record<string, (body: Body) => TSchema> = {
  "/api/v1": ({ detail }) => (Array.isArray(detail) ? dashboardValidation : dashboardFailure),
  "/oauth": () => oauthFailure,
};

/** Lists the problems of a response's body. */
function listBodyErrors({ prefix, method, responses }: Described, reply: Reply<Body>): string[] {
  const { status, body } = reply;
  if (method === "HEAD") return body === ("" as never) ? [] : ["a body"];
  if (status >= 400) {
    const schema = FAILURES[prefix]?.(body) ?? failure;
    return [...Value.Errors(schema, body)].map((error) => `${error.path}: ${error.message}`);
  }
  const schema = responses[status] && findResponseSchema(responses[status]);
  if (!schema) return (body as unknown) === "" || status === 200 ? [] : ["a body"];
  return [...Value.Errors(schema, body)].map((error) => `${error.path}: ${error.message}`);
}

async function call(endpoint: Described, entry: Entry, caller: Caller, isAllowed: boolean): Promise<Reply<Body>> {
  const client = entry.isIsolated && isAllowed ? await caller.createAnother() : caller.client;
  const ids = { ...fixtures.ids, ...(isAllowed && entry.make ? await entry.make(fixtures) : {}) };
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => ids[name]!);
  const json = entry.body?.({ fixtures, client });
  // The limits of calls without authentication count by address.
  const address = { "X-Forwarded-For": `2001:db8:${fixtures.next().toString(16)}::1` };
  const workspace: Record<string, string> =
    caller.credential === "session" && caller.namesWorkspace ? { "Offcut-Workspace": fixtures.workspaceId } : {};
  return client.call<Body>(endpoint.method, `${endpoint.prefix}${path}${entry.query ?? ""}`, {
    ...(json === undefined ? {} : { json }),
    ...(entry.form ? { body: new URLSearchParams(await entry.form({ fixtures, client })) } : {}),
    ...(entry.bytes ? { body: entry.bytes } : {}),
    headers: { ...address, ...workspace, ...entry.headers },
  });
}

const keyOf = ({ method, path }: Pick<Endpoint, "method" | "path">) => `${method} ${path}`;

test("every endpoint has an entry", () => {
  for (const family of families) {
    const entries = ENTRIES[family.prefix] ?? {};
    const missing = listEndpoints(family)
      .map(keyOf)
      .filter((key) => !(key in entries));
    expect([family.prefix, missing]).toEqual([family.prefix, []]);
  }
});

/** A machine that runs other tests at the same time takes several times as long. */
const MATRIX_PATIENCE_MS = 4 * PATIENCE_MS;

test.each(Object.keys(ENTRIES))(
  "every endpoint of %s answers everybody as its route declares",
  async (prefix) => {
    const wrong: string[] = [];
    const endpoints = families.filter((family) => family.prefix === prefix).flatMap(listEndpoints);
    for (const endpoint of endpoints) {
      const entry = ENTRIES[prefix]![keyOf(endpoint)];
      if (!entry) continue;
      for (const caller of fixtures.callers) {
        const { outcome, isAllowed } = getExpected(endpoint, entry, caller);
        const reply = await call(endpoint, entry, caller, isAllowed);
        const isHead = endpoint.method === "HEAD";
        const [is, must] = isHead ? [String(reply.status), outcome.split(" ")[0]] : [format(reply), outcome];
        const at = `${endpoint.method} ${endpoint.prefix}${endpoint.path} by ${caller.name}`;
        if (is !== must) wrong.push(`${at}: ${is} instead of ${must}`);
        wrong.push(...listBodyErrors(endpoint, reply).map((error) => `${at}: ${error}`));
      }
    }
    const { length } = fixtures.callers;
    console.log(`access matrix of ${prefix}: ${endpoints.length} endpoints × ${length} principals`);
    expect(wrong).toEqual([]);
  },
  MATRIX_PATIENCE_MS,
);

test("no refused call has changed anything that it named, and none was an internal error", async () => {
  const { owner, ownerSession, ids, server } = fixtures;
  for (const [kind, id] of [
    ["projects", ids.project_id],
    ["assets", ids.asset_id],
    ["assets", ids.upload_id],
    ["cuts", ids.cut_id],
    ["renders", ids.render_id],
    ["webhook-endpoints", ids.endpoint_id],
  ] as const)
    expect([kind, (await owner.call("GET", `/v1/${kind}/${id}`)).status]).toEqual([kind, 200]);
  const upload = await owner.call("HEAD", `/v1/uploads/${ids.upload_id}`, { headers: owner.tus() });
  expect([upload.status, upload.headers.get("upload-offset")]).toEqual([200, "0"]);
  const keys = await ownerSession.must<{ items: { id: string }[] }>("GET", "/api-keys?limit=100");
  expect(keys.items.map(({ id }) => id)).toContain(ids.key_id!);
  expect(server.errors).toEqual([]);
});
