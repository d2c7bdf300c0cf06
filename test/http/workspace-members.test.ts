/** The members of workspaces: roles, removal, the last owner, invitations. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { WorkspaceRole } from "../../src/domain/access";
import { createApiKey } from "../../src/work/access/command-accounts";
import { createAdmin, emailOf, listAuditLog, startSession } from "./accounts";
import { type CallOptions, type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import {
  type Added,
  addMember,
  attempt,
  createWorkspace,
  inside,
  join,
  type Listed,
  type Member,
  type Workspace,
} from "./workspace-calls";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let bert: Client;
let carl: Client;
beforeAll(async () => {
  server = await harness();
  [anna, bert, carl] = (await Promise.all([1, 2, 3].map(async () => startSession(server, await server.user())))) as [
    Client,
    Client,
    Client,
  ];
});
afterAll(() => server[Symbol.asyncDispose]());

test("members are added by address, listed, changed and removed", async () => {
  const { id } = await createWorkspace(anna);
  await server
    .services()
    .store.write((tx) => tx.run(sql`UPDATE users SET first_name = 'Bert', last_name = 'Ö' WHERE id = ${bert.userId}`));
  await join(anna, id, bert, "viewer");
  const member = {
    user_id: bert.userId,
    email: emailOf(bert),
    name: "Bert Ö",
    email_verified_at: null,
    role: "viewer",
    created_at: expect.any(String),
  };
  expect((await addMember(anna, id, emailOf(bert))).body).toMatchObject({ code: "conflict" });
  const list = () => bert.must<Listed<Member>>("GET", `/api/v1/workspaces/${id}/members`);
  expect(await list()).toMatchObject({ total: 2, items: [{ user_id: anna.userId, role: "owner" }, member] });

  const path = `/workspaces/${id}/members/${bert.userId}`;
  expect(await attempt(bert, "POST", "/projects", inside(id, { name: "P" }))).toBe("403 forbidden");
  expect(await anna.must("PATCH", `/api/v1${path}`, { json: { role: "editor" } })).toEqual({
    ...member,
    role: "editor",
  });
  expect(await attempt(bert, "POST", "/projects", inside(id, { name: "P" }))).toBe("201");
  expect(await attempt(anna, "PATCH", path, { json: { role: "admin" } })).toBe("422 validation_error");
  expect(await attempt(anna, "PATCH", `/workspaces/${id}/members/${carl.userId}`, { json: { role: "owner" } })).toBe(
    "404 not_found",
  );

  const { key } = await createApiKey(server.services(), { email: emailOf(bert), name: "k", workspace: id });
  const withKey = createClient(server.url, key, bert.userId);
  expect(await attempt(withKey, "GET", "/projects")).toBe("200");
  expect(await attempt(anna, "DELETE", path)).toBe("204");
  expect(await attempt(anna, "DELETE", path)).toBe("404 not_found");
  expect(await attempt(withKey, "GET", "/projects")).toBe("401 unauthenticated");
  expect(await attempt(bert, "GET", "/projects", inside(id))).toBe("404 not_found");
  const log = (await listAuditLog(server)).filter(({ target_id }) => target_id === id);
  expect(log.map(({ action, actor_id }) => [action, actor_id])).toEqual([
    ["workspace.created", anna.userId],
    ["workspace.member_invited", anna.userId],
    ["workspace.member_added", bert.userId],
    ["workspace.member_changed", anna.userId],
    ["workspace.member_removed", anna.userId],
  ]);
});

test.each<[WorkspaceRole, string, string]>([
  ["viewer", "403 forbidden", "403 forbidden"],
  ["editor", "201", "403 forbidden"],
  ["owner", "201", "200"],
])("a %s creates a project: %s, renames the workspace: %s, and may leave", async (role, creates, renames) => {
  const { id } = await createWorkspace(anna);
  await join(anna, id, bert, role);
  expect(await attempt(bert, "POST", "/projects", inside(id, { name: "P" }))).toBe(creates);
  expect(await attempt(bert, "PATCH", `/workspaces/${id}`, { json: { name: "W" } })).toBe(renames);
  const manages: [string, string, object | undefined][] = [
    ["POST", "/members", { email: "dora@example.test", role: "viewer" }],
    ["PATCH", `/members/${carl.userId}`, { role: "editor" }],
    ["DELETE", `/members/${carl.userId}`, undefined],
  ];
  await join(anna, id, carl, "viewer");
  if (role !== "owner") {
    manages.push(["DELETE", "", undefined], ["DELETE", `/members/${anna.userId}`, undefined]);
  }
  for (const [method, path, json] of manages) {
    const made = await attempt(bert, method, `/workspaces/${id}${path}`, json ? { json } : {});
    expect([method, path, made.startsWith("2")]).toEqual([method, path, role === "owner"]);
    if (role !== "owner") expect(made).toBe("403 forbidden");
  }
  expect(await attempt(bert, "DELETE", `/workspaces/${id}/members/${bert.userId}`)).toBe("204");
  expect(await attempt(bert, "GET", `/workspaces/${id}`)).toBe("404 not_found");
});

test("the last owner can neither leave nor be demoted, also by two at once", async () => {
  const { id } = await createWorkspace(anna);
  const demote = (by: Client, who: Client) =>
    attempt(by, "PATCH", `/workspaces/${id}/members/${who.userId}`, { json: { role: "viewer" } });
  const remove = (by: Client, who: Client) => attempt(by, "DELETE", `/workspaces/${id}/members/${who.userId}`);
  await join(anna, id, bert, "editor");
  expect([await demote(anna, anna), await remove(anna, anna)]).toEqual(["409 conflict", "409 conflict"]);
  await anna.must("PATCH", `/api/v1/workspaces/${id}/members/${bert.userId}`, { json: { role: "owner" } });
  // An owner who cannot sign in does not count.
  const { store } = server.services();
  await store.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${bert.userId}`));
  expect([await demote(anna, anna), await remove(anna, anna)]).toEqual(["409 conflict", "409 conflict"]);
  await store.write((tx) => tx.run(sql`UPDATE users SET disabled_at = NULL WHERE id = ${bert.userId}`));
  const outcomes = await Promise.all([demote(anna, bert), demote(bert, anna)]);
  expect(outcomes.filter((one) => one === "200")).toHaveLength(1);
  const owners = await store.read.all<object>(
    sql`SELECT user_id FROM workspace_members WHERE workspace_id = ${id} AND role = 'owner'`,
  );
  expect(owners).toHaveLength(1);
});

test("an unknown address gets an invitation, which replaces its earlier one and leads into the workspace", async () => {
  const { id } = await createWorkspace(anna);
  const email = `${crypto.randomUUID()}@example.test`;
  const invite = async () => {
    const { status, headers, body } = await addMember(anna, id, email, "viewer");
    expect([status, headers.get("location"), body.member]).toEqual([201, `/api/v1/workspaces/${id}/members`, null]);
    expect(Date.parse(body.expires_at!) - server.services().now()).toBeWithin(7 * 86_400_000 - 60_000, 7 * 86_400_001);
    return new URL(body.invitation_url!).hash.slice(1);
  };
  const accept = (token: string) =>
    server.nobody.call<{ token: string; user: { id: string } }>("POST", "/api/v1/auth/invitation", {
      json: { token, password: "correct horse battery" },
    });
  const [first, second] = [await invite(), await invite()];
  expect((await accept(first)).status).toBe(401);
  const { status, body } = await accept(second);
  expect(status).toBe(201);
  const guest = createClient(server.url, body.token, body.user.id);
  expect(await guest.must("GET", `/api/v1/workspaces/${id}`)).toMatchObject({ role: "viewer" });
  expect((await guest.must<Listed<Workspace>>("GET", "/api/v1/workspaces")).total).toBe(2);
  expect((await accept(second)).status).toBe(401);
});

test.each<[string, "PATCH" | "DELETE", "member" | "account", CallOptions]>([
  ["demoted", "PATCH", "member", { json: { role: "viewer" } }],
  ["removed", "DELETE", "member", {}],
  ["disabled", "PATCH", "account", { json: { disabled: true } }],
  ["deleted", "DELETE", "account", {}],
])("the invitations of an owner who is %s end", async (_, method, what, options) => {
  const { id } = await createWorkspace(anna);
  const owner = await startSession(server, await server.user());
  await join(anna, id, owner, "owner");
  const { body } = await addMember(owner, id, `${crypto.randomUUID()}@example.test`, "owner");
  const [by, path] =
    what === "member"
      ? [anna, `/workspaces/${id}/members/${owner.userId}`]
      : [await startSession(server, await createAdmin(server)), `/admin/users/${owner.userId}`];
  expect(await attempt(by, method, path, options)).toStartWith("20");
  expect(await anna.must("GET", `/api/v1/workspaces/${id}/invitations`)).toMatchObject({ total: 0 });
  const token = new URL(body.invitation_url!).hash.slice(1);
  const accepted = await server.nobody.call("POST", "/api/v1/auth/invitation", {
    json: { token, password: "correct horse battery" },
  });
  expect(accepted.status).toBe(401);
});

test("invitations are limited by user, also when their workspace is deleted or the address stays the same", async () => {
  const user = await startSession(server, await server.user());
  const invite = async (id: string, email: string) => (await addMember(user, id, email, "viewer")).status;
  for (let n = 0; n < 25; n++) {
    const { id } = await createWorkspace(user);
    expect([await invite(id, `a${n}@example.test`), await invite(id, `a${n}@example.test`)]).toEqual([201, 201]);
    expect(await attempt(user, "DELETE", `/workspaces/${id}`)).toBe("204");
  }
  expect(await invite((await createWorkspace(user)).id, "b@example.test")).toBe(429);
});

test("a replayed invitation does not show its link again, and its token is not stored", async () => {
  const { id } = await createWorkspace(anna);
  const options = {
    json: { email: "new@example.test", role: "viewer" },
    headers: { "Idempotency-Key": `i ${id}` },
  };
  const path = `/api/v1/workspaces/${id}/members`;
  const first = await anna.must<Added>("POST", path, options);
  expect(await anna.must<Added>("POST", path, options)).toEqual({ ...first, invitation_url: null });
  const token = new URL(first.invitation_url!).hash.slice(1);
  const rows = await server.services().store.read.all(sql`SELECT * FROM idempotency, one_time_tokens`);
  expect(JSON.stringify(rows)).not.toContain(token);
});

test.each([
  ["", "422 validation_error"],
  ["nobody", "422 validation_error"],
  ["a@b\nBcc: c@d", "422 validation_error"],
  [`${"x".repeat(250)}@b.example`, "422 validation_error"],
])("the address %p is refused", async (email, expected) => {
  const { id } = await createWorkspace(anna);
  expect(await attempt(anna, "POST", `/workspaces/${id}/members`, { json: { email, role: "viewer" } })).toBe(expected);
});
