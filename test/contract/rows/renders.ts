/** Rows of the contract: renders. */
import { expect } from "bun:test";
import { AppError } from "../../../src/domain/errors";
import { makeMedia, silentVideo, video, wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import type { Render } from "../../http/resources";
import { limitRow, type Row } from "./fixtures";

/** Two seconds of video without audio. */
const film = (size: string, rate: string, ...filter: string[]) =>
  makeMedia(
    "film.mp4",
    ...["-f", "lavfi", "-t", "1", "-i", `testsrc=size=${size}:rate=${rate}`, ...filter],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p"],
  );

const variableFilm = () => film("320x240", "20", "-vf", "select='gt(mod(n*7,5),1)'", "-vsync", "vfr");

export const renderRows: Row[] = [
  [
    "POST /v1/renders: 201 pending, Location; mp4 for video, m4a for audio; 200 for the identical request",
    async ({ call, videoAsset, audioAsset, anna }) => {
      const made = await call<Render>("POST", "/v1/renders", { asset_id: (await videoAsset()).id });
      expect(made.status).toBe(201);
      expect(made.headers.get("location")).toBe(`/v1/renders/${made.body.id}`);
      expect(made.body).toMatchObject({ state: "pending", cut_id: null, size_bytes: null, download_url: null });
      expect(made.body.output).toMatchObject({ format: "mp4", resolution: "240p", frame_rate: 10 });
      for (const output of [{}, { format: "mp4" }, { frame_rate: 10 }, made.body.output]) {
        const again = await call<Render>("POST", "/v1/renders", { asset_id: (await videoAsset()).id, output });
        expect([again.status, again.body.id]).toEqual([200, made.body.id]);
      }
      const spoken = await call<Render>("POST", "/v1/renders", { asset_id: (await audioAsset()).id });
      expect(spoken.body.output).toMatchObject({
        format: "m4a",
        resolution: null,
        video_bitrate: null,
        frame_rate: null,
      });
      await anna.renderEnded(made.body.id);
    },
  ],
  [
    "output: Left-out fields mean as the source, matched on exact rationals and shown rounded; the shown output is the same request",
    async ({ anna, call }) => {
      const sources: [string, Promise<Uint8Array>, object, object[]][] = [
        [
          "23.976",
          film("320x240", "24000/1001"),
          { frame_rate: 24, exact_frame_rate: { num: 24_000, den: 1_001 } },
          [],
        ],
        [
          "29.97",
          film("320x240", "30000/1001"),
          { frame_rate: 30, exact_frame_rate: { num: 30_000, den: 1_001 } },
          [{ frame_rate: 30 }, { exact_frame_rate: { num: 30_000, den: 2_002 } }],
        ],
        ["59.94", film("320x240", "60000/1001"), { frame_rate: 60 }, [{ resolution: "180p", video_bitrate: 50_000 }]],
        ["odd sizes", film("321x241", "25"), { resolution: "240p", exact_frame_rate: { num: 25, den: 1 } }, []],
        ["variable", variableFilm(), { resolution: "240p" }, [{ frame_rate: 8 }]],
        [
          "audio",
          wav(2),
          { frame_rate: null, exact_frame_rate: null },
          [
            { format: "mp3", audio_bitrate: 100_000 },
            { audio: { loudness_lufs: -16.5, noise_reduction: "light", level_speakers: true } },
          ],
        ],
      ];
      for (const [name, bytes, expected, others] of sources) {
        const { id } = await anna.ready(await bytes);
        const made = new Set<string>();
        for (const output of [{}, ...others]) {
          const first = await call<Render>("POST", "/v1/renders", { asset_id: id, output });
          expect([name, output, first.status]).toEqual([name, output, 201]);
          if (made.size === 0) expect(first.body.output).toMatchObject(expected);
          const again = await call<Render>("POST", "/v1/renders", { asset_id: id, output: first.body.output });
          expect([name, output, again.status, again.body.id]).toEqual([name, output, 200, first.body.id]);
          made.add(first.body.id);
        }
        expect(made.size).toBe(1 + others.length);
        for (const render of made) expect((await anna.renderEnded(render)).state).toBe("completed");
      }
    },
  ],
  [
    "422: resolution and video_bitrate above the source, video format on an audio asset, values out of range",
    async ({ getOutcome, videoAsset, audioAsset }) => {
      const video = (output: object) => getOutcome("POST", "/v1/renders", { asset_id: clipId, output });
      const clipId = (await videoAsset()).id;
      const bad: [string, object][] = [
        ["resolution", { resolution: "242p" }],
        ["resolution", { resolution: "142p" }],
        ["resolution", { resolution: "181p" }],
        ["resolution", { resolution: "x" }],
        ["video_bitrate", { video_bitrate: 900_000_000 }],
        ["video_bitrate", { video_bitrate: 49_999 }],
        ["audio_bitrate", { audio_bitrate: 31_999 }],
        ["audio_bitrate", { audio_bitrate: 320_001 }],
        ["audio.loudness_lufs", { audio: { loudness_lufs: -8.9 } }],
        ["audio.loudness_lufs", { audio: { loudness_lufs: -31.1 } }],
        ["audio.loudness_lufs", { audio: { loudness_lufs: "-14" } }],
        ["audio.noise_reduction", { audio: { noise_reduction: true } }],
        ["audio.noise_reduction", { audio: { noise_reduction: "strong\n" } }],
        ["audio.level_speakers", { audio: { level_speakers: 1 } }],
        ["audio.gain", { audio: { gain: 3 } }],
        ["frame_rate", { frame_rate: 0 }],
        ["frame_rate", { frame_rate: 21 }],
        ["frame_rate", { frame_rate: 23.976 }],
        ["frame_rate", { frame_rate: 9, exact_frame_rate: { num: 10, den: 1 } }],
        ["exact_frame_rate", { exact_frame_rate: { num: 21, den: 1 } }],
        ["exact_frame_rate.den", { exact_frame_rate: { num: 10, den: 0 } }],
        ["format", { format: "webm" }],
        ["codec", { codec: "av1" }],
        ["resolution", { format: "mp3", resolution: "144p" }],
      ];
      for (const [field, output] of bad) {
        expect([output, await video(output)]).toEqual([output, `422 validation_error body.output.${field}`]);
      }
      const spoken = await getOutcome("POST", "/v1/renders", {
        asset_id: (await audioAsset()).id,
        output: { format: "mp4" },
      });
      expect(spoken).toBe("422 validation_error body.output.format");
    },
  ],
  [
    "422: an audio format of a video without audio; 404 and 422 for unknown and foreign assets and cuts",
    async ({ getOutcome, anna, bert, videoAsset, cut, audioAsset }) => {
      const silent = await anna.ready(await silentVideo());
      const asSound = { asset_id: silent.id, output: { format: "mp3" } };
      expect(await getOutcome("POST", "/v1/renders", asSound)).toBe("422 validation_error body.output.format");
      expect(await getOutcome("POST", "/v1/renders", { asset_id: NO_ID })).toBe("404 not_found");
      expect(await getOutcome("POST", "/v1/renders", { asset_id: (await videoAsset()).id }, bert)).toBe(
        "404 not_found",
      );
      const cutId = (await cut()).id;
      for (const json of [
        { asset_id: (await audioAsset()).id, cut_id: cutId },
        { asset_id: (await videoAsset()).id, cut_id: NO_ID },
      ]) {
        expect(await getOutcome("POST", "/v1/renders", json)).toBe("422 validation_error body.cut_id");
      }
      expect(await getOutcome("POST", "/v1/renders", { asset_id: "x" })).toBe("422 validation_error body.asset_id");
    },
  ],
  [
    "409 asset_not_ready: audio requires cuttable, video requires ready; 409 modifier_not_ready: the cut is not completed",
    async ({ anna, getOutcome, server, videoAsset }) => {
      const analysis = server.speech.hold("analyze");
      const id = await anna.upload(await video(3));
      await analysis.reached;
      for (const output of [{}, { format: "mp3" }]) {
        expect(await getOutcome("POST", "/v1/renders", { asset_id: id, output })).toBe("409 asset_not_ready");
      }
      analysis.release();
      await anna.prepared(id);
      const forcing = server.speech.hold("forcedAlign");
      const cut = await anna.startCut({ asset_id: (await videoAsset()).id, script: "alpha bravo alpha" });
      await forcing.reached;
      const json = { asset_id: (await videoAsset()).id, cut_id: cut.id };
      expect(await getOutcome("POST", "/v1/renders", json)).toBe("409 modifier_not_ready");
      forcing.release();
      await anna.cutEnded(cut.id);
    },
  ],
  [
    "pending -> processing -> completed: times, size_bytes, download_url, progress 1, render.completed once",
    async ({ render, call, server, anna }) => {
      const { id } = await render();
      const done = (await call<Render>("GET", `/v1/renders/${id}`)).body;
      expect(done).toMatchObject({ state: "completed", progress: 1, strategy: "audio", error_code: null });
      expect(done.created_at <= done.started_at! && done.started_at! <= done.completed_at!).toBe(true);
      const file = await fetch(done.download_url!);
      expect([file.status, (await file.bytes()).length]).toEqual([200, done.size_bytes!]);
      expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="talk.m4a"/);
      expect(await server.events(id)).toEqual(["render.completed"]);
      expect((await anna.call("HEAD", done.download_url!)).status).toBe(200);
    },
  ],
  [
    "processing -> failed: error_code, error_message, render.failed; a failed one does not count as existing",
    async ({ anna, call, server, videoAsset }) => {
      const tools = server.tools();
      const { encoder } = tools;
      tools.encoder = async () => {
        throw new AppError("media_limits_exceeded", "Video is larger than 4096 pixels per side.");
      };
      const json = { asset_id: (await videoAsset()).id, output: { resolution: "180p" } };
      const made = await call<Render>("POST", "/v1/renders", json);
      await anna.renderEnded(made.body.id);
      tools.encoder = encoder;
      const failed = (await call<Render>("GET", `/v1/renders/${made.body.id}`)).body;
      expect(failed).toMatchObject({ state: "failed", error_code: "media_limits_exceeded", download_url: null });
      expect(failed.error_message).toBe("Video is larger than 4096 pixels per side.");
      expect(await server.events(failed.id)).toEqual(["render.failed"]);
      const again = await call<Render>("POST", "/v1/renders", json);
      expect(again.status).toBe(201);
      await anna.renderEnded(again.body.id);
    },
  ],
  [
    "50 simultaneous identical requests create one render and one event",
    async ({ anna, call, server, ids }) => {
      const { id } = await anna.ready(await wav(2));
      const all = await Promise.all(
        Array.from({ length: 50 }, () => call<Render>("POST", "/v1/renders", { asset_id: id })),
      );
      expect(new Set(all.map((reply) => reply.body.id)).size).toBe(1);
      expect(all.filter((reply) => reply.status === 201)).toHaveLength(1);
      await anna.renderEnded(all[0]!.body.id);
      expect(await ids(`/v1/renders?limit=100&asset_id=${id}`)).toHaveLength(1);
      expect(await server.events(all[0]!.body.id)).toEqual(["render.completed"]);
    },
  ],
  [
    "POST /v1/renders/{id}/cancel: 200 cancelled from processing and pending; 409 on a terminal one; one event",
    async ({ anna, call, getOutcome, videoAsset, server, bert }) => {
      const hold = server.holdRenders();
      const start = (height: number) => anna.startRender({ asset_id: clipId, output: { resolution: `${height}p` } });
      const clipId = (await videoAsset()).id;
      const running = await start(144);
      await hold.reached;
      const waiting = [await start(150), await start(160), await start(170)];
      for (const { id } of [running, ...waiting]) {
        const cancelled = await call<Render>("POST", `/v1/renders/${id}/cancel`);
        expect(cancelled).toMatchObject({ status: 200, body: { state: "cancelled", download_url: null } });
        expect(await getOutcome("POST", `/v1/renders/${id}/cancel`)).toBe("409 conflict");
        expect(await getOutcome("POST", `/v1/renders/${id}/cancel`, undefined, bert)).toBe("404 not_found");
        expect(await server.events(id)).toEqual(["render.cancelled"]);
      }
      hold.release();
      const again = await call<Render>("POST", "/v1/renders", { asset_id: clipId, output: { resolution: "144p" } });
      expect(again.status).toBe(201);
      await anna.renderEnded(again.body.id);
    },
  ],
  limitRow("/v1/renders", 100, 20),
  [
    "GET /v1/renders: asset_id, cut_id and state filter, newest first, each once",
    async ({ anna, ids, getOutcome }) => {
      const { id } = await anna.ready(await wav(2));
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: id })).id);
      const made: string[] = [];
      for (const json of [{ cut_id: cut.id }, {}, { output: { format: "mp3" } }]) {
        made.push((await anna.renderEnded((await anna.startRender({ asset_id: id, ...json })).id)).id);
      }
      expect(await ids(`/v1/renders?limit=1&asset_id=${id}`)).toEqual(made.toReversed());
      expect(await ids(`/v1/renders?limit=100&cut_id=${cut.id}`)).toEqual([made[0]!]);
      expect(await ids(`/v1/renders?limit=2&asset_id=${id}&state=completed`)).toEqual(made.toReversed());
      expect(await ids(`/v1/renders?limit=2&asset_id=${id}&state=cancelled`)).toEqual([]);
      expect(await getOutcome("GET", "/v1/renders?cut_id=x")).toBe("422 validation_error query.cut_id");
      expect(await getOutcome("GET", "/v1/renders?state=x")).toBe("422 validation_error query.state");
    },
  ],
  [
    "GET and DELETE /v1/renders/{id}: 404 for unknown and foreign ones; 204 deletes the file",
    async ({ anna, getOutcome, server, bert }) => {
      const { id } = await anna.ready(await wav(2));
      const done = await anna.renderEnded((await anna.startRender({ asset_id: id })).id);
      for (const method of ["GET", "DELETE"]) {
        expect(await getOutcome(method, `/v1/renders/${done.id}`, undefined, bert)).toBe("404 not_found");
        expect(await getOutcome(method, `/v1/renders/${NO_ID}`)).toBe("404 not_found");
        expect(await getOutcome(method, "/v1/renders/x")).toBe("422 validation_error path.render_id");
      }
      expect(await getOutcome("DELETE", `/v1/renders/${done.id}`)).toBe("204");
      expect(await getOutcome("GET", `/v1/renders/${done.id}`)).toBe("404 not_found");
      expect((await fetch(done.download_url!)).status).toBe(404);
      await server.idle();
      expect(await server.leftovers(done.id)).toEqual([]);
    },
  ],
];
