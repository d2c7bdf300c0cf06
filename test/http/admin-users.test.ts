/**
 * Administration of accounts over HTTP: permissions, the immediate effects of changes, and the rules for simultaneous
 * changes.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createAdmin, emailOf, listAuditLog, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, NO_ID } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

type AdminUser = { id: string; email: string; role: string; disabled: boolean; credits: number; deleted_at: string };
type UserPage = { items: AdminUser[]; total: number; limit: number; offset: number };

let server: Harness;
/** A fresh session of an administrator. */
let admin: Client;
beforeAll(async () => {
  server = await harness();
  admin = await startSession(server, await createAdmin(server));
});
afterAll(() => server[Symbol.asyncDispose]());

const USERS = "/api/v1/admin/users";
const pathOf = ({ userId }: Pick<Client, "userId">, rest = "") => `${USERS}/${userId}${rest}`;

const CALLS: [string, string, unknown?][] = [
  ["GET", USERS],
  ["POST", USERS, { email: "new@example.test" }],
  ["GET", `${USERS}/${NO_ID}`],
  ["POST", `${USERS}/${NO_ID}/password-reset`],
  ["PATCH", `${USERS}/${NO_ID}`, { role: "admin" }],
  ["DELETE", `${USERS}/${NO_ID}`],
  ["POST", `${USERS}/${NO_ID}/restore`],
  ["POST", `${USERS}/${NO_ID}/credits`, { delta: 1 }],
  ["GET", "/api/v1/admin/jobs"],
  ["GET", "/api/v1/admin/storage"],
  ["GET", "/api/v1/admin/storage/findings"],

  ["GET", "/api/v1/admin/health"],
  ["GET", "/api/v1/admin/audit"],
  ["GET", "/api/v1/admin/audit/export"],
];

test("only an administrator with a session of at most 12 hours may administer", async () => {
  const member = await server.user();
  const memberSession = await startSession(server, member);
  const adminUser = await server.user();
  const session = await startSession(server, adminUser);
  await admin.must("PATCH", pathOf(adminUser), { json: { role: "admin" } });
  for (const [method, path, json] of CALLS) {
    const isOne = path.includes(NO_ID);
    const of = (client: Client) => attempt(client, method, path, json);
    expect([path, await of(server.nobody)]).toEqual([path, "401 unauthenticated"]);
    expect([path, await of(member)]).toEqual([path, "403 forbidden"]);
    expect([path, await of(memberSession)]).toEqual([path, "403 forbidden"]);
    expect([path, await of(adminUser)]).toEqual([path, "403 forbidden"]);
    expect([path, await of(session)]).toEqual([path, isOne ? "404 not_found" : method === "POST" ? "201" : "200"]);
  }
  server.advance(12 * 3600 * 1000 + 1);
  for (const [method, path, json] of CALLS)
    expect([path, await attempt(session, method, path, json)]).toEqual([path, "403 forbidden session_too_old"]);
  admin = await startSession(server, admin);
});

describe("the list", () => {
  test("shows credits, storage and state, newest first, and finds part of an address or name", async () => {
    const anna = await server.user(7);
    await anna.must("PATCH", "/api/v1/users/me", { json: { first_name: "Anna", last_name: "Mu\u00f1oz" } });
    const find = async (query: string) => (await admin.must<UserPage>("GET", `${USERS}?${query}`)).items;
    expect((await find(""))[0]).toEqual({
      id: anna.userId,
      email: emailOf(anna),
      first_name: "Anna",
      last_name: "Mu\u00f1oz",
      role: "member",
      disabled: false,
      two_factor_enabled: false,
      credits: 7,
      storage_used_bytes: 0,
      storage_quota_bytes: null,
      email_verified_at: null,
      last_sign_in_at: null,
      deleted_at: null,
      created_at: expect.stringMatching(/Z$/),
    } as never);
    const isAnna = [expect.objectContaining({ id: anna.userId })];
    expect(await find("q=ANNA%20mu")).toEqual(isAnna as never);
    expect(await find(`q=${anna.userId.toUpperCase()}`)).toEqual(isAnna as never);
    for (const query of ["q=%25", "q=_nna", "q=nobody", "q=anna&role=admin", "q=anna&state=disabled"])
      expect([query, await find(query)]).toEqual([query, []]);
    expect(await find("q=anna&role=member&state=active")).toHaveLength(1);
    expect(await admin.must<AdminUser>("GET", pathOf(anna))).toMatchObject({ id: anna.userId, credits: 7 });
  });

  test("has pages", async () => {
    const { total } = await admin.must<UserPage>("GET", USERS);
    const first = await admin.must<UserPage>("GET", `${USERS}?limit=2`);
    const second = await admin.must<UserPage>("GET", `${USERS}?limit=2&offset=2`);
    expect(first).toMatchObject({ total, limit: 2, offset: 0 });
    expect(new Set([...first.items, ...second.items].map((user) => user.id)).size).toBe(4);
    expect((await admin.must<UserPage>("GET", `${USERS}?offset=100000`)).items).toEqual([]);
    for (const query of ["limit=0", "limit=101", "offset=-1", "role=owner", "state=gone", "q="])
      expect([query, await attempt(admin, "GET", `${USERS}?${query}`)]).toEqual([
        query,
        `422 query.${query.split("=")[0]}`,
      ]);
  });
});

