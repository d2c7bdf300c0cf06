import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { outcome, tryCall } from "./outcome";
import type { Paged, Project } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness();
});
afterAll(() => server[Symbol.asyncDispose]());

const later = (a: string, b: string) => Date.parse(a) - Date.parse(b);

describe("creating a project", () => {
  test("returns it with its Location", async () => {
    const anna = await server.user();
    const reply = await anna.call<Project>("POST", "/v1/projects", { json: { name: "Film 🎬" } });
    expect(reply.status).toBe(201);
    const { body } = reply;
    expect(reply.headers.get("location")).toBe(`/v1/projects/${body.id}`);
    expect(body).toEqual({
      id: body.id,
      name: "Film 🎬",
      state: "active",
      archived_at: null,
      created_at: body.created_at,
      updated_at: body.created_at,
      last_activity_at: body.created_at,
    });
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await anna.must("GET", `/v1/projects/${body.id}`)).toEqual(body);
  });

  test.each<[string, unknown, string]>([
    ["without a name", {}, "422 validation_error body.name"],
    ["with an empty name", { name: "" }, "422 validation_error body.name"],
    ["with a name of 256 characters", { name: "x".repeat(256) }, "201"],
    ["with a name of 256 code points outside the BMP", { name: "🎬".repeat(256) }, "201"],
    ["with a name of 257 characters", { name: "x".repeat(257) }, "422 validation_error body.name"],
    ["with a number as its name", { name: 5 }, "422 validation_error body.name"],
    ["with null as its name", { name: null }, "422 validation_error body.name"],
    ["with U+0000", { name: "a\u0000b" }, "422 validation_error body.name"],
    ["with an unknown property", { name: "x", color: "red" }, "422 validation_error body.color"],
    ["with a state", { name: "x", state: "archived" }, "422 validation_error body.state"],
  ])("%s", async (_, json, expected) => {
    expect(await tryCall(await server.user(), "POST", "/v1/projects", json)).toBe(expected);
  });
});

describe("changing a project", () => {
  test("renames it, which changes updated_at but not last_activity_at", async () => {
    const anna = await server.user();
    const before = await anna.project("Old");
    server.advance(60_000);
    const after = await anna.must<Project>("PATCH", `/v1/projects/${before.id}`, { json: { name: "New" } });
    expect(after).toEqual({ ...before, name: "New", updated_at: after.updated_at });
    expect(later(after.updated_at, before.updated_at)).toBeGreaterThanOrEqual(60_000);
    expect(await anna.must("GET", `/v1/projects/${before.id}`)).toEqual(after);
  });

  test("archives and restores it", async () => {
    const anna = await server.user();
    const { id } = await anna.project();
    const set = (state: string) => anna.must<Project>("PATCH", `/v1/projects/${id}`, { json: { state } });
    const archived = await set("archived");
    expect(archived.state).toBe("archived");
    expect(archived.archived_at).not.toBeNull();
    server.advance(60_000);
    expect((await set("archived")).archived_at).toBe(archived.archived_at);
    expect(await set("active")).toMatchObject({ state: "active", archived_at: null });
  });

  test("with an empty body changes nothing", async () => {
    const anna = await server.user();
    const before = await anna.project();
    server.advance(60_000);
    expect(await anna.must("PATCH", `/v1/projects/${before.id}`, { json: {} })).toEqual(before);
  });

  test.each<[string, unknown, string]>([
    ["an empty name", { name: "" }, "422 validation_error body.name"],
    ["another state", { state: "deleted" }, "422 validation_error body.state"],
    ["a state of null", { state: null }, "422 validation_error body.state"],
    ["an unknown property", { id: "x" }, "422 validation_error body.id"],
  ])("to %s is refused", async (_, json, expected) => {
    const anna = await server.user();
    const before = await anna.project();
    expect(await tryCall(anna, "PATCH", `/v1/projects/${before.id}`, json)).toBe(expected);
    expect(await anna.must("GET", `/v1/projects/${before.id}`)).toEqual(before);
  });
});

