/** Rows of the contract: the review of a cut, and its versions. */
import { expect } from "bun:test";
import { Type } from "@sinclair/typebox";
import { sweep } from "../../../src/work/recovery";
import { followEvents } from "../../http/event-source";
import { NO_ID } from "../../http/outcome";
import type { Cut } from "../../http/resources";
import { addMember } from "../../unit/store/test-store";
import { until } from "../../until";
import { exactly, oneOf, orNull, text, time, uuid } from "../schema-parts";
import { cutInList } from "../schemas";
import { conforms } from "./account-setting";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";
import { createCut } from "./drafts";

const count = Type.Integer({ minimum: 0 });
const user = exactly({ id: uuid, name: orNull(text) });
const reviewFields = {
  revision: count,
  items: Type.Array(
    exactly({
      id: Type.String({ minLength: 1, maxLength: 64 }),
      kind: oneOf("removal", "mark"),
      start: Type.Number(),
      end: Type.Number(),
      reason: text,
      rule: orNull(text),
      confidence: orNull(Type.Number({ minimum: 0, maximum: 1 })),
      is_suggested_removal: Type.Boolean(),
      state: oneOf("open", "kept", "removed"),
      reviewed_by: orNull(user),
      reviewed_at: orNull(time),
    }),
  ),
  counts: exactly({ open: count, kept: count, removed: count }),
};
const reviewSchema = exactly(reviewFields);
const updateSchema = exactly({ ...reviewFields, previous_draft_revision: count, draft_revision: count });

type Item = { id: string; start: number; end: number; state: string; reviewed_by: { id: string } | null };
type Review = { revision: number; items: Item[]; counts: Record<string, number> };
type Update = Review & { previous_draft_revision: number; draft_revision: number };
type Draft = { revision: number; segments: { start: number; end: number }[] };

/** Creates a user with a cut, and functions that call its review. */
async function openReview(fixtures: DashboardFixtures) {
  const { call, getOutcome } = fixtures;
  const owned = await createCut(fixtures);
  const { as, cut } = owned;
  const path = `/cuts/${cut.id}/review`;
  return {
    ...owned,
    path,
    read: async (id = cut.id) => (await call<Review>("GET", `/cuts/${id}/review`, { as })).body,
    decide: async (...items: [id: string, state: string][]) =>
      (await call<Update>("PATCH", path, { json: { items: items.map(([id, state]) => ({ id, state })) }, as })).body,
    decideOutcome: (items: unknown, options: object = {}) =>
      getOutcome("PATCH", path, { json: { items }, as, ...options }),
    readDraft: async () => (await call<Draft>("GET", `/cuts/${cut.id}/draft`, { as })).body,
  };
}

const isIn = ({ segments }: Pick<Draft, "segments">, { start, end }: Item): boolean =>
  segments.some((segment) => segment.start <= start && end <= segment.end);

