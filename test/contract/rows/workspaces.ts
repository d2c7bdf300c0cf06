/** Rows of the contract: workspaces. */
import { expect } from "bun:test";
import { findProject } from "../../../src/store/projects";
import { setEmailVerified } from "../../../src/store/users";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf, PASSWORD, startSession } from "../../http/accounts";
import { type CallOptions, type Client, createClient } from "../../http/client";
import { harness } from "../../http/harness";
import { grantWorkspace } from "../../unit/store/test-store";
import * as schemas from "../workspace-schemas";
import { conforms } from "./account-setting";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

type Workspace = { id: string; name: string; role: string; is_personal: boolean };

/** Creates a workspace of Anna with Bert in this role. */
async function share({ call, anna, bert }: DashboardFixtures, role: string): Promise<string> {
  const made = await call<Workspace>("POST", "/workspaces", { json: { name: "Studio" }, as: anna });
  const { id } = made.body;
  const json = { email: emailOf(bert), role };
  const { body } = await call<{ invitation_url: string }>("POST", `/workspaces/${id}/members`, { json, as: anna });
  const token = new URL(body.invitation_url).hash.slice(1);
  await call("POST", "/invitations/accept", { json: { token }, as: bert });
  return id;
}

const inside = (id: string) => ({ headers: { "Offcut-Workspace": id } });

async function createKey({ server }: DashboardFixtures, user: Client, workspace: string): Promise<Client> {
  const { key } = await createApiKey(server.services(), { email: emailOf(user), name: "k", workspace });
  return createClient(server.url, key, user.userId);
}