describe("another user's project", () => {
  test.each([
    ["GET", undefined],
    ["PATCH", { name: "Mine" }],
    ["PATCH", { nonsense: 1 }],
    ["DELETE", undefined],
  ])("%s %j is a 404", async (method, json) => {
    const [anna, bert] = [await server.user(), await server.user()];
    const project = await anna.project();
    expect(await tryCall(bert, method, `/v1/projects/${project.id}`, json)).toBe("404 not_found");
    expect(await anna.must("GET", `/v1/projects/${project.id}`)).toEqual(project);
    expect(await bert.must<Paged<Project>>("GET", "/v1/projects")).toMatchObject({ items: [] });
  });
});

test("IDs in upper case are accepted", async () => {
  const anna = await server.user();
  const { id } = await anna.project();
  expect(await tryCall(anna, "GET", `/v1/projects/${id.toUpperCase()}`)).toBe("200");
});

test("a deleted project is a 404, also when it is deleted again", async () => {
  const anna = await server.user();
  const { id } = await anna.project();
  const reply = await anna.call("DELETE", `/v1/projects/${id}`);
  expect([reply.status, reply.body]).toEqual([204, ""]);
  expect(await tryCall(anna, "GET", `/v1/projects/${id}`)).toBe("404 not_found");
  expect(await tryCall(anna, "DELETE", `/v1/projects/${id}`)).toBe("404 not_found");
});

test("a project that is deleted during a change is a 404", async () => {
  const anna = await server.user();
  const { id } = await anna.project();
  const writes = server.holdWrites();
  const deletion = tryCall(anna, "DELETE", `/v1/projects/${id}`);
  await writes.waiting(1);
  const change = tryCall(anna, "PATCH", `/v1/projects/${id}`, { name: "x" });
  await writes.waiting(2);
  writes.release();
  expect(await Promise.all([deletion, change])).toEqual(["204", "404 not_found"]);
});

describe("the project list", () => {
  /** Creates a user with `count` projects, the last one created first in the list. */
  async function withProjects(count: number): Promise<{ anna: Client; ids: string[] }> {
    const anna = await server.user();
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      server.advance(1_000);
      ids.unshift((await anna.project(`P${n}`)).id);
    }
    return { anna, ids };
  }

  const list = (user: Client, query = "") => user.must<Paged<Project>>("GET", `/v1/projects${query}`);
  const idsOf = (page: Paged<Project>) => page.items.map((project) => project.id);

  test("returns every project once over several pages, most recently active first", async () => {
    const { anna, ids } = await withProjects(5);
    const first = await list(anna, "?limit=2");
    const second = await list(anna, `?limit=2&cursor=${first.next_cursor}`);
    const third = await list(anna, `?limit=2&cursor=${second.next_cursor}`);
    expect([...idsOf(first), ...idsOf(second), ...idsOf(third)]).toEqual(ids);
    expect([first.limit, third.next_cursor]).toEqual([2, null]);
  });

  test("neither skips nor repeats projects with the same time of activity", async () => {
    const anna = await server.user();
    const made = await Promise.all(Array.from({ length: 9 }, (_, n) => anna.project(`P${n}`)));
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: Paged<Project> = await list(anna, `?limit=2${cursor ? `&cursor=${cursor}` : ""}`);
      seen.push(...idsOf(page));
      cursor = page.next_cursor;
    }
    expect(seen.toSorted()).toEqual(made.map((project) => project.id).toSorted());
  });

  test("moves a project up on an upload, not on a rename", async () => {
    const { anna, ids } = await withProjects(3);
    const [newest, middle, oldest] = ids as [string, string, string];
    server.advance(60_000);
    await anna.must("PATCH", `/v1/projects/${middle}`, { json: { name: "x" } });
    await anna.open(1_000, { projectId: oldest });
    expect(idsOf(await list(anna))).toEqual([oldest, newest, middle]);
  });

  test("lists active projects by default, archived ones on request", async () => {
    const { anna, ids } = await withProjects(2);
    await anna.must("PATCH", `/v1/projects/${ids[0]}`, { json: { state: "archived" } });
    expect(idsOf(await list(anna))).toEqual([ids[1]!]);
    expect(idsOf(await list(anna, "?state=active"))).toEqual([ids[1]!]);
    expect(idsOf(await list(anna, "?state=archived"))).toEqual([ids[0]!]);
  });

  test("has 20 projects per page by default", async () => {
    const { anna } = await withProjects(0);
    expect(await list(anna)).toEqual({ items: [], limit: 20, next_cursor: null });
    expect((await list(anna, "?limit=100")).limit).toBe(100);
  });

  test.each([
    ["limit=0", "query.limit"],
    ["limit=101", "query.limit"],
    ["limit=x", "query.limit"],
    ["state=all", "query.state"],
    ["cursor=x", "query.cursor"],
    ["cursor=", "query.cursor"],
    ["offset=1", "query.offset"],
  ])("refuses %s", async (query, field) => {
    expect(await tryCall(await server.user(), "GET", `/v1/projects?${query}`)).toBe(`422 validation_error ${field}`);
  });

  test("refuses the cursor of another list, filter or user", async () => {
    const { anna } = await withProjects(2);
    const bert = await server.user();
    const { next_cursor } = await list(anna, "?limit=1");
    const refused = "422 validation_error query.cursor";
    expect(await tryCall(anna, "GET", `/v1/projects?cursor=${next_cursor}`)).toBe("200");
    expect(await tryCall(anna, "GET", `/v1/projects?state=archived&cursor=${next_cursor}`)).toBe(refused);
    expect(await tryCall(anna, "GET", `/v1/assets?cursor=${next_cursor}`)).toBe(refused);
    expect(await tryCall(bert, "GET", `/v1/projects?cursor=${next_cursor}`)).toBe(refused);
  });
});