test.each<[string, unknown, string]>([
  ["an unknown role", { role: "owner" }, "422 body.role"],
  ["a role of null", { role: null }, "422 body.role"],
  ["a quota below 0", { storage_quota_bytes: -1 }, "422 body.storage_quota_bytes"],
  ["half a byte", { storage_quota_bytes: 0.5 }, "422 body.storage_quota_bytes"],
  ["an unknown field", { email: "b@example.test" }, "422 body.email"],
  ["nothing", {}, "200"],
])("a change to %s", async (_, json, expected) => {
  expect(await attempt(admin, "PATCH", pathOf(await server.user()), json)).toBe(expected);
});

test("a disabled account is 401 at once with its keys and sessions, until it is enabled", async () => {
  const anna = await server.user();
  const session = await startSession(server, anna);
  const read = () => Promise.all([anna, session].map((one) => attempt(one, "GET", "/api/v1/users/me")));
  expect(await read()).toEqual(["200", "200"]);
  expect(await admin.must<AdminUser>("PATCH", pathOf(anna), { json: { disabled: true } })).toMatchObject({
    disabled: true,
  });
  expect(await read()).toEqual(["401 unauthenticated", "401 unauthenticated"]);
  await admin.must("PATCH", pathOf(anna), { json: { disabled: false } });
  expect(await read()).toEqual(["200", "200"]);
});

test("a quota of an account overrides the configured one", async () => {
  const anna = await server.user();
  const project = await anna.project();
  const open = () => attempt(anna, "POST", "/api/v1/assets", { project_id: project.id, size_bytes: 1_000 });
  const setQuota = (bytes: number | null) =>
    admin.must("PATCH", pathOf(anna), { json: { storage_quota_bytes: bytes } });
  expect(await setQuota(1_500)).toMatchObject({ storage_quota_bytes: 1_500 });
  expect([await open(), await open()]).toEqual(["201", "409 conflict"]);
  expect(await setQuota(0)).toMatchObject({ storage_quota_bytes: 0, storage_used_bytes: 1_000 });
  expect(await open()).toBe("201");
  expect(await setQuota(null)).toMatchObject({ storage_quota_bytes: null });
});

describe("credits", () => {
  const credit = (user: Client, json: unknown, headers: Record<string, string> = {}) =>
    admin.call<{ id: string; type: string; delta: number }>("POST", pathOf(user, "/credits"), { json, headers });

  test("are granted, and removed down to nothing", async () => {
    const anna = await server.user(5);
    expect(await credit(anna, { delta: 3, note: "Order 7" })).toMatchObject({
      status: 201,
      body: { type: "grant", delta: 3 },
    });
    expect((await credit(anna, { delta: -9 })).status).toBe(409);
    expect(await credit(anna, { delta: -8 })).toMatchObject({ status: 201, body: { type: "adjustment", delta: -8 } });
    expect(await admin.must<AdminUser>("GET", pathOf(anna))).toMatchObject({ credits: 0 });
  });

  test("settle the assets that wait for them", async () => {
    const anna = await server.user(1);
    const project = await anna.project();
    const ids: string[] = [];
    for (let n = 0; n < 2; n++) ids.push(await anna.upload(await wav(2), { projectId: project.id }));
    await server.idle();
    const states = async () =>
      (await Promise.all(ids.map((id) => anna.asset(id)))).map((asset) => asset.state).toSorted();
    expect(await states()).toEqual(["pending_payment", "ready"]);
    await credit(anna, { delta: 1 });
    expect(await states()).toEqual(["ready", "ready"]);
  });

  test("are granted once for an Idempotency-Key", async () => {
    const anna = await server.user(0);
    const all = await Promise.all(
      Array.from({ length: 5 }, () => credit(anna, { delta: 2 }, { "Idempotency-Key": "k" })),
    );
    expect(new Set(all.map((reply) => `${reply.status} ${reply.body.id}`)).size).toBe(1);
    expect(await admin.must<AdminUser>("GET", pathOf(anna))).toMatchObject({ credits: 2 });
  });

  test.each<[string, unknown, string]>([
    ["no delta", {}, "422 body.delta"],
    ["nothing", { delta: 0 }, "422 body.delta"],
    ["half a credit", { delta: 0.5 }, "422 body.delta"],
    ["too many", { delta: 1e12 }, "422 body.delta"],
    ["an endless note", { delta: 1, note: "x".repeat(501) }, "422 body.note"],
    ["a workspace of somebody else", { delta: 1, workspace_id: NO_ID }, "404 not_found"],
  ])("are refused: %s", async (_, json, expected) => {
    expect(await attempt(admin, "POST", pathOf(await server.user(), "/credits"), json)).toBe(expected);
  });
});