export const reviewRows: DashboardRow[] = [
  [
    "GET and PATCH /api/v1/cuts/{id}/review: decisions are stored with who and when, and the draft keeps and removes their spans",
    async (fixtures) => {
      const { as, cut, read, decide, readDraft } = await openReview(fixtures);
      const before = await read();
      conforms(reviewSchema, before);
      expect(before).toMatchObject({ revision: 0, counts: { open: before.items.length, kept: 0, removed: 0 } });
      expect(before.items.map(({ start, end }) => [start, end])).toEqual(
        cut.plan!.removed.map(({ start, end }) => [start, end]),
      );
      const [first, second] = before.items as [Item, Item];

      // A span that is already removed needs no draft.
      const accepted = await decide([first.id, "removed"]);
      conforms(updateSchema, accepted);
      expect(accepted).toMatchObject({
        revision: 1,
        previous_draft_revision: 0,
        draft_revision: 0,
        counts: { removed: 1 },
      });
      expect(accepted.items).toMatchObject([{ id: first.id, state: "removed", reviewed_by: { id: as.userId } }]);

      // The last state of an item counts.
      const kept = await decide([second.id, "removed"], [second.id, "kept"]);
      expect(kept).toMatchObject({ revision: 2, previous_draft_revision: 0, draft_revision: 1, counts: { kept: 1 } });
      expect(isIn(await readDraft(), second)).toBe(true);
      expect(isIn(await readDraft(), first)).toBe(false);
      expect((await read()).items.map(({ state }) => state).slice(0, 2)).toEqual(["removed", "kept"]);

      const reopened = await decide([second.id, "open"]);
      expect(reopened).toMatchObject({ previous_draft_revision: 1, draft_revision: 2 });
      expect(reopened.items).toMatchObject([{ state: "open", reviewed_by: null, reviewed_at: null }]);
      const { segments } = cut.plan!;
      expect((await readDraft()).segments).toEqual(segments.map(({ start, end }) => ({ start, end })));
      expect(await decide()).toMatchObject({ revision: 3, items: [], draft_revision: 2 });
    },
  ],
  [
    "PATCH review refuses unknown items, other states and more than 20,000 items, and stores nothing; 404 and 403 as for drafts",
    async (fixtures) => {
      const { call, getOutcome, bert, server } = fixtures;
      const { as, cut, path, read, decideOutcome } = await openReview(fixtures);
      const { id } = (await read()).items[0]!;
      const kept = (one: unknown) => ({ id: one, state: "kept" });
      for (const [items, expected] of [
        [[kept(id), kept("r0-1")], "422 validation_error body.items.1.id"],
        [[kept(id), kept("__proto__")], "422 validation_error body.items.1.id"],
        [[kept("x".repeat(65))], "422 validation_error body.items.0.id"],
        [[kept(5)], "422 validation_error body.items.0.id"],
        [[{ id, state: "maybe" }], "422 validation_error body.items.0.state"],
        [[{ id, state: "kept", note: "" }], "422 validation_error body.items.0.note"],
        [Array(20_001).fill(kept(id)), "422 validation_error body.items"],
        [null, "422 validation_error body.items"],
        ["x".repeat(1024 * 1024), "413 payload_too_large"],
      ] as const)
        expect([await decideOutcome(items), expected]).toEqual([expected, expected]);
      expect(await read()).toMatchObject({ revision: 0, counts: { kept: 0 } });
      // The most that a request may have.
      expect(await decideOutcome(Array(20_000).fill(kept(id)))).toBe("200");

      for (const method of ["GET", "PATCH"]) {
        const json = method === "PATCH" ? { json: { items: [] } } : {};
        expect(await getOutcome(method, path, { as: bert, ...json })).toBe("404 not_found");
        expect(await getOutcome(method, `/cuts/${NO_ID}/review`, { as, ...json })).toBe("404 not_found");
      }
      const headers = { "Offcut-Workspace": as.userId };
      const { store } = server.services();
      await store.write((tx) => addMember(tx, as.userId, bert.userId, "viewer"));
      expect(await getOutcome("GET", path, { as: bert, headers })).toBe("200");
      expect(await decideOutcome([], { as: bert, headers })).toBe("403 forbidden");

      const hold = server.speech.hold("forcedAlign");
      const pending = await call<Cut>("POST", "/cuts", { json: { asset_id: cut.asset_id, script: "alpha" }, as });
      expect(await getOutcome("GET", `/cuts/${pending.body.id}/review`, { as })).toBe("409 conflict");
      hold.release();
      expect(await getOutcome("DELETE", `/cuts/${cut.id}`, { as })).toBe("204");
      expect(await decideOutcome([kept(id)])).toBe("404 not_found");
    },
  ],
  [
    "decisions of two people at once are all stored, and a saved edit has the same items with their states",
    async (fixtures) => {
      const { call } = fixtures;
      const { as, cut, read, decide, readDraft } = await openReview(fixtures);
      const { items } = await read();
      await Promise.all(items.map(({ id }, n) => decide([id, n % 2 === 0 ? "kept" : "removed"])));
      const decided = await read();
      expect(decided.revision).toBe(items.length);
      expect(decided.counts.open).toBe(0);
      const draft = await readDraft();
      expect(items.map((item) => isIn(draft, item))).toEqual(items.map((_, n) => n % 2 === 0));
      const json = { segments: draft.segments, draft_revision: draft.revision };
      const edited = await call<Cut>("POST", `/cuts/${cut.id}/edits`, { json, as });
      expect(await read(edited.body.id)).toEqual(decided);
      // Its own plan no longer contains the kept removal.
      expect(edited.body.plan!.removed.length).toBeLessThan(items.length);
      const again = await call<Cut>("POST", `/cuts/${edited.body.id}/edits`, {
        json: { segments: [{ start: 0, end: 1 }] },
        as,
      });
      expect((await read(again.body.id)).items.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
    },
  ],
  [
    "a cut has a name of at most 120 characters and a note of at most 2,000, which PATCH /api/v1/cuts/{id} changes",
    async (fixtures) => {
      const { call, getOutcome, bert } = fixtures;
      const { as, cut, segments } = await createCut(fixtures);
      expect(cut).toMatchObject({ name: null, note: null, superseded_by: null });
      const path = `/cuts/${cut.id}`;
      const renamed = await call<Cut>("PATCH", path, { json: { name: "For the client", note: "n".repeat(2_000) }, as });
      conforms(exactly({ ...cutInList.properties, created_by: orNull(user) }), renamed.body);
      expect(renamed.body).toMatchObject({ name: "For the client", note: "n".repeat(2_000) });
      expect((await call<Cut>("PATCH", path, { json: { note: " " }, as })).body).toMatchObject({
        name: "For the client",
        note: null,
      });
      expect((await call<Cut>("GET", path, { as })).body).toMatchObject({ name: "For the client", note: null });
      for (const [json, expected] of [
        [{ name: "x".repeat(121) }, "422 validation_error body.name"],
        [{ note: "x".repeat(2_001) }, "422 validation_error body.note"],
        [{ name: 5 }, "422 validation_error body.name"],
        [{ state: "failed" }, "422 validation_error body.state"],
        [{}, "200"],
      ] as const)
        expect([json, await getOutcome("PATCH", path, { json, as })]).toEqual([json, expected]);
      expect(await getOutcome("PATCH", path, { json: { name: "x" }, as: bert })).toBe("404 not_found");
      const json = { segments, name: "Second", note: "Shorter" };
      expect((await call<Cut>("POST", `${path}/edits`, { json, as })).body).toMatchObject({
        name: "Second",
        note: "Shorter",
      });
      const options = { mode: "tight" };
      const planned = { asset_id: cut.asset_id, options, name: "Tight" };
      expect((await call<Cut>("POST", "/cuts", { json: planned, as })).body).toMatchObject({
        name: "Tight",
        note: null,
      });
      // The name does not make a request another one.
      const same = await call<Cut>("POST", "/cuts", { json: { ...planned, name: "Again" }, as });
      expect([same.status, same.body]).toEqual([200, expect.objectContaining({ name: "Tight" })]);
    },
  ],
  [
    "POST cuts/{id}/edits { replaces } saves an edit in the place of an earlier one: it leaves the lists, and its renders stay",
    async (fixtures) => {
      const { call, getOutcome, server } = fixtures;
      const { as, key, cut, segments } = await createCut(fixtures);
      const save = (id: string, json: object) =>
        call<Cut>("POST", `/cuts/${id}/edits`, { json: { segments, ...json }, as });
      const first = (await save(cut.id, { name: "Working" })).body;
      const render = await key.renderEnded((await key.startRender({ asset_id: cut.asset_id, cut_id: first.id })).id);
      expect(
        await getOutcome("PUT", `/cuts/${first.id}/draft`, { json: { revision: 0, segments, texts: [] }, as }),
      ).toBe("200");
      const outcome = (id: string, json: object) =>
        getOutcome("POST", `/cuts/${id}/edits`, { json: { segments, ...json }, as });
      for (const [replaces, expected] of [
        [cut.id, "422 validation_error body.replaces"],
        ["x", "422 validation_error body.replaces"],
        [NO_ID, "404 not_found"],
      ] as const)
        expect([replaces, await outcome(first.id, { replaces })]).toEqual([replaces, expected]);
      expect(await outcome(first.id, { replaces: first.id, draft_revision: 0 })).toBe("409 conflict");

      const second = (await save(first.id, { replaces: first.id, draft_revision: 1 })).body;
      expect(second).toMatchObject({ edited_from: cut.id, name: "Working", superseded_by: null });
      const third = (await save(second.id, { replaces: second.id, name: null })).body;
      expect(third).toMatchObject({ edited_from: cut.id, name: null });
      expect((await call<Cut>("GET", `/cuts/${first.id}`, { as })).body).toMatchObject({ superseded_by: second.id });
      const { items } = (await call<{ items: Cut[] }>("GET", `/cuts?asset_id=${cut.asset_id}`, { as })).body;
      expect(items.map(({ id }) => id)).toEqual([third.id, cut.id]);

      // A user with an earlier version open learns who saved, and can save another one.
      const late = await call<{ detail: string }>("POST", `/cuts/${first.id}/edits`, {
        json: { segments, replaces: first.id },
        as,
      });
      expect([late.status, late.body.detail]).toEqual([409, expect.stringMatching(/saved this version on \d{4}-/)]);
      const review = { json: { items: [] }, as };
      expect(await getOutcome("PATCH", `/cuts/${first.id}/review`, review)).toBe("409 conflict");
      const draft = { json: { revision: 0, segments, texts: [] }, as };
      expect(await getOutcome("PUT", `/cuts/${first.id}/draft`, draft)).toBe("409 conflict");
      expect(await outcome(first.id, {})).toBe("201");
      const both = await Promise.all([1, 2].map(() => outcome(third.id, { replaces: third.id })));
      expect(both.toSorted()).toEqual(["201", "409 conflict"]);

      // A day later, versions without a render are gone.
      server.advance(25 * 3_600_000);
      await sweep(server.services());
      expect(await getOutcome("GET", `/cuts/${first.id}`, { as })).toBe("200");
      expect(await getOutcome("GET", `/cuts/${second.id}`, { as })).toBe("404 not_found");
      expect((await fetch((await key.render(render.id)).download_url!)).status).toBe(200);
      expect(await getOutcome("GET", `/cuts/${first.id}/export?format=csv`, { as })).toBe("200");
    },
  ],
  [
    "PATCH /api/v1/assets/{id} changes name, tags, note and project, also of its outputs; lists are sorted and searched by the new name",
    async (fixtures) => {
      const { call, getOutcome, bert } = fixtures;
      const { as, cut } = await createCut(fixtures);
      type Asset = { id: string; project_id: string; name: string | null; tags: string[]; note: string | null };
      const path = `/assets/${cut.asset_id}`;
      const patch = async (json: object) => (await call<Asset>("PATCH", path, { json, as })).body;
      const labels = { name: " Interview ", tags: ["b", " a ", "b", " "], note: "Two cameras" };
      const changed = await patch(labels);
      expect(changed).toMatchObject({ name: "Interview", tags: ["b", "a"], note: "Two cameras" });
      expect(await patch({})).toMatchObject({ name: "Interview", tags: ["b", "a"] });
      const found = (await call<{ items: Asset[] }>("GET", "/assets?q=interview&sort=name", { as })).body.items;
      expect(found.map(({ id }) => id)).toEqual([cut.asset_id]);
      const chain = { input_asset_id: cut.asset_id, steps: [{ processor_name: "cut" }] };
      const pipeline = await call<{ id: string }>("POST", "/pipelines", { json: chain, as });
      const output = await until("the output", async () => {
        const { steps } = (
          await call<{ steps: { output_asset_id: string | null }[] }>("GET", `/pipelines/${pipeline.body.id}`, { as })
        ).body;
        return steps[0]!.output_asset_id;
      });
      const create = async (name: string, user = as) =>
        (await call<{ id: string }>("POST", "/projects", { json: { name }, as: user })).body.id;
      const project = await create("Other");
      expect(await patch({ project_id: project, name: null, tags: [], note: "" })).toMatchObject({
        project_id: project,
        name: null,
        tags: [],
        note: null,
      });
      expect((await call<Asset>("GET", `/assets/${output}`, { as })).body.project_id).toBe(project);
      const archived = await create("Archived");
      await call("PATCH", `/projects/${archived}`, { json: { state: "archived" }, as });
      for (const [json, expected] of [
        [{ project_id: await create("Of Bert", bert) }, "404 not_found"],
        [{ project_id: NO_ID }, "404 not_found"],
        [{ project_id: archived }, "409 conflict"],
        [{ project_id: null }, "422 validation_error body.project_id"],
        [{ name: "x".repeat(256) }, "422 validation_error body.name"],
        [{ note: "x".repeat(2_001) }, "422 validation_error body.note"],
        [{ tags: Array(21).fill("t") }, "422 validation_error body.tags"],
        [{ tags: ["x".repeat(41)] }, "422 validation_error body.tags.0"],
        [{ tags: "t" }, "422 validation_error body.tags"],
        [{ filename: "x.mp4" }, "422 validation_error body.filename"],
      ] as const)
        expect([json, await getOutcome("PATCH", path, { json, as })]).toEqual([json, expected]);
      expect(await getOutcome("PATCH", path, { json: labels, as: bert })).toBe("404 not_found");
      expect((await call<Asset>("GET", path, { as })).body).toMatchObject({ project_id: project, name: null });
    },
  ],
  [
    "PUT and DELETE /api/v1/cuts/{id}/presence: who has a cut open, also as live events of the workspace",
    async (fixtures) => {
      const { call, getOutcome, server, bert } = fixtures;
      const { as, cut } = await createCut(fixtures);
      const path = `/cuts/${cut.id}/presence`;
      const headers = { "Offcut-Workspace": as.userId };
      const put = async (user = as) => {
        const { body } = await call<{ users: { id: string }[] }>("PUT", path, { as: user, headers });
        conforms(exactly({ users: Type.Array(exactly({ id: uuid, name: orNull(text) })) }), body);
        return body.users.map(({ id }) => id);
      };
      expect(await getOutcome("PUT", path, { as: bert })).toBe("404 not_found");
      await server.services().store.write((tx) => addMember(tx, as.userId, bert.userId, "editor"));
      using stream = await followEvents(server.url(), bert, { headers });
      expect(await put()).toEqual([as.userId]);
      expect(await put(bert)).toEqual([as.userId, bert.userId]);
      // Nothing has changed.
      expect(await put(bert)).toEqual([as.userId, bert.userId]);
      expect(await getOutcome("DELETE", path, { as })).toBe("204");
      expect(await put(bert)).toEqual([bert.userId]);
      const reports = () => stream.received.filter(({ type }) => type === "presence").map(({ data }) => data);
      await until("the last report", () => reports().length >= 3);
      expect(
        reports().map(({ entity_id, users }) => [entity_id, (users as { id: string }[]).map(({ id }) => id)]),
      ).toEqual([
        [cut.id, [as.userId]],
        [cut.id, [as.userId, bert.userId]],
        [cut.id, [bert.userId]],
      ]);
      expect(await getOutcome("PUT", `/cuts/${NO_ID}/presence`, { as })).toBe("404 not_found");
    },
  ],
];
