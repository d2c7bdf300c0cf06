/** Access to the resources of a workspace, generated from the table of routes with the IDs of real resources. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { KEY_SCOPES, type KeyScope, type WorkspaceRole } from "../../src/domain/access";
import { PUBLIC_PREFIX, publicRoutes } from "../../src/http/public";
import { newId } from "../../src/lib/ids";
import { findProject } from "../../src/store/projects";
import { insertMember, insertWorkspace } from "../../src/store/workspaces";
import { createApiKey } from "../../src/work/access/command-accounts";
import { grantWorkspace } from "../unit/store/test-store";
import { type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { outcome, tryCall } from "./outcome";
import type { Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
/** Anna owns the workspace, Erik edits, Vera views; Otto is not a member. `reader` is Anna's key without `write`. */
let people: Record<"anna" | "erik" | "vera" | "otto" | "reader", Client>;
let workspaceId: string;
/** The path parameters of resources in the workspace. */
let ids: Record<string, string>;

/** Returns a client with a key of the workspace. */
async function keyIn(user: Client, workspace: string, scopes: readonly KeyScope[] = KEY_SCOPES): Promise<Client> {
  const email = `${user.userId}@example.test`;
  const { key } = await createApiKey(server.services(), { email, name: "k", workspace, scopes: [...scopes] });
  return createClient(server.url, key, user.userId);
}

beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" });
  const { store } = server.services();
  const users = { anna: await server.user(), erik: await server.user(), vera: await server.user() };
  const roles: Record<keyof typeof users, WorkspaceRole> = { anna: "owner", erik: "editor", vera: "viewer" };
  workspaceId = newId();
  await store.write(async (tx) => {
    await insertWorkspace(tx, { id: workspaceId, name: "Studio", created_by: users.anna.userId, created_at: 1 });
    for (const name of ["anna", "erik", "vera"] as const) {
      const userId = users[name].userId;
      await insertMember(tx, { workspace_id: workspaceId, user_id: userId, role: roles[name], created_at: 1 });
    }
    await grantWorkspace(tx, workspaceId, 100);
  });
  people = {
    anna: await keyIn(users.anna, workspaceId),
    erik: await keyIn(users.erik, workspaceId),
    vera: await keyIn(users.vera, workspaceId),
    otto: await server.user(),
    reader: await keyIn(users.anna, workspaceId, ["read"]),
  };
  const { anna } = people;
  const asset = await anna.ready(await wav(2));
  const upload = await anna.open(1_000);
  const cut = await anna.startCut({ asset_id: asset.id });
  const render = await anna.startRender({ asset_id: asset.id });
  const endpoint = await anna.must<{ id: string }>("POST", "/v1/webhook-endpoints", {
    json: { url: "http://127.0.0.1:8999/hook", event_types: ["asset.ready"] },
  });
  const sent = await anna.must<{ delivery_id: string }>("POST", `/v1/webhook-endpoints/${endpoint.id}/test`);
  ids = {
    project_id: asset.project_id,
    asset_id: asset.id,
    cut_id: cut.id,
    render_id: render.id,
    endpoint_id: endpoint.id,
    delivery_id: sent.delivery_id,
    upload_id: upload.id,
  };
});
afterAll(() => server[Symbol.asyncDispose]());

const fill = (path: string) => `${PUBLIC_PREFIX}${path.replace(/:(\w+)/g, (_, name: string) => ids[name]!)}`;
const named = publicRoutes.filter(({ path }) => path.includes(":"));
const writes = publicRoutes.filter(({ method, access }) => method !== "GET" && access.target === "workspace");
const bodyOf = (method: string) => (method === "GET" || method === "DELETE" ? undefined : {});
const pairs = (routes: typeof publicRoutes) => routes.map(({ method, path }) => [method, path] as const);

