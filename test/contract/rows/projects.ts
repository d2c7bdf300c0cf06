/** Rows of the contract: projects. */
import { expect } from "bun:test";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import type { Project } from "../../http/resources";
import { limitRow, type Row } from "./fixtures";

const MINUTE = 60_000;

export const projectRows: Row[] = [
  [
    "POST /v1/projects: 201, the Project, active, with its Location",
    async ({ call }) => {
      const made = await call<Project>("POST", "/v1/projects", { name: "Lectures" });
      expect(made.status).toBe(201);
      expect(made.headers.get("location")).toBe(`/v1/projects/${made.body.id}`);
      const { id, created_at } = made.body;
      const times = { archived_at: null, created_at, updated_at: created_at, last_activity_at: created_at };
      expect(made.body).toEqual({ id, name: "Lectures", state: "active", ...times });
      expect((await call("GET", `/v1/projects/${made.body.id}`)).body).toEqual(made.body);
    },
  ],
  [
    "project name: 1 to 256 characters, required, string",
    async ({ getOutcome }) => {
      for (const name of ["x", "x".repeat(256), "💥".repeat(256)]) {
        expect(await getOutcome("POST", "/v1/projects", { name })).toBe("201");
      }
      for (const json of [
        { name: "" },
        { name: "x".repeat(257) },
        { name: 5 },
        { name: null },
        { name: "a\u0000b" },
        {},
      ]) {
        expect(await getOutcome("POST", "/v1/projects", json)).toBe("422 validation_error body.name");
      }
    },
  ],
  [
    "unknown body properties are 422",
    async ({ getOutcome }) => {
      for (const other of ["color", "state"])
        expect(await getOutcome("POST", "/v1/projects", { name: "a", [other]: "archived" })).toBe(
          `422 validation_error body.${other}`,
        );
    },
  ],
  [
    "GET /v1/projects: active by default; state is active or archived",
    async ({ ids, getOutcome, anna }) => {
      const { id } = await anna.project("shelf");
      expect(await ids("/v1/projects?limit=100")).toContain(id);
      await anna.must("PATCH", `/v1/projects/${id}`, { json: { state: "archived" } });
      expect(await ids("/v1/projects?limit=100")).not.toContain(id);
      expect(await ids("/v1/projects?state=archived&limit=100")).toContain(id);
      expect(await getOutcome("GET", "/v1/projects?state=gone")).toBe("422 validation_error query.state");
      expect(await getOutcome("GET", "/v1/projects?cursor=")).toBe("422 validation_error query.cursor");
    },
  ],
  limitRow("/v1/projects", 100, 20),
  [
    "GET /v1/projects: last_activity_at descending; each once, whatever the page size; next_cursor is null at the end",
    async ({ ids, server, call }) => {
      const user = await server.user();
      const made: string[] = [];
      for (let n = 0; n < 7; n++) made.push((await user.project(`p${n}`)).id);
      const read = async (limit: number) => ids(`/v1/projects?limit=${limit}`, user);
      expect(await read(100)).toEqual(made.toReversed());
      expect(await read(2)).toEqual(made.toReversed());
      const all = await call<{ items: Project[] }>("GET", "/v1/projects", undefined, user);
      const times = all.body.items.map((project) => project.last_activity_at);
      expect(times).toEqual(times.toSorted().toReversed());
    },
  ],
  [
    "GET /v1/projects/{id}: 404 not_found for unknown and foreign ones, 422 for an invalid UUID",
    async ({ getOutcome, anna, bert }) => {
      const { id } = await anna.project();
      expect(await getOutcome("GET", `/v1/projects/${id}`, undefined, bert)).toBe("404 not_found");
      expect(await getOutcome("GET", `/v1/projects/${NO_ID}`)).toBe("404 not_found");
      expect(await getOutcome("GET", "/v1/projects/7")).toBe("422 validation_error path.project_id");
    },
  ],
  [
    "PATCH /v1/projects/{id}: name and state, both optional; archived_at when archived; updated_at changes",
    async ({ call, anna, server, getOutcome, bert }) => {
      const made = await anna.project("before");
      const change = async (json: object) => (await call<Project>("PATCH", `/v1/projects/${made.id}`, json)).body;
      server.advance(MINUTE);
      const renamed = await change({ name: "after" });
      expect(renamed).toMatchObject({ name: "after", state: "active", last_activity_at: made.last_activity_at });
      expect(renamed.updated_at > made.updated_at).toBe(true);
      expect((await change({ state: "archived" })).archived_at).toMatch(/Z$/);
      expect(await change({ state: "active" })).toMatchObject({ state: "active", archived_at: null });
      expect(await getOutcome("PATCH", `/v1/projects/${made.id}`, { name: "x" }, bert)).toBe("404 not_found");
      const before = (await call("GET", `/v1/projects/${made.id}`)).body;
      for (const [field, value] of [
        ["state", "x"],
        ["state", null],
        ["name", ""],
        ["id", "x"],
      ] as const)
        expect(await getOutcome("PATCH", `/v1/projects/${made.id}`, { [field]: value })).toBe(
          `422 validation_error body.${field}`,
        );
      expect((await call("GET", `/v1/projects/${made.id}`)).body).toEqual(before);
    },
  ],
  [
    "An archived project accepts no new asset (409 conflict); cuts, renders, reads and deletes work",
    async ({ getOutcome, anna }) => {
      const asset = await anna.ready(await wav(2));
      const path = `/v1/projects/${asset.project_id}`;
      await anna.must("PATCH", path, { json: { state: "archived" } });
      const open = { project_id: asset.project_id, size_bytes: 100 };
      expect(await getOutcome("POST", "/v1/assets", open)).toBe("409 conflict");
      expect(await getOutcome("GET", `/v1/assets/${asset.id}`)).toBe("200");
      expect(await getOutcome("POST", "/v1/cuts", { asset_id: asset.id })).toBe("201");
      expect(await getOutcome("POST", "/v1/renders", { asset_id: asset.id })).toBe("201");
      expect(await getOutcome("DELETE", `/v1/assets/${asset.id}`)).toBe("204");
      expect(await getOutcome("DELETE", path)).toBe("204");
    },
  ],
  [
    "DELETE /v1/projects/{id}: 204; its assets and all derived files are deleted at once",
    async ({ getOutcome, anna, bert, server }) => {
      const asset = await anna.ready(await wav(2));
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
      const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
      const path = `/v1/projects/${asset.project_id}`;
      expect(await getOutcome("DELETE", path, undefined, bert)).toBe("404 not_found");
      expect(await getOutcome("DELETE", path)).toBe("204");
      for (const deleted of [path, `/v1/assets/${asset.id}`, `/v1/cuts/${cut.id}`, `/v1/renders/${render.id}`]) {
        expect(await getOutcome("GET", deleted)).toBe("404 not_found");
      }
      expect(await getOutcome("DELETE", path)).toBe("404 not_found");
      for (const link of [asset.download_url!, render.download_url!]) expect((await fetch(link)).status).toBe(404);
      await server.idle();
      for (const id of [asset.id, render.id]) expect(await server.leftovers(id)).toEqual([]);
    },
  ],
  [
    "last_activity_at changes with an upload, a deleted asset, a cut and a render, to 30 s; updated_at: when the row last changed",
    async ({ anna, call, server }) => {
      const asset = await anna.ready(await wav(2));
      const path = `/v1/projects/${asset.project_id}`;
      const moves = async (what: () => Promise<unknown>) => {
        server.advance(MINUTE);
        const before = server.services().now();
        await what();
        const { last_activity_at: active, updated_at: updated } = (await call<Project>("GET", path)).body;
        expect(Math.abs(Date.parse(active) - before)).toBeLessThan(30_000);
        expect(updated).toBe(active);
      };
      await moves(async () => anna.upload(await wav(2), { projectId: asset.project_id }));
      await moves(() => anna.startCut({ asset_id: asset.id }));
      await moves(() => anna.startRender({ asset_id: asset.id }));
      await server.idle();
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id, script: "alpha" })).id);
      await moves(() => anna.must("POST", `/v1/cuts/${cut.id}/edits`, { json: { segments: [{ start: 0, end: 1 }] } }));
      await moves(() => anna.must("DELETE", `/v1/assets/${asset.id}`));
    },
  ],
  [
    "Idempotency-Key on POST /v1/projects: 50 simultaneous identical requests create one",
    async ({ send, anna, ids, server }) => {
      const user = await server.user();
      const call = { json: { name: "one" }, headers: { "Idempotency-Key": "k" } };
      const all = await Promise.all(
        Array.from({ length: 50 }, () => send<Project>(user, "POST", "/v1/projects", call)),
      );
      expect(
        new Set(all.map((reply) => `${reply.status} ${reply.body.id} ${reply.headers.get("location")}`)).size,
      ).toBe(1);
      expect(await ids("/v1/projects?limit=100", user)).toHaveLength(1);
      const other = { json: { name: "two" }, headers: { "Idempotency-Key": "k" } };
      expect((await send(user, "POST", "/v1/projects", other)).status).toBe(422);
      expect((await send(anna, "POST", "/v1/projects", other)).status).toBe(201);
    },
  ],
];