describe("the last administrator", () => {
  const CHANGES: [string, string, unknown?][] = [
    ["PATCH", "", { role: "member" }],
    ["PATCH", "", { disabled: true }],
    ["DELETE", ""],
  ];

  /** A server with these many administrators. */
  async function withAdmins(count: number) {
    const own = await harness();
    const admins: Client[] = [];
    for (let n = 0; n < count; n++) admins.push(await startSession(own, await createAdmin(own)));
    return { own, admins, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
  }

  test("cannot be demoted, disabled or deleted", async () => {
    await using s = await withAdmins(1);
    const [only] = s.admins as [Client];
    for (const [method, path, json] of CHANGES)
      expect(await attempt(only, method, pathOf(only, path), json)).toBe("409 conflict");
    expect(await attempt(only, "DELETE", "/api/v1/users/me")).toBe("409 conflict");
    // Neither a disabled administrator nor one that is being deleted counts.
    const other = await withPassword(s.own, await s.own.user());
    await only.must("PATCH", pathOf(other), { json: { role: "admin", disabled: true } });
    expect(await attempt(only, "PATCH", pathOf(only), { role: "member" })).toBe("409 conflict");
    await only.must("PATCH", pathOf(other), { json: { disabled: false } });
    await only.must("DELETE", pathOf(other));
    expect(await attempt(only, "PATCH", pathOf(only), { role: "member" })).toBe("409 conflict");
    await only.must("POST", pathOf(other, "/restore"));
    expect(await attempt(only, "PATCH", pathOf(only), { role: "member" })).toBe("200");
    expect(await attempt(only, "GET", USERS)).toBe("403 forbidden");
  });

  test("remains when two administrators demote, disable or delete each other at the same time", async () => {
    await using s = await withAdmins(2);
    const [anna, bert] = s.admins as [Client, Client];
    for (const ofAnna of CHANGES) {
      for (const ofBert of CHANGES) {
        const hold = s.own.holdWrites();
        const both = [
          attempt(anna, ofAnna[0], pathOf(bert), ofAnna[2]),
          attempt(bert, ofBert[0], pathOf(anna), ofBert[2]),
        ];
        // Both are authenticated.
        await hold.waiting(2);
        hold.release();
        const outcomes = await Promise.all(both);
        expect(outcomes.filter((one) => one.startsWith("2"))).toHaveLength(1);
        expect(outcomes.filter((one) => one === "403 forbidden")).toHaveLength(1);
        const [winner, loser] = outcomes[0]!.startsWith("2") ? [anna, bert] : [bert, anna];
        await winner.must("PATCH", pathOf(loser), { json: { role: "admin", disabled: false } });
        await winner.must("POST", pathOf(loser, "/restore"));
      }
    }
  });
});

test("each change is in the audit log, with who made it and from where", async () => {
  const anna = await server.user(0);
  await admin.must("PATCH", pathOf(anna), { json: { role: "admin", disabled: true, storage_quota_bytes: 5 } });
  await admin.must("PATCH", pathOf(anna), { json: { role: "admin", disabled: true, storage_quota_bytes: 5 } });
  await admin.must("PATCH", pathOf(anna), { json: { role: "member", disabled: false } });
  await admin.must("POST", pathOf(anna, "/credits"), { json: { delta: 3, note: "why" } });
  await admin.must("DELETE", pathOf(anna));
  await admin.must("DELETE", pathOf(anna));
  await admin.must("POST", pathOf(anna, "/restore"));
  const log = (await listAuditLog(server)).filter((row) => row.target_id === anna.userId);
  expect(log.map(({ action, details }) => [action, details])).toEqual([
    ["user.role_changed", '{"role":"admin"}'],
    ["user.disabled", null],
    ["user.quota_changed", '{"storage_quota_bytes":5}'],
    ["user.role_changed", '{"role":"member"}'],
    ["user.enabled", null],
    ["user.credits_changed", '{"delta":3,"note":"why"}'],
    ["user.deletion_started", null],
    ["user.restored", null],
  ]);
  for (const row of log) expect(row).toMatchObject({ actor_id: admin.userId, address: "127.0.0.1" });
});
