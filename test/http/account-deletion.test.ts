/** The deletion of accounts over HTTP: the grace period, the way back, and the purge that follows. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { listNames } from "../../src/blobs/trash";
import { dashboardRoutes } from "../../src/http/dashboard";
import { purgeAccounts } from "../../src/work/identity/account-purge";
import { until } from "../until";
import { createAdmin, emailOf, listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import { receiver } from "./receiver";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;
const ME = "/api/v1/users/me";

type Profile = { id: string; deleted_at: string | null };

let server: Harness;
beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" }, { sharesChild: true });
  await createAdmin(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const status = async (client: Client, method: string, path: string, json?: unknown) =>
  (await client.call(method, path, json === undefined ? {} : { json })).status;

test("an account is deleted with a session of at most 12 hours, not with a key", async () => {
  const anna = await server.user();
  const session = await startSession(server, anna);
  expect(await status(anna, "DELETE", ME)).toBe(403);
  server.advance(DAY_MS / 2 + 1);
  expect(await session.call("DELETE", ME)).toMatchObject({ status: 403, body: { reason: "session_too_old" } });
  expect(await status(await startSession(server, anna), "DELETE", ME)).toBe(204);
});

test("in the grace period the profile, sign-in and restore work, and everything else is 403", async () => {
  const anna = await withPassword(server, await server.user());
  const project = await anna.project();
  const session = await startSession(server, anna);
  expect(await status(session, "DELETE", ME)).toBe(204);
  const { deleted_at: deletedAt } = await session.must<Profile>("GET", ME);
  expect(deletedAt).toMatch(/Z$/);
  expect(await anna.must("GET", "/v1/users/me")).toMatchObject({ deleted_at: deletedAt });
  for (const { method, path, access } of dashboardRoutes) {
    if (access.authentication === "none" || access.inGrace) continue;
    const at = `/api/v1${path.replace(/:\w+/g, NO_ID)}`;
    for (const client of [session, anna])
      expect([method, at, await status(client, method, at)]).toEqual([method, at, 403]);
  }
  expect(await status(anna, "GET", `/v1/projects/${project.id}`)).toBe(403);
  expect(await status(session, "PATCH", ME, { first_name: "Anna" })).toBe(200);
  const login = { json: { email: emailOf(anna), password: PASSWORD } };
  expect((await server.nobody.call("POST", "/api/v1/auth/login", login)).status).toBe(200);
  // A second deletion does not extend the period.
  server.advance(DAY_MS / 4);
  expect(await status(session, "DELETE", ME)).toBe(204);
  expect(await session.must<Profile>("GET", ME)).toMatchObject({ deleted_at: deletedAt });
  expect(await session.must<Profile>("POST", `${ME}/restore`)).toMatchObject({ id: anna.userId, deleted_at: null });
  expect(await status(session, "POST", `${ME}/restore`)).toBe(200);
  expect(await status(anna, "GET", `/v1/projects/${project.id}`)).toBe(200);
  const log = (await listAuditLog(server)).filter((row) => row.target_id === anna.userId);
  const deletions = log.filter((row) => row.action !== "session.created").map((row) => row.action);
  expect(deletions).toEqual(["user.deletion_started", "user.restored"]);
});

test("the last owner of a shared workspace cannot delete the account, and the error names the workspace", async () => {
  const [anna, bert] = [await server.user(), await server.user()];
  const { store } = server.services();
  await store.write(async (tx) => {
    await tx.run(sql`INSERT INTO workspaces (id, name, created_at) VALUES ('w', 'Studio North', 0)`);
    for (const { userId } of [anna, bert])
      await tx.run(sql`INSERT INTO workspace_members (workspace_id, user_id, role, created_at)
        VALUES ('w', ${userId}, ${userId === anna.userId ? "owner" : "editor"}, 0)`);
  });
  const [ofAnna, ofBert] = [await startSession(server, anna), await startSession(server, bert)];
  const refused = await ofAnna.call<{ detail: string; code: string }>("DELETE", ME);
  expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
  expect(refused.body.detail).toContain('"Studio North"');
  await store.write((tx) => tx.run(sql`UPDATE workspace_members SET role = 'owner' WHERE workspace_id = 'w'`));
  // If two owners leave at the same time, one stays.
  const both = await Promise.all([status(ofAnna, "DELETE", ME), status(ofBert, "DELETE", ME)]);
  expect(both.toSorted()).toEqual([204, 409]);
});

test("no webhooks are sent in the grace period", async () => {
  await using hooks = receiver();
  const anna = await server.user();
  const session = await startSession(server, anna);
  await anna.must("POST", "/v1/webhook-endpoints", { json: { url: hooks.url, event_types: ["asset.ready"] } });
  const hold = server.speech.hold("analyze");
  await anna.upload(await wav(2));
  await hold.reached;
  await session.must("DELETE", ME);
  hold.release();
  await server.idle();
  expect(hooks.received).toEqual([]);
});

test("after 30 days the account cannot be restored, and is purged with its files", async () => {
  await using own = await harness();
  await createAdmin(own);
  const anna = await own.user(100);
  const asset = await anna.ready(await wav(2));
  const session = await startSession(own, anna);
  await session.must("DELETE", ME);
  own.advance(30 * DAY_MS - 60_000);
  const again = await startSession(own, anna);
  await own.restart();
  own.services().confirmedNow = () => Date.now();
  expect((await again.must<Profile>("GET", ME)).id).toBe(anna.userId);
  own.advance(60_000);
  expect(await again.call("POST", `${ME}/restore`)).toMatchObject({ status: 409, body: { code: "conflict" } });
  const { read } = own.services().store;
  own.services().confirmedNow = own.services().now;
  await purgeAccounts(own.services(), new AbortController().signal);
  await until("the removal of files", async () => (await own.leftovers(asset.id)).length === 0);
  // The trash contains no files of a purged account.
  expect(await listNames(own.services().folders.trash)).toEqual([]);
  expect([await status(again, "GET", ME), await status(anna, "GET", "/v1/users/me")]).toEqual([401, 401]);
  const ledger = await read.all<{ delta: number }>(sql`SELECT delta FROM ledger ORDER BY id`);
  expect(ledger.map((entry) => entry.delta)).toEqual([100, -1]);
  const actions = (await listAuditLog(own)).map((row) => row.action);
  expect(actions.slice(-2)).toEqual(["user.purge_started", "user.purged"]);
  expect(own.errors).toEqual([]);
});
