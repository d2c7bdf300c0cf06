/** Rows of the contract: cuts, their plans and edits. */
import { expect } from "bun:test";
import { quiet, silentVideo, video, wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import type { Cut } from "../../http/resources";
import { limitRow, type Row } from "./fixtures";

export const cutRows: Row[] = [
  [
    "POST /v1/cuts: 201 pending, Location; 200 with the existing one for the identical request",
    async ({ call, videoAsset }) => {
      const json = { asset_id: (await videoAsset()).id, script: "alpha bravo" };
      const made = await call<Cut>("POST", "/v1/cuts", json);
      expect(made.status).toBe(201);
      expect(made.headers.get("location")).toBe(`/v1/cuts/${made.body.id}`);
      expect(made.body).toMatchObject({ ...json, state: "pending", plan: null, started_at: null, completed_at: null });
      expect(made.body).toMatchObject({ error_code: null, error_message: null });
      const again = await call<Cut>("POST", "/v1/cuts", json);
      expect([again.status, again.body.id]).toEqual([200, made.body.id]);
    },
  ],
  [
    "A script omitted, null or blank is identical and stored as an empty string; options resolve to the mode's",
    async ({ call, audioAsset }) => {
      const { id } = await audioAsset();
      const bodies = [
        {},
        { script: null },
        { script: " \n" },
        { options: {} },
        { options: { mode: "natural", remove_fillers: true } },
      ];
      const made: Cut[] = [];
      for (const json of bodies) made.push((await call<Cut>("POST", "/v1/cuts", { asset_id: id, ...json })).body);
      expect(new Set(made.map((cut) => `${cut.id}|${cut.script}`)).size).toBe(1);
      expect(made[0]!.options).toEqual({
        mode: "natural",
        min_silence_seconds: 0.5,
        padding_before_seconds: 0.12,
        padding_after_seconds: 0.18,
        remove_fillers: true,
        remove_retakes: true,
      });
      const tight = await call<Cut>("POST", "/v1/cuts", { asset_id: id, options: { mode: "tight" } });
      expect(tight.body.options).toMatchObject({ min_silence_seconds: 0.25, padding_after_seconds: 0.06 });
      const loose = await call<Cut>("POST", "/v1/cuts", { asset_id: id, options: { mode: "loose" } });
      expect(loose.body.options).toMatchObject({ min_silence_seconds: 0.9, remove_fillers: false });
    },
  ],
  [
    "cut options: their ranges; a script of at most 20,000 words",
    async ({ getOutcome, audioAsset }) => {
      const { id } = await audioAsset();
      const bad = (options: object) => getOutcome("POST", "/v1/cuts", { asset_id: id, options });
      for (const value of [0.09, 10.1, "1"]) {
        expect(await bad({ min_silence_seconds: value })).toBe("422 validation_error body.options.min_silence_seconds");
      }
      for (const name of ["padding_before_seconds", "padding_after_seconds"]) {
        for (const value of [-0.1, 2.1])
          expect(await bad({ [name]: value })).toBe(`422 validation_error body.options.${name}`);
      }
      expect(await bad({ mode: "x" })).toBe("422 validation_error body.options.mode");
      expect(await bad({ remove_fillers: 1 })).toBe("422 validation_error body.options.remove_fillers");
      expect(await bad({ pace: 1 })).toBe("422 validation_error body.options.pace");
      for (const [change, expected] of [
        [{ script: "word ".repeat(20_000) }, "201"],
        [{ script: "word ".repeat(20_001) }, "422 validation_error body.script"],
        [{ script: 5 }, "422 validation_error body.script"],
        [{ script: "a\u0000" }, "422 validation_error body.script"],
        [{ options: null }, "422 validation_error body.options"],
        [{ title: "x" }, "422 validation_error body.title"],
        [{ asset_id: "7" }, "422 validation_error body.asset_id"],
      ] as const)
        expect(await getOutcome("POST", "/v1/cuts", { asset_id: id, ...change })).toBe(expected);
    },
  ],
  [
    "50 simultaneous identical requests create one cut, one job, one event",
    async ({ anna, call, ids, server, bert }) => {
      const { id } = await anna.ready(await wav(2));
      const all = await Promise.all(Array.from({ length: 50 }, () => call<Cut>("POST", "/v1/cuts", { asset_id: id })));
      expect(new Set(all.map((reply) => reply.body.id)).size).toBe(1);
      expect(all.map((reply) => reply.status).filter((status) => status === 201)).toHaveLength(1);
      expect(await ids(`/v1/cuts?limit=100&asset_id=${id}`)).toHaveLength(1);
      await anna.cutEnded(all[0]!.body.id);
      expect(await server.events(all[0]!.body.id)).toEqual(["cut.completed"]);
      expect(await ids(`/v1/cuts?limit=100&asset_id=${id}`, bert)).toEqual([]);
    },
  ],
  [
    "POST /v1/cuts: 404 for an unknown or foreign asset; 409 asset_processing with Retry-After 1 to 60",
    async ({ getOutcome, call, audioAsset, bert, anna, server }) => {
      expect(await getOutcome("POST", "/v1/cuts", { asset_id: NO_ID })).toBe("404 not_found");
      expect(await getOutcome("POST", "/v1/cuts", { asset_id: (await audioAsset()).id }, bert)).toBe("404 not_found");
      expect(await getOutcome("POST", "/v1/cuts", {})).toBe("422 validation_error body.asset_id");
      const hold = server.speech.hold("analyze");
      const id = await anna.upload(await wav(2));
      await hold.reached;
      const refused = await call("POST", "/v1/cuts", { asset_id: id });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: "asset_processing" } } });
      const seconds = Number(refused.headers.get("retry-after"));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
      hold.release();
      await anna.prepared(id);
    },
  ],
  [
    "pending -> processing -> completed: started_at, completed_at, the plan, cut.completed once",
    async ({ cut, call, server }) => {
      const done = (await call<Cut>("GET", `/v1/cuts/${(await cut()).id}`)).body;
      expect(done.state).toBe("completed");
      expect(done.created_at <= done.started_at! && done.started_at! <= done.completed_at!).toBe(true);
      expect(await server.events(done.id)).toEqual(["cut.completed"]);
    },
  ],
  [
    "the plan: sorted, disjoint, at least 0.1 s, tiling [0, source_duration), on frames, kept_duration their sum",
    async ({ cut, videoAsset }) => {
      const { plan } = await cut();
      expect(String(plan!.source_duration)).toBe((await videoAsset()).duration_seconds!);
      expect(plan!.frame_rate).toEqual({ num: 10, den: 1 });
      const spans = [...plan!.segments, ...plan!.removed].toSorted((a, b) => a.start - b.start);
      let at = 0;
      for (const span of spans) {
        expect(span.start).toBeCloseTo(at, 6);
        at = span.end;
      }
      expect(at).toBeCloseTo(plan!.source_duration, 6);
      for (const segment of plan!.segments) {
        expect(segment.end - segment.start).toBeGreaterThanOrEqual(0.1 - 1e-9);
        expect(segment.start * 10).toBeCloseTo(segment.start_frame!, 4);
      }
      const kept = plan!.segments.reduce((sum, segment) => sum + segment.end - segment.start, 0);
      expect(kept).toBeCloseTo(plan!.kept_duration, 5);
    },
  ],
  [
    "processing -> failed: script_mismatch, transcription_unavailable, cut.failed; the failed cut is returned for identical requests",
    async ({ anna, call, server, audioAsset }) => {
      const run = async (json: object) => {
        const made = await call<Cut>("POST", "/v1/cuts", json);
        const cut = await anna.cutEnded(made.body.id);
        expect(cut).toMatchObject({ state: "failed", plan: null });
        expect(cut.error_message).toMatch(/./);
        expect(await server.events(cut.id)).toEqual(["cut.failed"]);
        expect((await call<Cut>("POST", "/v1/cuts", json)).body.id).toBe(cut.id);
        return cut.error_code;
      };
      expect(await run({ asset_id: (await audioAsset()).id, script: "nobody ever says these words" })).toBe(
        "script_mismatch",
      );
      const strange = await anna.ready(await wav(2), { language: "xx" });
      expect(await run({ asset_id: strange.id, script: "alpha" })).toBe("transcription_unavailable");
    },
  ],
  limitRow("/v1/cuts", 100, 20),
  [
    "GET /v1/cuts: asset_id and state filter, newest first, each once, without plans",
    async ({ anna, ids, call, getOutcome }) => {
      const { id } = await anna.ready(await wav(2));
      const made: string[] = [];
      for (const mode of ["tight", "natural", "loose"]) {
        made.push((await anna.cutEnded((await anna.startCut({ asset_id: id, options: { mode } })).id)).id);
      }
      expect(await ids(`/v1/cuts?limit=1&asset_id=${id}`)).toEqual(made.toReversed());
      expect(await ids(`/v1/cuts?limit=100&asset_id=${id}&state=completed`)).toEqual(made.toReversed());
      expect(await ids(`/v1/cuts?limit=100&asset_id=${id}&state=failed`)).toEqual([]);
      const { body } = await call<{ items: object[] }>("GET", `/v1/cuts?asset_id=${id}`);
      expect(body.items[0]).not.toHaveProperty("plan");
      expect(await getOutcome("GET", "/v1/cuts?state=cancelled")).toBe("422 validation_error query.state");
    },
  ],
  [
    "GET, DELETE, edits, export, subtitle: 404 for unknown and foreign cuts; 422 for an invalid UUID",
    async ({ getOutcome, cut, bert }) => {
      const { id } = await cut();
      const calls = [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/edits"],
        ["GET", "/export?format=edl"],
        ["GET", "/subtitle?format=srt"],
      ] as const;
      for (const [method, tail] of calls) {
        const json = method === "POST" ? { segments: [{ start: 0, end: 1 }] } : undefined;
        expect(await getOutcome(method, `/v1/cuts/${id}${tail}`, json, bert)).toBe("404 not_found");
        expect(await getOutcome(method, `/v1/cuts/${NO_ID}${tail}`, json)).toBe("404 not_found");
        expect(await getOutcome(method, `/v1/cuts/x${tail}`, json)).toBe("422 validation_error path.cut_id");
      }
    },
  ],
  [
    "POST /v1/cuts/{id}/edits: 201, a new completed cut, edited_from, reason manual; invalid segments 422",
    async ({ call, getOutcome, cut, server, ids }) => {
      const source = await cut();
      const [first] = source.plan!.segments;
      const segments = [{ ...first!, end: first!.end - 0.3 }];
      const made = await call<Cut & { edited_from: string }>("POST", `/v1/cuts/${source.id}/edits`, { segments });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ state: "completed", edited_from: source.id, asset_id: source.asset_id });
      expect(made.body.plan!.segments).toHaveLength(1);
      expect(made.body.plan!.removed.map((span) => span.reason)).toContain("manual");
      expect(await server.events(made.body.id)).toEqual(["cut.completed"]);
      expect((await call<Cut>("POST", "/v1/cuts", { asset_id: source.asset_id })).body.id).toBe(source.id);
      expect(await ids(`/v1/cuts?limit=100&asset_id=${source.asset_id}`)).toContain(made.body.id);
      for (const bad of [
        [],
        [{ start: 2, end: 1 }],
        [{ start: 0, end: 900 }],
        [
          { start: 0, end: 2 },
          { start: 1, end: 3 },
        ],
        "x",
      ]) {
        expect(await getOutcome("POST", `/v1/cuts/${source.id}/edits`, { segments: bad })).toStartWith(
          "422 validation_error body.segments",
        );
      }
    },
  ],
  [
    "POST /v1/cuts with the mode manual keeps everything, completed at once: without words and without audio, also during the preparation; the identical request is 200",
    async ({ anna, call, getOutcome, server, bert }) => {
      const manual = (id: string) => ({ asset_id: id, options: { mode: "manual" } });
      for (const [bytes, format] of [
        [await silentVideo(2), "mp4"],
        [await quiet(2), "mp3"],
      ] as const) {
        const asset = await anna.ready(bytes);
        const made = await call<Cut>("POST", "/v1/cuts", { ...manual(asset.id), name: "By hand" });
        expect([made.status, made.headers.get("location")]).toEqual([201, `/v1/cuts/${made.body.id}`]);
        expect(made.body).toMatchObject({ state: "completed", name: "By hand", options: { mode: "manual" } });
        const { source_duration, kept_duration, segments, removed } = made.body.plan!;
        expect([kept_duration, removed]).toEqual([source_duration, []]);
        expect(segments).toMatchObject([{ start: 0, end: source_duration }]);
        expect(await server.events(made.body.id)).toEqual(["cut.completed"]);
        const both = await Promise.all([1, 2].map(() => call<Cut>("POST", "/v1/cuts", manual(asset.id))));
        expect(both.map(({ status, body }) => [status, body.id])).toEqual([
          [200, made.body.id],
          [200, made.body.id],
        ]);

        // Edits, exports and renders are those of any cut.
        const edit = { segments: [{ start: 0.5, end: 1.5 }] };
        const edited = (await call<Cut>("POST", `/v1/cuts/${made.body.id}/edits`, edit)).body;
        expect(edited.plan!.removed.map(({ reason }) => reason)).toEqual(["manual", "manual"]);
        expect(await getOutcome("GET", `/v1/cuts/${edited.id}/export?format=otio`)).toBe("200");
        const render = await anna.startRender({ asset_id: asset.id, cut_id: edited.id, output: { format } });
        expect((await anna.renderEnded(render.id)).state).toBe("completed");
        expect(await getOutcome("POST", "/v1/cuts", manual(asset.id), bert)).toBe("404 not_found");
      }

      const hold = server.speech.hold("analyze");
      const id = await anna.upload(await wav(2));
      await hold.reached;
      expect(await getOutcome("POST", "/v1/cuts", { asset_id: id })).toBe("409 asset_processing");
      expect(await getOutcome("POST", "/v1/cuts", manual(id))).toBe("201");
      hold.release();
      const pending = await call<{ id: string }>("POST", "/v1/assets", {
        project_id: (await anna.project()).id,
        size_bytes: 100,
      });
      expect(await getOutcome("POST", "/v1/cuts", manual(pending.body.id))).toBe("409 asset_processing");
      expect(await getOutcome("POST", "/v1/cuts", manual(NO_ID))).toBe("404 not_found");
    },
  ],
  [
    "DELETE /v1/cuts/{id}: 204; its renders are deleted, a running one emits render.cancelled, files are deleted",
    async ({ anna, getOutcome, server }) => {
      const asset = await anna.ready(await video(4));
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
      const done = await anna.renderEnded(
        (await anna.startRender({ asset_id: asset.id, cut_id: cut.id, output: { format: "mp3" } })).id,
      );
      const hold = server.holdRenders();
      const render = await anna.startRender({ asset_id: asset.id, cut_id: cut.id });
      await hold.reached;
      expect(await getOutcome("DELETE", `/v1/cuts/${cut.id}`)).toBe("204");
      hold.release();
      for (const id of [done.id, render.id]) expect(await getOutcome("GET", `/v1/renders/${id}`)).toBe("404 not_found");
      expect(await server.events(done.id)).toEqual(["render.completed"]);
      expect(await server.events(render.id)).toEqual(["render.cancelled"]);
      await server.idle();
      for (const id of [cut.id, done.id, render.id]) expect(await server.leftovers(id)).toEqual([]);
      expect((await anna.asset(asset.id)).state).toBe("ready");
    },
  ],
];
