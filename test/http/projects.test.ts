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

describe("changing a project", () => {
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
});