describe("an Idempotency-Key", () => {
  const make = (user: Client, key: string, json: unknown) =>
    user.call<Project>("POST", "/v1/projects", { json, headers: { "Idempotency-Key": key } });

  test("creates one project for fifty simultaneous requests, with the same response", async () => {
    const anna = await server.user();
    const replies = await Promise.all(Array.from({ length: 50 }, () => make(anna, "k", { name: "Once" })));
    expect(new Set(replies.map((r) => `${r.status} ${r.body.id} ${r.headers.get("location")}`)).size).toBe(1);
    expect(replies[0]!.status).toBe(201);
    expect((await anna.must<Paged<Project>>("GET", "/v1/projects")).items).toHaveLength(1);
  });

  test("replays the same response for a day, even if the project has changed, and then creates a new project", async () => {
    const anna = await server.user();
    const first = await make(anna, "k", { name: "Once" });
    await anna.must("PATCH", `/v1/projects/${first.body.id}`, { json: { name: "Changed" } });
    server.advance(23 * 3_600_000);
    expect((await make(anna, "k", { name: "Once" })).body).toEqual(first.body);
    server.advance(2 * 3_600_000);
    expect((await make(anna, "k", { name: "Once" })).body.id).not.toBe(first.body.id);
  });

  test("is refused with another body, and separate for each user and call", async () => {
    const [anna, bert] = [await server.user(), await server.user()];
    const { body } = await make(anna, "k", { name: "One" });
    expect(outcome(await make(anna, "k", { name: "Two" }))).toStartWith("422 validation_error");
    expect((await make(bert, "k", { name: "One" })).body.id).not.toBe(body.id);
    const json = { project_id: body.id, size_bytes: 1_000 };
    const other = await anna.call("POST", "/v1/assets", { json, headers: { "Idempotency-Key": "k" } });
    expect(outcome(other)).toStartWith("422 validation_error");
  });

  test("can be used again after a failed request", async () => {
    const anna = await server.user();
    expect(outcome(await make(anna, "k", { name: "" }))).toBe("422 validation_error body.name");
    expect((await make(anna, "k", { name: "Now" })).status).toBe(201);
  });

  test("is refused if it is too long", async () => {
    const anna = await server.user();
    expect((await make(anna, "k".repeat(255), { name: "x" })).status).toBe(201);
    expect(outcome(await make(anna, "k".repeat(256), { name: "x" }))).toBe("400 bad_request");
  });
});
