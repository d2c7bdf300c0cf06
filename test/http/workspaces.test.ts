/** Workspaces and their members, with sessions. `workspace-access.test.ts` tests the access to their resources. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { countTokensCreatedBy } from "../../src/store/one-time-tokens";
import { createApiKey } from "../../src/work/access/command-accounts";
import { grantWorkspace } from "../unit/store/test-store";
import { emailOf, startSession } from "./accounts";
import { type CallOptions, type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import type { Asset, Project } from "./resources";
import { addMember, attempt, createWorkspace, inside, join, type Listed, type Workspace } from "./workspace-calls";

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

describe("a workspace", () => {
  test("is listed with the personal one, which is first and was made with the account", async () => {
    const user = await startSession(server, await server.user());
    const personal = { id: user.userId, name: "Personal", role: "owner", is_personal: true };
    const list = () => user.must<Listed<Workspace>>("GET", "/api/v1/workspaces");
    expect(await list()).toEqual({ items: [personal as Workspace], total: 1, limit: 20, offset: 0 });

    const reply = await user.call<Workspace>("POST", "/api/v1/workspaces", { json: { name: "A studio" } });
    const { body } = reply;
    expect([reply.status, reply.headers.get("location")]).toEqual([201, `/api/v1/workspaces/${body.id}`]);
    expect(body).toEqual({ id: expect.any(String), name: "A studio", role: "owner", is_personal: false });
    expect(await list()).toMatchObject({ items: [personal as Workspace, body], total: 2 });
    expect(await user.must("GET", "/api/v1/workspaces?limit=1&offset=1")).toMatchObject({ items: [body], total: 2 });
    expect(await user.must("GET", `/api/v1/workspaces/${body.id}`)).toMatchObject(body);
    const path = `/api/v1/workspaces/${body.id}`;
    expect(await user.must("PATCH", path, { json: { name: "Ours" } })).toEqual({ ...body, name: "Ours" });
  });

  test.each<[string, unknown, string]>([
    ["without a name", {}, "422 validation_error"],
    ["with an empty name", { name: "" }, "422 validation_error"],
    ["with a name of 257 characters", { name: "x".repeat(257) }, "422 validation_error"],
    ["with more than a name", { name: "x", role: "owner" }, "422 validation_error"],
  ])("%s is refused", async (_, json, expected) => {
    expect(await attempt(anna, "POST", "/workspaces", { json })).toBe(expected);
  });

  test("is created once for an Idempotency-Key", async () => {
    const options = { json: { name: "Once" }, headers: { "Idempotency-Key": "w" } };
    const first = await anna.must<Workspace>("POST", "/api/v1/workspaces", options);
    expect(await anna.must<Workspace>("POST", "/api/v1/workspaces", options)).toEqual(first);
  });

  test("contains everything created in it, which its credits pay for", async () => {
    const { id } = await createWorkspace(anna);
    const project = await anna.must<Project>("POST", "/api/v1/projects", inside(id, { name: "Shared" }));
    const list = async (options: CallOptions) =>
      (await anna.must<{ items: Project[] }>("GET", "/api/v1/projects", options)).items.map((one) => one.id);
    expect(await list(inside(id))).toEqual([project.id]);
    expect(await list({})).not.toContain(project.id);
    expect(await attempt(anna, "GET", `/projects/${project.id}`)).toBe("404 not_found");
    expect(await attempt(anna, "GET", `/projects/${project.id}`, inside(id.toUpperCase()))).toBe("200");

    const bytes = await wav(2);
    const request = inside(id, { project_id: project.id, size_bytes: bytes.byteLength });
    expect(await attempt(anna, "POST", "/assets", request)).toBe("402 insufficient_credits");
    await server.services().store.write((tx) => grantWorkspace(tx, id, 1));
    const asset = await anna.must<Asset>("POST", "/api/v1/assets", request);
    const tus = { "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" };
    const patch = (headers: Record<string, string>) =>
      anna.call("PATCH", `/api/v1/uploads/${asset.id}`, {
        headers: { ...tus, ...headers },
        body: bytes as Uint8Array<ArrayBuffer>,
      });
    expect((await patch({})).status).toBe(404);
    expect((await patch({ "Offcut-Workspace": id })).status).toBe(204);
    await server.idle();
    expect(await anna.must("GET", `/api/v1/assets/${asset.id}`, inside(id))).toMatchObject({ state: "ready" });
    const history = await anna.must<{ items: { delta: number }[] }>("GET", "/api/v1/credits/history", inside(id));
    expect(history.items.map(({ delta }) => delta)).toEqual([-1, 1]);
  });

  test.each([
    ["that does not exist", NO_ID],
    ["of somebody else", null],
    ["that is no UUID", "studio"],
  ])("%s cannot be named in the header", async (_, name) => {
    const workspace = name ?? (await createWorkspace(bert)).id;
    expect(await attempt(anna, "GET", "/projects", inside(workspace))).toBe("404 not_found");
    expect(await attempt(anna, "POST", "/projects", inside(workspace, { name: "P" }))).toBe("404 not_found");
  });

  test("is 404 to others, whatever they send", async () => {
    const { id } = await createWorkspace(anna);
    const calls: [string, string, object | undefined][] = [
      ["GET", "", undefined],
      ["PATCH", "", { name: "Mine" }],
      ["PATCH", "", { nonsense: 1 }],
      ["DELETE", "", undefined],
      ["GET", "/members", undefined],
      ["POST", "/members", { email: emailOf(bert), role: "owner" }],
      ["PATCH", `/members/${anna.userId}`, { role: "viewer" }],
      ["PATCH", `/members/${bert.userId}`, { role: "owner" }],
      ["DELETE", `/members/${anna.userId}`, undefined],
      ["DELETE", `/members/${bert.userId}`, undefined],
    ];
    for (const [method, path, json] of calls) {
      const made = await attempt(bert, method, `/workspaces/${id}${path}`, json ? { json } : {});
      expect([method, path, made]).toEqual([method, path, "404 not_found"]);
    }
    expect(await attempt(bert, "GET", "/workspaces/x")).toBe("422 validation_error");
  });

  test("limits the number that a user owns", async () => {
    const user = await startSession(server, await server.user());
    for (let n = 0; n < 50; n++) await createWorkspace(user, `W ${n}`);
    expect(await attempt(user, "POST", "/workspaces", { json: { name: "W 50" } })).toBe("409 conflict");
  });
});

test("resources name their creators, even if the account was deleted", async () => {
  const { id } = await createWorkspace(anna);
  const guest = await startSession(server, await server.user());
  await join(anna, id, guest);
  const { store } = server.services();
  await store.write((tx) => tx.run(sql`UPDATE users SET last_name = 'Guest' WHERE id = ${guest.userId}`));
  const project = await guest.must<Project>("POST", "/api/v1/projects", inside(id, { name: "Theirs" }));
  await anna.must<Project>("POST", "/api/v1/projects", inside(id, { name: "Ours" }));
  const authors = async () => {
    const { items } = await anna.must<{ items: (Project & { created_by: unknown })[] }>(
      "GET",
      "/api/v1/projects",
      inside(id),
    );
    return Object.fromEntries(items.map(({ name, created_by }) => [name, created_by]));
  };
  const ours = { id: anna.userId, name: null };
  expect(await authors()).toEqual({ Ours: ours, Theirs: { id: guest.userId, name: "Guest" } });
  await store.write((tx) => tx.run(sql`DELETE FROM users WHERE id = ${guest.userId}`));
  expect(await authors()).toEqual({ Ours: ours, Theirs: null });
  expect(await attempt(anna, "GET", `/projects/${project.id}`, inside(id))).toBe("200");
});

describe("a personal workspace", () => {
  test.each<[string, (user: Client) => string, object | undefined, string]>([
    ["DELETE", (user) => `/workspaces/${user.userId}`, undefined, "409 conflict"],
    [
      "POST",
      (user) => `/workspaces/${user.userId}/members`,
      { email: "x@example.test", role: "viewer" },
      "409 conflict",
    ],
    ["DELETE", (user) => `/workspaces/${user.userId}/members/${user.userId}`, undefined, "409 conflict"],
    ["PATCH", (user) => `/workspaces/${user.userId}/members/${user.userId}`, { role: "viewer" }, "409 conflict"],
    ["PATCH", (user) => `/workspaces/${user.userId}`, { name: "My own" }, "200"],
  ])("%s %p with %p: %s", async (method, path, json, expected) => {
    expect(await attempt(carl, method, path(carl), json ? { json } : {})).toBe(expected);
  });
});

describe("with an API key", () => {
  test("only the key's workspace exists, and none can be created", async () => {
    const { id } = await createWorkspace(anna);
    const { key } = await createApiKey(server.services(), { email: emailOf(anna), name: "k", workspace: id });
    const withKey = createClient(server.url, key, anna.userId);
    expect(await withKey.must<Listed<Workspace>>("GET", "/api/v1/workspaces")).toMatchObject({
      items: [{ id, role: "owner" }],
      total: 1,
    });
    expect(await attempt(withKey, "GET", `/workspaces/${id}`)).toBe("200");
    expect(await attempt(withKey, "GET", `/workspaces/${anna.userId}`)).toBe("404 not_found");
    expect(await attempt(withKey, "GET", `/workspaces/${anna.userId}/members`)).toBe("404 not_found");
    expect(await attempt(withKey, "POST", "/workspaces", { json: { name: "W" } })).toBe("403 forbidden");
  });
});

describe("the deletion of a workspace", () => {
  test("deletes everything in it, ends its keys and invitations, and keeps its ledger", async () => {
    const { id } = await createWorkspace(anna);
    const { store } = server.services();
    await store.write((tx) => grantWorkspace(tx, id, 5));
    await join(anna, id, bert, "owner");
    const { body: invited } = await addMember(anna, id, "later@example.test");
    const { key } = await createApiKey(server.services(), { email: emailOf(bert), name: "k", workspace: id });
    const withKey = createClient(server.url, key, bert.userId);
    const asset = await withKey.ready(await wav(2));
    const cut = await withKey.cutEnded((await withKey.startCut({ asset_id: asset.id })).id);
    const render = await withKey.startRender({ asset_id: asset.id });
    const upload = await withKey.open(1_000);

    expect(await attempt(anna, "DELETE", `/workspaces/${id}`)).toBe("204");
    expect(await attempt(anna, "DELETE", `/workspaces/${id}`)).toBe("404 not_found");
    expect(await attempt(withKey, "GET", "/projects")).toBe("401 unauthenticated");
    expect((await fetch(asset.download_url!)).status).toBe(404);
    const token = new URL(invited.invitation_url!).hash.slice(1);
    const accepted = await server.nobody.call("POST", "/api/v1/auth/invitation", {
      json: { token, password: "correct horse battery" },
    });
    expect(accepted.status).toBe(401);
    await server.idle();
    for (const name of ["projects", "assets", "cuts", "renders", "pipelines", "steps", "holds", "events", "api_keys"]) {
      const rows = await store.read.all(sql.raw(`SELECT id FROM ${name} WHERE workspace_id = '${id}'`));
      expect([name, rows]).toEqual([name, []]);
    }
    const [ledger] = await store.read.all<{ n: number }>(
      sql`SELECT count(*) AS n FROM ledger WHERE workspace_id = ${id}`,
    );
    expect(ledger!.n).toBe(2);
    for (const left of [asset.id, cut.id, render.id, upload.id]) expect(await server.leftovers(left)).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  test("forgets no invitation that was sent meanwhile: it counts against the limit of the owner", async () => {
    const { id } = await createWorkspace(anna);
    const { store, now } = server.services();
    const { write } = store;
    const count = () => countTokensCreatedBy(store.read, anna.userId, now() - 3_600_000);
    const before = await count();
    let writes = 0;
    store.write = async (work) => {
      if (++writes !== 2) return write(work);
      store.write = write;
      expect((await addMember(anna, id, "late@example.test")).status).toBe(201);
      return write(work);
    };
    expect(await attempt(anna, "DELETE", `/workspaces/${id}`)).toBe("204");
    expect(await count()).toBe(before + 1);
  });

  test("can be repeated by the owner after it was interrupted", async () => {
    const { id } = await createWorkspace(anna);
    await join(anna, id, bert);
    const project = await bert.must<Project>("POST", "/api/v1/projects", inside(id, { name: "P" }));
    const { store } = server.services();
    const { write } = store;
    let writes = 0;
    store.write = (work) => (++writes > 1 ? Promise.reject(new Error("crash")) : write(work));
    expect(await attempt(anna, "DELETE", `/workspaces/${id}`)).toBe("500 internal_error");
    store.write = write;
    server.errors.length = 0;
    expect(await attempt(bert, "GET", `/projects/${project.id}`, inside(id))).toBe("404 not_found");
    expect(await attempt(anna, "GET", `/projects/${project.id}`, inside(id))).toBe("200");
    expect(await attempt(anna, "DELETE", `/workspaces/${id}`)).toBe("204");
    expect(await attempt(anna, "GET", `/projects/${project.id}`, inside(id))).toBe("404 not_found");
  });
});
