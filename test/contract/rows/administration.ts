/** Rows of the contract: administration, and the deletion of accounts. */
import { expect } from "bun:test";
import { createAdmin, emailOf, startSession } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import { harness } from "../../http/harness";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import { join } from "../../http/workspace-calls";
import * as adminSchemas from "../admin-schemas";
import { listErrors } from "../response-checks";
import * as schemas from "../schemas";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

type Listed = { items: { id: string }[]; total: number };

export const createAdminSession = async ({ server }: Pick<DashboardFixtures, "server">): Promise<Client> =>
  startSession(server, await createAdmin(server));

export const administrationRows: DashboardRow[] = [
  [
    "A member who calls admin/* gets 403; administration needs a session: an API key gets 403",
    async ({ server, bert, getOutcome }) => {
      const key = await server.user();
      const paths = "users jobs storage storage/totals storage/findings health backups audit audit/export".split(" ");
      for (const path of paths)
        for (const as of [bert, key]) expect(await getOutcome("GET", `/admin/${path}`, { as })).toBe("403 forbidden");
    },
  ],
  [
    "GET admin/users: { items, total, limit, offset }; limit 1-100, default 20; search",
    async (fixtures) => {
      const { call, getOutcome, bert } = fixtures;
      const as = await createAdminSession(fixtures);
      const page = await call<Listed>("GET", `/admin/users?q=${bert.userId}`, { as });
      expect([page.body.items.map(({ id }) => id), listErrors(adminSchemas.adminUserPage, page.body)]).toEqual([
        [bert.userId],
        [],
      ]);
      expect((await call("GET", "/admin/users", { as })).body).toMatchObject({ limit: 20, offset: 0 });
      for (const limit of [0, 101, "x"])
        expect(await getOutcome("GET", `/admin/users?limit=${limit}`, { as })).toBe("422 validation_error query.limit");
    },
  ],
  [
    "GET admin/users?sort=created_at|email|last_sign_in_at|credits|storage_used_bytes, with - descending; default -created_at",
    async (fixtures) => {
      const { call, getOutcome, server } = fixtures;
      const as = await createAdminSession(fixtures);
      const users = [await server.user(30), await server.user(10), await server.user(20)].map(({ userId }) => userId);
      const list = async (sort: string, offset = 0): Promise<string[]> => {
        const { body } = await call<Listed>("GET", `/admin/users?limit=100&offset=${offset}${sort}`, { as });
        const found = body.items.map(({ id }) => id).filter((id) => users.includes(id));
        return offset + 100 < body.total ? [...found, ...(await list(sort, offset + 100))] : found;
      };
      expect(await list("")).toEqual(users.toReversed());
      expect(await list("&sort=created_at")).toEqual(users);
      expect(await list("&sort=email")).toEqual(users.toSorted());
      expect(await list("&sort=-credits")).toEqual([users[0]!, users[2]!, users[1]!]);
      for (const sort of ["last_sign_in_at", "-storage_used_bytes"])
        expect(await list(`&sort=${sort}`)).toHaveLength(3);
      expect(await getOutcome("GET", "/admin/users?sort=password_hash", { as })).toBe(
        "422 validation_error query.sort",
      );
    },
  ],
  [
    "GET admin/users/{id} adds the number of what belongs to the account, its shared workspaces and the configured quota",
    async (fixtures) => {
      const { call, user } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await user()];
      await call("POST", "/projects", { json: { name: "A" }, as: target });
      await call("POST", "/workspaces", { json: { name: "Studio South" }, as: target });
      const { body } = await call<{ contents: object }>("GET", `/admin/users/${target.userId}`, { as });
      expect(listErrors(adminSchemas.adminUserDetail, body)).toEqual([]);
      expect(body).toMatchObject({
        default_storage_quota_bytes: null,
        contents: {
          projects: 1,
          assets: 0,
          sessions: 1,
          shared_workspaces: [{ name: "Studio South", role: "owner", is_only_owner: true }],
        },
      });
    },
  ],
  [
    "POST admin/jobs/{id}/cancel cancels the job's pipeline in any workspace; an ended one is 409, an unknown one 404",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await server.user()];
      const { runner } = server.services();
      const { id: asset_id } = await target.ready(await wav(2));
      // The cut would end before it is cancelled.
      await runner.stop();
      const cut = await target.must<{ id: string }>("POST", "/v1/cuts", { json: { asset_id } });
      const { body } = await call<{ items: { id: string; name: string; input_asset_name: string }[] }>(
        "GET",
        `/admin/jobs?workspace_id=${target.userId}&name=cut`,
        { as },
      );
      const path = `/admin/jobs/${body.items[0]!.id}/cancel`;
      const cancelling = call<{ state: string }>("POST", path, { as }).finally(() => runner.start());
      const { status, body: cancelled } = await cancelling;
      expect([status, cancelled.state]).toEqual([200, "cancelled"]);
      expect(await target.must("GET", `/v1/cuts/${cut.id}`)).toMatchObject({ error_code: "cancelled" });
      const audit = await call<{ total: number }>("GET", "/admin/audit?action=job.cancelled", { as });
      expect(audit.body.total).toBe(1);
      expect(await getOutcome("POST", path, { as })).toBe("409 conflict");
      expect(await getOutcome("POST", `/admin/jobs/${NO_ID}/cancel`, { as })).toBe("404 not_found");
    },
  ],
  [
    "GET admin/storage/totals: what all workspaces occupy by kind, and the disk; GET admin/storage?q= finds names and owners",
    async (fixtures) => {
      const { call, user } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await user()];
      const { body } = await call<{ disk: { total_bytes: number } }>("GET", "/admin/storage/totals", { as });
      expect(listErrors(adminSchemas.storageTotals, body)).toEqual([]);
      expect(body.disk.total_bytes).toBeGreaterThan(0);
      await call("POST", "/workspaces", { json: { name: "Studio Harbor" }, as: target });
      const find = async (q: string) =>
        (await call<{ total: number }>("GET", `/admin/storage?q=${q}`, { as })).body.total;
      expect([await find("harbor"), await find(emailOf(target).toUpperCase()), await find("nothing-like-it")]).toEqual([
        1, 2, 0,
      ]);
    },
  ],
  [
    "GET admin/health: checks [{ name, state: ok | warning | broken, about }], those of doctor and /readyz, and problems",
    async (fixtures) => {
      const as = await createAdminSession(fixtures);
      const { services, disk } = fixtures.server;
      disk.freeBytes = 50e9;
      await services().alerts.check();
      type Health = { checks: { name: string }[]; problems: { problem: string }[] };
      const { body } = await fixtures.call<Health>("GET", "/admin/health", { as });
      disk.freeBytes = 500e9;
      expect(body.problems.map(({ problem }) => problem)).toEqual(["disk_space"]);
      for (const problem of body.problems) expect(listErrors(adminSchemas.problem, problem)).toEqual([]);
      for (const check of body.checks) expect(listErrors(adminSchemas.healthCheck, check)).toEqual([]);
      expect(body.checks.map(({ name }) => name)).toEqual(
        expect.arrayContaining([
          "database",
          "disk",
          "queue",
          "ffmpeg",
          "encoder",
          "sandbox",
          "installed models",
          "mail",
          "backups",
        ]),
      );
    },
  ],
  [
    "GET admin/audit?user= finds who acted, was changed or is in the details; target.name and named_user name them; audit/export?format=csv escapes formulas",
    async (fixtures) => {
      const { server, call, user, bert } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await user()];
      await call("POST", `/admin/users/${target.userId}/credits`, { json: { delta: 1, note: '=1+1,"x"' }, as });
      const { body } = await call<{ items: { action: string; target: { name: string } }[] }>(
        "GET",
        `/admin/audit?action=user.credits_changed&user=${emailOf(target).toUpperCase()}`,
        { as },
      );
      expect(body.items.map((item) => item.target.name)).toEqual([emailOf(target)]);
      const made = await call<{ id: string }>("POST", "/workspaces", { json: { name: "Studio West" }, as: bert });
      await join(bert, made.body.id, target, "viewer");
      const found = await call<{ items: object[]; total: number }>(
        "GET",
        `/admin/audit?action=workspace.member_added&user=${emailOf(target)}`,
        { as },
      );
      expect(found.body).toMatchObject({
        total: 1,
        items: [{ named_user: { id: target.userId, email: emailOf(target) }, target: { name: "Studio West" } }],
      });
      const bearer = createClient(server.url, as.key, as.userId);
      const csv = await bearer.must<string>("GET", `/api/v1/admin/audit/export?format=csv&target_id=${target.userId}`);
      const [head, line] = csv.split("\r\n");
      expect(head).toContain("created_at,action,actor_kind");
      expect(line).toContain(`user.credits_changed,user,${emailOf(as)}`);
      expect(line).toContain('"{""delta"":1,""note"":""=1+1,\\""x\\""""}"');
    },
  ],
  [
    "PATCH admin/users/{id}: role (member, admin), disabled, storage_quota_bytes -> user",
    async (fixtures) => {
      const { call, getOutcome, user } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await user()];
      const path = `/admin/users/${target.userId}`;
      const change = async (json: object) => (await call("PATCH", path, { json, as })).body;
      expect(await change({ role: "admin" })).toMatchObject({ role: "admin" });
      expect(await getOutcome("GET", "/admin/users", { as: target })).toBe("200");
      expect(await change({ role: "member" })).toMatchObject({ role: "member" });
      expect(await getOutcome("GET", "/admin/users", { as: target })).toBe("403 forbidden");
      expect(await change({ storage_quota_bytes: 5_000 })).toMatchObject({ storage_quota_bytes: 5_000 });
      expect(await change({ storage_quota_bytes: null })).toMatchObject({ storage_quota_bytes: null });
      for (const [field, bad] of [
        ["role", "owner"],
        ["disabled", "yes"],
        ["storage_quota_bytes", -1],
        ["email", "a@b"],
      ])
        expect(await getOutcome("PATCH", path, { json: { [field as string]: bad }, as })).toBe(
          `422 validation_error body.${field}`,
        );
      expect(await getOutcome("PATCH", `/admin/users/${NO_ID}`, { json: {}, as })).toBe("404 not_found");
      expect(await getOutcome("PATCH", "/admin/users/x", { json: {}, as })).toBe("422 validation_error path.user_id");
    },
  ],
  [
    "A disabled user's keys and sessions get 401",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const [as, key] = [await createAdminSession(fixtures), await server.user()];
      const session = await startSession(server, key);
      const path = `/admin/users/${key.userId}`;
      await call("PATCH", path, { json: { disabled: true }, as });
      for (const one of [key, session])
        expect(await getOutcome("GET", "/users/me", { as: one })).toBe("401 unauthenticated");
      await call("PATCH", path, { json: { disabled: false }, as });
      expect(await getOutcome("GET", "/users/me", { as: key })).toBe("200");
    },
  ],
  [
    "POST admin/users/{id}/credits: delta, note -> ledger entry",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await server.user(10)];
      const path = `/admin/users/${target.userId}/credits`;
      const made = await call("POST", path, { json: { delta: 5, note: "Order" }, as });
      expect([made.status, listErrors(schemas.ledgerEntry, made.body)]).toEqual([201, []]);
      expect(made.body).toMatchObject({ type: "grant", delta: 5 });
      expect((await call("POST", path, { json: { delta: -15 }, as })).body).toMatchObject({ type: "adjustment" });
      expect(await getOutcome("POST", path, { json: { delta: -1 }, as })).toBe("409 conflict");
      for (const delta of [0, 1.5, "5"])
        expect(await getOutcome("POST", path, { json: { delta }, as })).toBe("422 validation_error body.delta");
    },
  ],
  [
    "POST admin/users { email, role?, credits? } -> 201 { user, invitation_url, expires_at } (7 days)",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const as = await createAdminSession(fixtures);
      const json = { email: `${crypto.randomUUID()}@example.test`, role: "admin", credits: 7 };
      const { status, body } = await call<{ user: object; invitation_url: string; expires_at: string }>(
        "POST",
        "/admin/users",
        { json, as },
      );
      expect([status, listErrors(adminSchemas.invitedUser, body)]).toEqual([201, []]);
      expect([Object.entries(body.user)]).toEqual([
        expect.arrayContaining([
          ["role", "admin"],
          ["credits", 7],
        ]),
      ]);
      const days = (Date.parse(body.expires_at) - server.services().now()) / 86_400_000;
      expect(days).toBeCloseTo(7, 2);
      expect(await getOutcome("POST", "/admin/users", { json, as })).toBe("409 conflict");
      expect(await getOutcome("POST", "/admin/users", { json: { email: "x" }, as })).toBe(
        "422 validation_error body.email",
      );
    },
  ],
  [
    "POST admin/users/{id}/password-reset -> { url, expires_at } (1 hour)",
    async (fixtures) => {
      const { server, call, bert } = fixtures;
      const as = await createAdminSession(fixtures);
      const { body } = await call<{ url: string; expires_at: string }>(
        "POST",
        `/admin/users/${bert.userId}/password-reset`,
        { as },
      );
      expect(body.url).toStartWith(`${server.services().publicUrl()}/reset-password#`);
      expect((Date.parse(body.expires_at) - server.services().now()) / 3_600_000).toBeCloseTo(1, 1);
      expect(server.log.join("\n")).not.toContain(body.url.split("#")[1]!);
    },
  ],
  [
    "The last administrator cannot be demoted, disabled or deleted: 409",
    async () => {
      await using server = await harness();
      const admin = await startSession(server, await createAdmin(server));
      const path = `/api/v1/admin/users/${admin.userId}`;
      for (const json of [{ role: "member" }, { disabled: true }])
        expect((await admin.call("PATCH", path, { json })).status).toBe(409);
      for (const one of [path, "/api/v1/users/me"]) expect((await admin.call("DELETE", one)).status).toBe(409);
    },
  ],
  [
    "DELETE users/me starts the 30-day grace window; POST users/me/restore ends it; in it everything else is 403, keys likewise",
    async ({ server, call, getOutcome }) => {
      const key = await server.user();
      const as = await startSession(server, key);
      expect(await getOutcome("DELETE", "/users/me", { as: key })).toBe("403 forbidden");
      expect(await getOutcome("DELETE", "/users/me", { as })).toBe("204");
      expect((await call<{ deleted_at: string }>("GET", "/users/me", { as })).body.deleted_at).toBeString();
      for (const one of [as, key]) expect(await getOutcome("GET", "/projects", { as: one })).toBe("403 forbidden");
      expect(await getOutcome("POST", "/users/me/restore", { as })).toBe("200");
      for (const one of [as, key]) expect(await getOutcome("GET", "/projects", { as: one })).toBe("200");
    },
  ],
  [
    "DELETE admin/users/{id} starts the grace window; POST …/restore ends it",
    async (fixtures) => {
      const { call, getOutcome, user } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await user()];
      expect(await getOutcome("DELETE", `/admin/users/${target.userId}`, { as })).toBe("204");
      const { body } = await call<{ deleted_at: string }>("GET", `/admin/users/${target.userId}`, { as });
      expect(body.deleted_at).toBeString();
      expect(await getOutcome("GET", "/projects", { as: target })).toBe("403 forbidden");
      expect(await getOutcome("POST", `/admin/users/${target.userId}/restore`, { as })).toBe("200");
      expect(await getOutcome("GET", "/projects", { as: target })).toBe("200");
    },
  ],
  [
    "An account that is the last owner of a shared workspace cannot be deleted (409, with their names)",
    async ({ call, user }) => {
      const as = await user();
      await call("POST", "/workspaces", { json: { name: "Studio North" }, as });
      const { status, body } = await call<{ detail: string }>("DELETE", "/users/me", { as });
      expect([status, body.detail]).toEqual([409, expect.stringContaining("Studio North")]);
    },
  ],
  [
    "GET admin/jobs, admin/storage, admin/health; the audit log says who did what from which address, also as JSON lines",
    async (fixtures) => {
      const { server, call, user } = fixtures;
      const [as, target] = [await createAdminSession(fixtures), await user()];
      for (const path of ["jobs", "storage"])
        expect((await call("GET", `/admin/${path}`, { as })).body).toMatchObject({ limit: 20, offset: 0 });
      expect((await call<{ status: string }>("GET", "/admin/health", { as })).status).toBe(200);
      await call("PATCH", `/admin/users/${target.userId}`, { json: { disabled: true }, as });
      const { body } = await call<{ items: { actor: { id: string }; address: string; action: string }[] }>(
        "GET",
        `/admin/audit?target_id=${target.userId}`,
        { as },
      );
      expect(body.items[0]).toMatchObject({ action: "user.disabled", actor: { id: as.userId, email: emailOf(as) } });
      expect(body.items[0]!.address).toBe("127.0.0.1");
      const bearer = createClient(server.url, as.key, as.userId);
      const lines = (await bearer.must<string>("GET", "/api/v1/admin/audit/export")).trim().split("\n");
      expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toContain("user.disabled");
    },
  ],
];