describe("users outside of the workspace get only 404:", () => {
  test.each(pairs(named))("%s %s", async (method, path) => {
    expect(await tryCall(people.otto, method, fill(path), bodyOf(method))).toBe("404 not_found");
  });

  test.each([
    ["/v1/assets", () => ({ project_id: ids.project_id, size_bytes: 1_000 })],
    ["/v1/cuts", () => ({ asset_id: ids.asset_id })],
    ["/v1/renders", () => ({ asset_id: ids.asset_id })],
  ] as const)("POST %s for what is in it", async (path, json) => {
    expect(await tryCall(people.otto, "POST", path, json())).toBe("404 not_found");
  });

  test("an upload", async () => {
    const path = `/v1/uploads/${ids.upload_id}`;
    expect((await people.otto.call("HEAD", path, { headers: people.otto.tus() })).status).toBe(404);
    expect((await people.otto.patch(ids.upload_id!, 0, new Uint8Array(10))).status).toBe(404);
    // A repeated DELETE has the same response, so it reveals nothing about the upload.
    expect((await people.otto.call("DELETE", path, { headers: people.otto.tus() })).status).toBe(204);
    expect((await people.anna.call("HEAD", path, { headers: people.anna.tus() })).status).toBe(200);
  });

  test("with a key of another workspace, whatever its header says", async () => {
    const headers = { "Offcut-Workspace": workspaceId };
    expect(outcome(await people.otto.call("GET", "/v1/projects", { headers }))).toBe("404 not_found");
    expect(outcome(await people.anna.call("GET", "/v1/projects", { headers }))).toBe("200");
  });

  test.each(pairs(publicRoutes.filter(({ method, path }) => method === "GET" && !path.includes(":"))))(
    "%s %s lists nothing of it",
    async (_, path) => {
      const mine = await people.anna.must<Paged<{ id: string }> | { id: string }>("GET", `${PUBLIC_PREFIX}${path}`);
      if (!("items" in mine)) return;
      expect(mine.items.length).toBeGreaterThan(0);
      const { items } = await people.otto.must<Paged<{ id: string }>>("GET", `${PUBLIC_PREFIX}${path}`);
      const shared = new Set(mine.items.map(({ id }) => id));
      expect(items.filter(({ id }) => shared.has(id))).toEqual([]);
    },
  );
});

describe.each(["vera", "reader"] as const)("%s may not write:", (name) => {
  test.each(pairs(writes))("%s %s", async (method, path) => {
    expect(await tryCall(people[name], method, fill(path), bodyOf(method))).toBe("403 forbidden");
  });

  test.each(["PATCH", "DELETE"])("%s of an upload", async (method) => {
    const headers = people[name].tus({ "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0" });
    const path = `/v1/uploads/${ids.upload_id}`;
    expect(outcome(await people[name].call(method, path, { headers }))).toBe("403 forbidden");
    const disguised = { ...headers, "X-HTTP-Method-Override": method };
    expect(outcome(await people[name].call("POST", path, { headers: disguised }))).toBe("403 forbidden");
  });

  test("but reads what everybody in the workspace reads", async () => {
    for (const path of ["/projects/:project_id", "/assets/:asset_id", "/cuts/:cut_id", "/renders/:render_id"]) {
      expect([path, await tryCall(people[name], "GET", fill(path))]).toEqual([path, "200"]);
    }
    const head = await people[name].call("HEAD", `/v1/uploads/${ids.upload_id}`, { headers: people[name].tus() });
    expect(head.status).toBe(200);
  });
});

test("members share resources, credits and caps, and what they make names them", async () => {
  const { anna, erik, vera } = people;
  const project = await erik.project("Erik's");
  expect(await tryCall(anna, "PATCH", `/v1/projects/${project.id}`, { name: "Ours" })).toBe("200");
  expect(await vera.must("GET", `/v1/projects/${project.id}`)).toMatchObject({ name: "Ours" });
  const [balance, other] = await Promise.all(
    [anna, erik].map((one) => one.must<Paged<{ id: string }>>("GET", "/v1/credits/history")),
  );
  expect(other).toEqual(balance!);
  const { store } = server.services();
  expect(await findProject(store.read, workspaceId, project.id)).toMatchObject({ created_by: erik.userId });
});

test("a key stops working in the workspace when its user is no longer a member", async () => {
  const { store } = server.services();
  const guest = await server.user();
  await store.write((tx) =>
    insertMember(tx, { workspace_id: workspaceId, user_id: guest.userId, role: "editor", created_at: 1 }),
  );
  const inside = await keyIn(guest, workspaceId);
  expect(await tryCall(inside, "GET", fill("/assets/:asset_id"))).toBe("200");
  await store.write((tx) =>
    tx.run(
      sql`UPDATE workspace_members SET role = 'viewer' WHERE user_id = ${guest.userId} AND workspace_id = ${workspaceId}`,
    ),
  );
  expect(await tryCall(inside, "POST", "/v1/projects", { name: "P" })).toBe("403 forbidden");
  await store.write((tx) =>
    tx.run(sql`DELETE FROM workspace_members WHERE user_id = ${guest.userId} AND workspace_id = ${workspaceId}`),
  );
  expect(await tryCall(inside, "GET", fill("/assets/:asset_id"))).toBe("404 not_found");
  expect(await tryCall(inside, "POST", "/v1/projects", { name: "P" })).toBe("404 not_found");
  // The personal workspace is not affected.
  expect(await tryCall(guest, "GET", "/v1/projects")).toBe("200");
});

test("in the grace period a key reads its account and nothing else", async () => {
  const leaving = await server.user();
  const { store } = server.services();
  await store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${leaving.userId}`));
  expect(await tryCall(leaving, "GET", "/v1/users/me")).toBe("200");
  for (const { method, path, access } of publicRoutes) {
    if (access.inGrace) continue;
    expect([path, await tryCall(leaving, method, fill(path), bodyOf(method))]).toEqual([path, "403 forbidden"]);
  }
});
