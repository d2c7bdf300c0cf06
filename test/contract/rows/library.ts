/** Rows of the contract: recordings and projects in the library. */
import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import { AppError } from "../../../src/domain/errors";
import { formatItems } from "../../../src/domain/review";
import { fromSeconds } from "../../../src/domain/time";
import { createHandler } from "../../../src/http/app";
import { ARCHIVE_IDLE_SECONDS } from "../../../src/http/client";
import { findNewestCut } from "../../../src/store/cuts";
import { countOlderCuts } from "../../../src/work/cuts/summaries";
import { video, wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";
import { readZip, testWithUnzip } from "../../zip";
import { exactly, oneOf, orNull, text, time, uuid } from "../schema-parts";
import { assetDetail } from "../schemas";
import { conforms } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";
import { createCut } from "./drafts";

const count = Type.Integer({ minimum: 0 });
const seconds = Type.Number({ minimum: 0 });
const share = orNull(Type.Number({ minimum: 0, maximum: 1 }));
const user = exactly({ id: uuid, name: orNull(text) });
const listed = exactly({
  ...assetDetail.properties,
  created_by: orNull(user),
  latest_cut: orNull(exactly({ id: uuid, kept_duration: orNull(seconds), open_marks: orNull(count) })),
  open_cut: orNull(exactly({ id: uuid, state: oneOf("pending", "processing"), progress: share })),
  last_render: orNull(
    exactly({
      id: uuid,
      cut_id: orNull(uuid),
      state: oneOf("pending", "processing", "completed", "failed", "cancelled"),
      error_code: orNull(text),
      progress: share,
      completed_at: orNull(time),
    }),
  ),
});
const pageSchema = exactly({ items: Type.Array(listed), limit: Type.Integer(), next_cursor: orNull(text) });
const totals = {
  recordings: count,
  duration: seconds,
  cut_duration: seconds,
  kept_duration: seconds,
  without_cut: count,
  to_review: count,
  open_marks: count,
  uncounted: count,
};
const summarySchema = exactly({
  ...totals,
  tags: Type.Array(text),
  creators: Type.Array(user),
});

type Listed = {
  id: string;
  project_id: string;
  latest_cut: { id: string; kept_duration: number | null; open_marks: number | null } | null;
};

type Versions = { items: { id: string; is_set_aside: boolean }[] };

const batchExport = exactly({
  id: uuid,
  state: oneOf("waiting", "running", "completed", "failed"),
  total: count,
  done: count,
  problems: Type.Array(exactly({ asset_id: uuid, name: orNull(text), message: text })),
});
type BatchExport = {
  id: string;
  state: string;
  problems: { asset_id: string; name: string | null; message: string }[];
};

export const libraryRows: DashboardRow[] = [
  [
    "GET /api/v1/assets -> each with its newest cut and render, filtered by tag, created_by and cut; GET /api/v1/projects/{id}/summary -> totals",
    async (fixtures) => {
      const { call, getOutcome, bert, server } = fixtures;
      const { as, key, cut } = await createCut(fixtures, video(4));
      const { store } = server.services();
      const { project_id } = await key.asset(cut.asset_id);
      const uncut = await key.ready(await video(4), { projectId: project_id });
      const list = async (query = "") => {
        const { body } = await call<{ items: Listed[] }>("GET", `/assets?sort=created_at${query}`, { as });
        conforms(pageSchema, body);
        return body.items;
      };
      const summarize = async () => {
        const { body } = await call<Record<string, unknown>>("GET", `/projects/${project_id}/summary`, { as });
        conforms(summarySchema, body);
        return body;
      };
      const kept_duration = cut.plan!.kept_duration;
      expect(await list()).toMatchObject([
        {
          id: cut.asset_id,
          latest_cut: { id: cut.id, kept_duration, open_marks: 0 },
          open_cut: null,
          last_render: null,
        },
        { id: uncut.id, latest_cut: null, open_cut: null, last_render: null },
      ]);
      const idsOf = async (query: string) => (await list(query)).map(({ id }) => id);
      expect(await idsOf("&cut=none")).toEqual([uncut.id]);
      expect(await idsOf("&cut=reviewed")).toEqual([cut.asset_id]);
      expect(await idsOf("&cut=to_review")).toEqual([]);

      // A cut of an older version: nothing was counted, and all its removals are unsure.
      const items = cut.plan!.removed.map(({ start, end, reason }, n) => ({
        id: `${n}`,
        kind: "removal" as const,
        start: fromSeconds(start),
        end: fromSeconds(end),
        reason,
        rule: null,
        confidence: 0.5,
      }));
      expect(items.length).toBeGreaterThan(1);
      await store.write(async (tx) => {
        await tx.run(sql`UPDATE cuts SET review_items = ${formatItems(items)} WHERE id = ${cut.id}`);
        await tx.run(sql`UPDATE cut_summaries SET kept = NULL, open_marks = NULL WHERE cut_id = ${cut.id}`);
      });
      expect((await list())[0]!.latest_cut).toEqual({ id: cut.id, kept_duration: null, open_marks: null });
      await countOlderCuts(server.services());
      expect((await list())[0]!.latest_cut).toEqual({ id: cut.id, kept_duration, open_marks: items.length });
      expect(await idsOf("&cut=to_review")).toEqual([cut.asset_id]);
      const review = await call<{ items: { id: string }[] }>("GET", `/cuts/${cut.id}/review`, { as });
      const json = { items: [{ id: review.body.items[0]!.id, state: "removed" }] };
      await call("PATCH", `/cuts/${cut.id}/review`, { json, as });
      expect((await list())[0]!.latest_cut?.open_marks).toBe(items.length - 1);

      // A saved edit replaces the version that it was made from, and keeps its decisions.
      const edit = { segments: cut.plan!.segments.map(({ start, end }) => ({ start, end })) };
      const edits = `/cuts/${cut.id}/edits`;
      const { body: saved } = await call<{ id: string }>("POST", edits, { json: edit, as });
      const { body: next } = await call<{ id: string }>("POST", `/cuts/${saved.id}/edits`, {
        json: { ...edit, replaces: saved.id },
        as,
      });
      expect((await list())[0]!.latest_cut).toMatchObject({ id: next.id, open_marks: items.length - 1 });
      // An edit that is set aside is the newest cut only if it is the only one.
      const { body: aside } = await call<{ id: string }>("POST", edits, { json: { ...edit, keep_draft: true }, as });
      expect((await list())[0]!.latest_cut?.id).toBe(next.id);
      const { body: all } = await call<Versions>("GET", `/cuts?asset_id=${cut.asset_id}`, { as });
      expect(all.items.map(({ id, is_set_aside }) => [id, is_set_aside])).toEqual([
        [aside.id, true],
        [next.id, false],
        [cut.id, false],
      ]);
      await call("DELETE", `/cuts/${next.id}`, { as });
      expect((await list())[0]!.latest_cut?.id).toBe(cut.id);
      expect((await findNewestCut(store.read, cut.asset_id))?.id).toBe(cut.id);
      const { body: edited } = await call<{ id: string; edited_from: string }>("POST", `/cuts/${aside.id}/edits`, {
        json: { ...edit, replaces: aside.id },
        as,
      });
      expect(edited.edited_from).toBe(aside.id);
      expect((await list())[0]!.latest_cut?.id).toBe(edited.id);
      await call("DELETE", `/cuts/${edited.id}`, { as });

      const render = await key.startRender({ asset_id: cut.asset_id, cut_id: cut.id });
      await key.renderEnded(render.id);
      expect((await list())[0]).toMatchObject({
        last_render: { id: render.id, cut_id: cut.id, state: "completed", error_code: null, progress: null },
      });

      await call("PATCH", `/assets/${uncut.id}`, { json: { tags: ["Boat, day 1", "b"] }, as });
      expect(await idsOf(`&tag=${encodeURIComponent("Boat, day 1")}`)).toEqual([uncut.id]);
      expect(await idsOf("&tag=boat")).toEqual([]);
      expect(await idsOf(`&created_by=${as.userId}`)).toHaveLength(2);
      expect(await idsOf(`&created_by=${bert.userId}`)).toEqual([]);
      expect(await getOutcome("GET", "/assets?cut=all", { as })).toBe("422 validation_error query.cut");
      expect(await getOutcome("GET", `/assets?tag=${"x".repeat(41)}`, { as })).toBe("422 validation_error query.tag");

      const duration = Number((await key.asset(cut.asset_id)).duration_seconds);
      const both = duration + Number((await key.asset(uncut.id)).duration_seconds);
      expect(await summarize()).toEqual({
        recordings: 2,
        duration: both,
        cut_duration: duration,
        kept_duration,
        without_cut: 1,
        to_review: 1,
        open_marks: items.length - 1,
        uncounted: 0,
        tags: ["Boat, day 1", "b"],
        creators: [{ id: as.userId, name: null }],
      });
      const { tags: _, creators: __, ...totals } = await summarize();
      const { body: tiles } = await call<{ items: { id: string }[] }>("GET", "/projects", { as });
      const newest_assets = [uncut.id, cut.asset_id].map((id) => ({ id, has_poster: true }));
      expect(tiles.items.find(({ id }) => id === project_id)).toMatchObject({ totals, newest_assets });
      const of = (id: string, user = as) => getOutcome("GET", `/projects/${id}/summary`, { as: user });
      expect([await of(project_id, bert), await of(NO_ID)]).toEqual(["404 not_found", "404 not_found"]);
    },
  ],
  [
    "POST /api/v1/exports, GET and DELETE /exports/{id}, GET /exports/{id}/file -> a ZIP archive with a folder for each asset, and what is missing in it",
    async (fixtures) => {
      const { call, getOutcome, bert, server, user: createUser } = fixtures;
      const { as, key, cut } = await createCut(fixtures, video(4));
      const { project_id } = await key.asset(cut.asset_id);
      const uncut = await key.ready(await wav(4), { projectId: project_id, filename: "later/../take.wav" });
      const { asset_id: foreign } = (await createCut(fixtures)).cut;
      await call("PATCH", `/assets/${cut.asset_id}`, { json: { name: "../Boat: day 1" }, as });
      await key.renderEnded((await key.startRender({ asset_id: cut.asset_id, cut_id: cut.id })).id);
      const asset_ids = [cut.asset_id, uncut.id, foreign, cut.asset_id];
      const json = { asset_ids, parts: ["fcpxml", "srt", "docx", "render"] };
      const create = () =>
        call<BatchExport>("POST", "/exports", { json, as, headers: { "Idempotency-Key": cut.asset_id } });
      const { status, body } = await create();
      expect(status).toBe(201);
      expect((await create()).body).toEqual(body);
      conforms(batchExport, body);
      expect(body).toMatchObject({ state: "waiting", total: 3, done: 0, problems: [] });
      const path = `/exports/${body.id}`;
      const headers = { Authorization: `Bearer ${as.key}` };
      // A part that has to wait for its turn is not missing.
      const { planRequests, batchExports } = server.services();
      const { run } = planRequests;
      let refusals = 0;
      planRequests.run = (...request) => {
        if (refusals++ === 0) throw new AppError("rate_limited", "Busy.", { retryAfterSeconds: 0.01 });
        return run(...request);
      };
      const archive = await fetch(`${server.url()}/api/v1${path}/file`, { headers });
      expect(archive.headers.get("content-disposition")).toContain("Offcut export.zip");
      await using folder = await temporaryFolder();
      const zip = join(folder.path, "export.zip");
      await Bun.write(zip, await archive.bytes());
      planRequests.run = run;
      expect(refusals).toBeGreaterThan(1);
      expect(await testWithUnzip(zip)).toBe(0);
      const { entries, texts } = await readZip(zip, (name) => name.endsWith(".txt") || name.endsWith(".srt"));
      const folders = entries.map(({ fileName }) => fileName.split("/")[0]);
      expect(folders).toEqual([...Array(4).fill("_Boat_ day 1"), "Problems.txt"]);
      expect(texts.get("Problems.txt")).toContain("Recording has no cut.\n");
      const read = (await call<BatchExport>("GET", path, { as })).body;
      conforms(batchExport, read);
      expect(read).toMatchObject({ state: "completed", total: 3, done: 3 });
      expect(read.problems.map(({ asset_id, name, message }) => [asset_id, name, message])).toEqual([
        [uncut.id, "take", "Recording has no cut."],
        [foreign, null, "Recording not found."],
      ]);
      // It can be downloaded again until it expires. Others do not find it.
      await call("PATCH", `/assets/${cut.asset_id}`, { json: { name: "problems.TXT" }, as });
      expect((await call<string>("GET", `${path}/file`, { as })).body).toContain("problems (2).TXT/");
      const { find } = batchExports;
      batchExports.find = () => null;
      const lost = await create();
      batchExports.find = find;
      expect(lost.status).toBe(409);
      expect(await getOutcome("HEAD", `${path}/file`, { as })).toBe("200");
      // It may pause for longer than other replies.
      const timeouts: number[] = [];
      const connection = { address: null, setIdleTimeout: (seconds: number) => timeouts.push(seconds) };
      const handle = await createHandler(server.services());
      const slow = await handle(new Request(`${server.url()}/api/v1${path}/file`, { headers }), connection);
      expect([slow.status, timeouts.at(-1)]).toEqual([200, ARCHIVE_IDLE_SECONDS]);
      await slow.body?.cancel();
      const stranger = await createUser();
      for (const [other, of] of [
        [`${path}/file`, stranger],
        [path, bert],
        [`/exports/${NO_ID}`, as],
      ] as const)
        expect(await getOutcome("GET", other, { as: of })).toBe("404 not_found");
      for (const [wrong, expected] of [
        [{ asset_ids: [], parts: ["srt"] }, "body.asset_ids"],
        [{ asset_ids: Array(501).fill(NO_ID), parts: ["srt"] }, "body.asset_ids"],
        [{ asset_ids: ["x"], parts: ["srt"] }, "body.asset_ids.0"],
        [{ asset_ids, parts: [] }, "body.parts"],
        [{ asset_ids, parts: ["zip"] }, "body.parts.0"],
      ] as const)
        expect(await getOutcome("POST", "/exports", { json: wrong, as })).toBe(`422 validation_error ${expected}`);
      // Without its file, the render is missing, and the rest is not.
      await rm(server.services().folders.media(cut.asset_id).dir, { recursive: true });
      const again = await call<BatchExport>("POST", "/exports", { json: { ...json, asset_ids: [cut.asset_id] }, as });
      await call("GET", `/exports/${again.body.id}/file`, { as });
      const after = (await call<BatchExport>("GET", `/exports/${again.body.id}`, { as })).body;
      expect(after.state).toBe("completed");
      expect(after.problems.length).toBeGreaterThan(0);
      // A cancelled export is gone, and its download ends early.
      const { body: cancelled } = await call<BatchExport>("POST", "/exports", { json, as });
      planRequests.run = () => Promise.reject(new AppError("rate_limited", "Busy.", { retryAfterSeconds: 30 }));
      const running = fetch(`${server.url()}/api/v1/exports/${cancelled.id}/file`, { headers })
        .then((archive) => (archive.ok ? archive.bytes() : Promise.reject(archive.status)))
        .then(
          () => "complete",
          () => "ended early",
        );
      await until("the download", () => batchExports.find(as.userId, cancelled.id)?.state === "running");
      expect(await getOutcome("DELETE", `/exports/${cancelled.id}`, { as: bert })).toBe("404 not_found");
      expect(await getOutcome("DELETE", `/exports/${cancelled.id}`, { as })).toBe("204");
      expect(await running).toBe("ended early");
      planRequests.run = run;
      expect(await getOutcome("GET", `/exports/${cancelled.id}`, { as })).toBe("404 not_found");
      expect(await getOutcome("DELETE", `/exports/${cancelled.id}`, { as })).toBe("404 not_found");
    },
  ],
  [
    "GET, PUT /api/v1/vocabulary?project_id= -> { entries, revision }; another revision than the one that was read is 409",
    async ({ call, getOutcome, anna, bert }) => {
      const schema = exactly({
        entries: Type.Array(exactly({ text, spoken_as: Type.Array(text) })),
        revision: count,
      });
      const { id } = await anna.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "Terms" } });
      const path = `/vocabulary?project_id=${id}`;
      const json = { revision: 0, entries: [{ text: "Offcut", spoken_as: ["off cut"] }] };
      const { body } = await call("PUT", path, { json });
      conforms(schema, body);
      expect(body).toEqual({ ...json, revision: 1 });
      expect((await call("GET", path)).body).toEqual(body);
      expect(await getOutcome("PUT", path, { json })).toBe("409 conflict");
      expect(await getOutcome("GET", path, { as: bert })).toBe("404 not_found");
    },
  ],
  [
    "GET /api/v1/vocabulary/common-form?text=&language= -> { is_common }",
    async ({ call, getOutcome }) => {
      const read = async (text: string, query = "") => {
        const { body } = await call("GET", `/vocabulary/common-form?text=${encodeURIComponent(text)}${query}`);
        conforms(exactly({ is_common: Type.Boolean() }), body);
        return (body as { is_common: boolean }).is_common;
      };
      for (const text of ["The", "of the", "house"]) expect([text, await read(text)]).toEqual([text, true]);
      for (const text of ["Mark", "off cut", "A I", "co-pilot", "h264"])
        expect([text, await read(text)]).toEqual([text, false]);
      expect(await read("der", "&language=de")).toBe(true);
      expect(await read("der die das", "&language=de")).toBe(true);
      expect(await read("house", "&language=yue")).toBe(false);
      expect(await getOutcome("GET", "/vocabulary/common-form")).toStartWith("422");
      expect(await getOutcome("GET", "/vocabulary/common-form?text=the&language=english")).toStartWith("422");
    },
  ],
];