export const workspaceRows: DashboardRow[] = [
  [
    "Each user has a personal workspace with the user's own id, made with the account",
    async ({ call, user }) => {
      const as = await user();
      const { body } = await call<{ items: Workspace[] }>("GET", "/workspaces", { as });
      expect(body.items).toEqual([{ id: as.userId, name: "Personal", role: "owner", is_personal: true }]);
    },
  ],
  [
    "GET|POST /api/v1/workspaces (id, name, role, is_personal)",
    async ({ call, getOutcome }) => {
      const made = await call<Workspace>("POST", "/workspaces", { json: { name: "Studio" } });
      expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/workspaces/${made.body.id}`]);
      expect(made.body).toEqual({ id: expect.any(String), name: "Studio", role: "owner", is_personal: false });
      expect((await call<{ items: Workspace[] }>("GET", "/workspaces")).body.items).toContainEqual(made.body);
      expect(await getOutcome("POST", "/workspaces", { json: {} })).toBe("422 validation_error body.name");
    },
  ],
  [
    "GET|PATCH|DELETE /api/v1/workspaces/{id}",
    async (fixtures) => {
      const { call, getOutcome } = fixtures;
      const id = await share(fixtures, "viewer");
      expect((await call("GET", `/workspaces/${id}`)).body).toMatchObject({ id, role: "owner" });
      const renamed = await call("PATCH", `/workspaces/${id}`, { json: { name: "Ours" } });
      expect(renamed.body).toMatchObject({ id, name: "Ours" });
      expect(await getOutcome("DELETE", `/workspaces/${id}`)).toBe("204");
      expect(await getOutcome("GET", `/workspaces/${id}`)).toBe("404 not_found");
    },
  ],
  [
    "GET|POST …/{id}/members (email, role), PATCH|DELETE …/{id}/members/{user_id}. Roles: owner, editor, viewer",
    async (fixtures) => {
      const { call, getOutcome, anna, bert } = fixtures;
      const id = await share(fixtures, "viewer");
      const { body } = await call<{ items: object[] }>("GET", `/workspaces/${id}/members`);
      expect(body.items).toMatchObject([
        { user_id: anna.userId, email: emailOf(anna), role: "owner" },
        { user_id: bert.userId, email: emailOf(bert), role: "viewer" },
      ]);
      const path = `/workspaces/${id}/members/${bert.userId}`;
      for (const role of ["owner", "editor", "viewer"])
        expect((await call("PATCH", path, { json: { role } })).body).toMatchObject({ role });
      expect(await getOutcome("PATCH", path, { json: { role: "admin" } })).toBe("422 validation_error body.role");
      expect(await getOutcome("DELETE", path)).toBe("204");
    },
  ],
  [
    "An address gets an invitation link, known or unknown; POST invitations/read shows what it leads to",
    async (fixtures) => {
      const { anna, call, server, user } = fixtures;
      const id = await share(fixtures, "viewer");
      for (const email of [`${crypto.randomUUID()}@example.test`, emailOf(await user())]) {
        const json = { email, role: "editor" };
        const { status, body } = await call<{ invitation_url: string }>("POST", `/workspaces/${id}/members`, { json });
        expect([status, body as object]).toEqual([
          201,
          { member: null, invitation_url: expect.any(String), expires_at: expect.any(String) },
        ]);
        const token = new URL(body.invitation_url).hash.slice(1);
        const shown = await call("POST", "/invitations/read", { json: { token }, as: server.nobody });
        expect(shown.body).toEqual({
          email,
          workspace: { id, name: "Studio" },
          role: "editor",
          invited_by: { id: anna.userId, name: null, email: emailOf(anna) },
          expires_at: expect.any(String),
        });
      }
    },
  ],
  [
    "GET invitations lists those that wait for the user; POST invitations/{id}/accept and …/decline",
    async (fixtures) => {
      const { call, getOutcome, server, user } = fixtures;
      const as = await user();
      await server.services().store.write((tx) => setEmailVerified(tx, as.userId, 1));
      const list = () => call<{ items: { id: string; workspace: Workspace }[] }>("GET", "/invitations", { as });
      const invite = async (role: string) => {
        const { body } = await call<Workspace>("POST", "/workspaces", { json: { name: "Studio" } });
        await call("POST", `/workspaces/${body.id}/members`, { json: { email: emailOf(as), role } });
        return (await list()).body.items[0]!;
      };
      const first = await invite("viewer");
      expect(await getOutcome("POST", `/invitations/${first.id}/accept`)).toBe("404 not_found");
      const joined = await call("POST", `/invitations/${first.id}/accept`, { as });
      expect(joined.body).toEqual({ id: first.workspace.id, name: "Studio", role: "viewer", is_personal: false });
      const second = await invite("owner");
      expect(await getOutcome("POST", `/invitations/${second.id}/decline`, { as })).toBe("204");
      expect(await getOutcome("POST", `/invitations/${second.id}/accept`, { as })).toBe("404 not_found");
      expect((await list()).body.items).toEqual([]);
      expect(await getOutcome("GET", `/workspaces/${second.workspace.id}`, { as })).toBe("404 not_found");
    },
  ],
  [
    "GET /api/v1/workspaces/{id} also counts what is in it, its storage and its credits",
    async (fixtures) => {
      const { call, server } = fixtures;
      const id = await share(fixtures, "viewer");
      await server.services().store.write((tx) => grantWorkspace(tx, id, 7));
      await call("POST", "/projects", { json: { name: "P" }, ...inside(id) });
      const { body } = await call("GET", `/workspaces/${id}`, { as: fixtures.bert });
      conforms(schemas.workspaceDetail, body);
      expect(body).toMatchObject({
        role: "viewer",
        member_count: 2,
        project_count: 1,
        asset_count: 0,
        render_count: 0,
      });
      expect(body).toMatchObject({ storage_used_bytes: 0, credits_balance: 7, credits_held: 0, credits_used: 0 });
    },
  ],
  [
    "GET …/{id}/invitations lists those that wait, DELETE …/{id}/invitations/{invitation_id} revokes one: 204",
    async (fixtures) => {
      const { call, getOutcome, bert, server } = fixtures;
      const path = `/workspaces/${await share(fixtures, "editor")}`;
      const json = { email: `${crypto.randomUUID()}@example.test`, role: "editor" };
      const invited = await call<{ invitation_url: string }>("POST", `${path}/members`, { json });
      const list = () => call<{ items: { id: string }[]; total: number }>("GET", `${path}/invitations`);
      const { body } = await list();
      conforms(schemas.workspaceInvitation, body.items[0]);
      expect(body).toMatchObject({ items: [json], total: 1 });
      expect(await getOutcome("GET", `${path}/invitations`, { as: bert })).toBe("403 forbidden");
      const one = `${path}/invitations/${body.items[0]!.id}`;
      expect(await getOutcome("DELETE", one, { as: bert })).toBe("403 forbidden");
      expect(await getOutcome("DELETE", one)).toBe("204");
      expect(await getOutcome("DELETE", one)).toBe("404 not_found");
      expect((await list()).body.total).toBe(0);
      const token = new URL(invited.body.invitation_url).hash.slice(1);
      const accept = { json: { token, password: PASSWORD }, as: server.nobody };
      expect(await getOutcome("POST", "/auth/invitation", accept)).toBe("401 unauthenticated");
    },
  ],
  [
    "The last owner cannot leave or be demoted: 409",
    async (fixtures) => {
      const path = `/workspaces/${await share(fixtures, "editor")}/members/${fixtures.anna.userId}`;
      expect(await fixtures.getOutcome("DELETE", path)).toBe("409 conflict");
      expect(await fixtures.getOutcome("PATCH", path, { json: { role: "editor" } })).toBe("409 conflict");
    },
  ],
  [
    "The personal workspace has one member and ends with the account",
    async ({ getOutcome, anna, bert }) => {
      const json = { email: emailOf(bert), role: "viewer" };
      expect(await getOutcome("POST", `/workspaces/${anna.userId}/members`, { json })).toBe("409 conflict");
      expect(await getOutcome("DELETE", `/workspaces/${anna.userId}`)).toBe("409 conflict");
    },
  ],
  [
    "A session acts in the workspace named by the header Offcut-Workspace, else in the personal one",
    async (fixtures) => {
      const { call, getOutcome, bert } = fixtures;
      const id = await share(fixtures, "viewer");
      const made = await call("POST", "/projects", { json: { name: "P" }, ...inside(id) });
      const path = `/projects/${made.body.id}`;
      expect(await getOutcome("GET", path, { ...inside(id), as: bert })).toBe("200");
      expect(await getOutcome("GET", path)).toBe("404 not_found");
      expect(await getOutcome("GET", path, inside(fixtures.anna.userId))).toBe("404 not_found");
    },
  ],
  [
    "An API key acts in the workspace it was created in",
    async (fixtures) => {
      const { call, getOutcome, anna } = fixtures;
      const id = await share(fixtures, "viewer");
      const as = await createKey(fixtures, anna, id);
      const made = await call("POST", "/projects", { json: { name: "P" }, as });
      expect(await getOutcome("GET", `/projects/${made.body.id}`, inside(id))).toBe("200");
      expect(await getOutcome("GET", "/projects", { as, ...inside(anna.userId) })).toBe("404 not_found");
    },
  ],
  [
    "To somebody who is not a member everything in it is 404",
    async (fixtures) => {
      const { call, getOutcome, user } = fixtures;
      const id = await share(fixtures, "viewer");
      const as = await user();
      const made = await call("POST", "/projects", { json: { name: "P" }, ...inside(id) });
      for (const path of [`/projects/${made.body.id}`, `/workspaces/${id}`, `/workspaces/${id}/members`])
        expect(await getOutcome("GET", path, { as })).toBe("404 not_found");
      expect(await getOutcome("GET", "/projects", { as, ...inside(id) })).toBe("404 not_found");
    },
  ],
  [
    "A viewer gets 403 on every write",
    async (fixtures) => {
      const { getOutcome, bert: as } = fixtures;
      const id = await share(fixtures, "viewer");
      expect(await getOutcome("POST", "/projects", { json: { name: "P" }, as, ...inside(id) })).toBe("403 forbidden");
      expect(await getOutcome("PATCH", `/workspaces/${id}`, { json: { name: "P" }, as })).toBe("403 forbidden");
      expect(await getOutcome("DELETE", `/workspaces/${id}`, { as })).toBe("403 forbidden");
    },
  ],
  [
    "Credits count by workspace",
    async (fixtures) => {
      const { call, server } = fixtures;
      const id = await share(fixtures, "viewer");
      await server.services().store.write((tx) => grantWorkspace(tx, id, 7));
      const read = async (options = {}) =>
        (await call<{ items: { delta: number }[] }>("GET", "/credits/history", options)).body.items;
      expect((await read(inside(id))).map(({ delta }) => delta)).toEqual([7]);
      expect((await read()).map(({ delta }) => delta)).toEqual([1_000]);
    },
  ],
  [
    "The rate limit counts by user",
    async () => {
      await using server = await harness({ RATE_LIMIT: "60" });
      const user = await startSession(server, await server.user());
      const { id } = await user.must<Workspace>("POST", "/api/v1/workspaces", { json: { name: "W" } });
      const read = async (options: CallOptions) =>
        Number((await user.call("GET", "/api/v1/projects", options)).headers.get("ratelimit-remaining"));
      const before = await read({});
      for (let n = 0; n < 10; n++) await read(inside(id));
      expect(await read({})).toBeLessThan(before - 5);
    },
  ],
  [
    "Under /api/v1 resources add created_by ({ id, name })",
    async (fixtures) => {
      const { call, bert: as } = fixtures;
      const id = await share(fixtures, "editor");
      const made = await call("POST", "/projects", { json: { name: "P" }, as, ...inside(id) });
      expect(made.body).toMatchObject({ created_by: { id: as.userId, name: null } });
    },
  ],
  [
    "Deleting a workspace deletes what is in it",
    async (fixtures) => {
      const { call, getOutcome, server } = fixtures;
      const id = await share(fixtures, "editor");
      const made = await call<{ id: string }>("POST", "/projects", { json: { name: "P" }, ...inside(id) });
      expect(await getOutcome("DELETE", `/workspaces/${id}`)).toBe("204");
      expect(await findProject(server.services().store.read, id, made.body.id)).toBeNull();
    },
  ],
  [
    "Keys have scopes (read, write; default both): anything but GET and HEAD without write is 403",
    async ({ server, getOutcome, anna }) => {
      const { key } = await createApiKey(server.services(), { email: emailOf(anna), name: "k", scopes: ["read"] });
      const as = createClient(server.url, key, anna.userId);
      expect(await getOutcome("GET", "/projects", { as })).toBe("200");
      expect(await getOutcome("POST", "/projects", { json: { name: "P" }, as })).toBe("403 forbidden");
      expect(await getOutcome("PATCH", "/users/me", { json: {}, as })).toBe("403 forbidden");
    },
  ],
];
