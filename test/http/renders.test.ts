import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { updateAsset } from "../../src/store/assets";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { listVideoPackets, silentVideo, video, wav } from "./media";
import { NO_ID, outcome, tryCall } from "./outcome";
import type { AssetDetail, Cut, Paged, Render } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let bert: Client;
let film: AssetDetail;
let audio: AssetDetail;
let filmCut: Cut;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  [anna, bert] = [await server.user(), await server.user()];
  [film, audio] = await Promise.all([anna.ready(await video(4), { filename: "film.mp4" }), anna.ready(await wav(4))]);
  filmCut = await anna.cutEnded((await anna.startCut({ asset_id: film.id })).id);
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (json: unknown, user = anna) => user.call<Render>("POST", "/v1/renders", { json });

describe("creating a render", () => {
  test("returns it pending, with its Location and resolved output", async () => {
    const hold = server.holdRenders();
    const reply = await post({ asset_id: film.id, output: { frame_rate: 5 } });
    expect(reply.status).toBe(201);
    const { body } = reply;
    expect(reply.headers.get("location")).toBe(`/v1/renders/${body.id}`);
    expect(body).toMatchObject({
      asset_id: film.id,
      cut_id: null,
      state: "pending",
      output: { format: "mp4", resolution: "240p", frame_rate: 5 },
      size_bytes: null,
      error_code: null,
      download_url: null,
      progress: 0,
      strategy: null,
      encoded_share: null,
      strategy_reasons: [],
      warnings: [],
      started_at: null,
      completed_at: null,
    });
    await hold.reached;
    hold.release();
    expect((await anna.renderEnded(body.id)).state).toBe("completed");
  });

  const output = (value: unknown) => ({ output: value });
  test.each<[string, () => Record<string, unknown>, string]>([
    ["without an asset", () => ({ asset_id: undefined }), "422 validation_error body.asset_id"],
    ["of an unknown asset", () => ({ asset_id: NO_ID }), "404 not_found"],
    ["with an unknown cut", () => ({ cut_id: NO_ID }), "422 validation_error body.cut_id"],
    [
      "with a cut of another asset",
      () => ({ asset_id: audio.id, cut_id: filmCut.id }),
      "422 validation_error body.cut_id",
    ],
    ["with an invalid cut ID", () => ({ cut_id: "x" }), "422 validation_error body.cut_id"],
    ["in an unknown format", () => output({ format: "avi" }), "422 validation_error body.output.format"],
    [
      "of a recording as a video",
      () => ({ asset_id: audio.id, ...output({ format: "mp4" }) }),
      "422 validation_error body.output.format",
    ],
    [
      "above the source's resolution",
      () => output({ resolution: "480p" }),
      "422 validation_error body.output.resolution",
    ],
    ["of an odd resolution", () => output({ resolution: "201p" }), "422 validation_error body.output.resolution"],
    ["of too small a resolution", () => output({ resolution: "142p" }), "422 validation_error body.output.resolution"],
    [
      "of a resolution that is a word",
      () => output({ resolution: "small" }),
      "422 validation_error body.output.resolution",
    ],
    [
      "above the source's bitrate",
      () => output({ video_bitrate: 50_000_000 }),
      "422 validation_error body.output.video_bitrate",
    ],
    [
      "below the least bitrate",
      () => output({ video_bitrate: 49_999 }),
      "422 validation_error body.output.video_bitrate",
    ],
    [
      "of a fractional bitrate",
      () => output({ video_bitrate: 60_000.5 }),
      "422 validation_error body.output.video_bitrate",
    ],
    ["of 0 fps", () => output({ frame_rate: 0 }), "422 validation_error body.output.frame_rate"],
    [
      "of more than twice the source's frame rate",
      () => output({ frame_rate: 21 }),
      "422 validation_error body.output.frame_rate",
    ],
    [
      "with too low an audio bitrate",
      () => output({ audio_bitrate: 31_999 }),
      "422 validation_error body.output.audio_bitrate",
    ],
    [
      "with too high an audio bitrate",
      () => output({ audio_bitrate: 320_001 }),
      "422 validation_error body.output.audio_bitrate",
    ],
    [
      "of audio with a resolution",
      () => output({ format: "mp3", resolution: "240p" }),
      "422 validation_error body.output.resolution",
    ],
    [
      "of audio with a frame rate",
      () => output({ format: "m4a", frame_rate: 10 }),
      "422 validation_error body.output.frame_rate",
    ],
    ["with an unknown field", () => output({ codec: "h264" }), "422 validation_error body.output.codec"],
    ["with an unknown property", () => ({ name: "x" }), "422 validation_error body.name"],
    ["with a string as its output", () => output("mp4"), "422 validation_error body.output"],
  ])("%s is refused", async (_, change, expected) => {
    expect(outcome(await post({ asset_id: film.id, ...change() }))).toBe(expected);
  });

  test("of a video without audio to an audio format is refused", async () => {
    const silent = await anna.ready(await silentVideo());
    const result = outcome(await post({ asset_id: silent.id, output: { format: "mp3" } }));
    expect(result).toBe("422 validation_error body.output.format");
  });

  test("of another user's asset is a 404, with another user's cut a 422", async () => {
    expect(outcome(await post({ asset_id: film.id }, bert))).toBe("404 not_found");
    const own = await bert.ready(await wav(4));
    const result = outcome(await post({ asset_id: own.id, cut_id: filmCut.id }, bert));
    expect(result).toBe("422 validation_error body.cut_id");
  });
});

describe("a completed render", () => {
  test("of a cut video is shorter than its source, downloads with a matching name, and emits one event", async () => {
    const started = await anna.startRender({ asset_id: film.id, cut_id: filmCut.id });
    const render = await anna.renderEnded(started.id);
    expect(render).toMatchObject({ state: "completed", cut_id: filmCut.id, progress: 1, error_code: null });
    expect(render.strategy).toBe("smart");
    const answer = await fetch(render.download_url!);
    const bytes = await answer.arrayBuffer();
    expect(bytes.byteLength).toBe(render.size_bytes!);
    expect(answer.headers.get("content-type")).toBe("video/mp4");
    expect(answer.headers.get("content-disposition")).toContain('filename="film.cut.mp4"');
    expect(await server.events(render.id)).toEqual(["render.completed"]);

    const copy = await anna.ready(new Uint8Array(bytes));
    expect(Math.abs(Number(copy.duration_seconds) - filmCut.plan!.kept_duration)).toBeLessThan(0.05);
    expect(copy).toMatchObject({ width: 320, height: 240, frame_rate: { num: 10, den: 1 }, audio_tracks: 1 });
  });

  test("with processed audio has the same video", async () => {
    const audio = { loudness_lufs: -20, noise_reduction: "strong", level_speakers: true };
    const readVideo = async (output: object) => {
      const started = await anna.startRender({ asset_id: film.id, cut_id: filmCut.id, output });
      const { state, strategy_reasons, download_url } = await anna.renderEnded(started.id);
      return { state, strategy_reasons, packets: await listVideoPackets(await (await fetch(download_url!)).bytes()) };
    };
    const [plain, processed] = [await readVideo({}), await readVideo({ audio })];
    expect(plain.packets.length).toBeGreaterThan(10);
    const reason = "the loudness was changed, noise was reduced, the levels of speakers were evened out";
    expect(processed).toEqual({
      ...plain,
      strategy_reasons: [`Only the audio is different: ${reason}. The video was copied.`],
    });
  });

  test("leaves what it has encoded for the next render of the recording, and counts it as storage", async () => {
    const asset = await anna.ready(await video(4));
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const { dir, renderCache } = server.services().folders.media(asset.id);
    const used = async () =>
      (await anna.must<{ storage_used_bytes: number }>("GET", "/v1/users/me")).storage_used_bytes;
    const before = await used();
    const events = () =>
      server.log.filter((line) => line.includes("render.segments_encoded")).map((line) => JSON.parse(line));
    const first = await anna.renderEnded((await anna.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
    const encoded = events().at(-1);
    expect(encoded).toMatchObject({ render: first.id, cached_frames: 0 });
    expect(encoded.encoded_frames).toBeGreaterThan(0);
    const { size } = Bun.file(renderCache);
    expect(await used()).toBe(before + size + first.size_bytes!);

    // The files of an attempt that was killed while it replaced the file, or before it stored the size.
    await Bun.write(`${renderCache}.part`, "not complete");
    await server.services().store.write((tx) => updateAsset(tx, asset.id, { derived_bytes: 1 }));
    const json = { asset_id: asset.id, cut_id: cut.id, output: { format: "mov" } };
    const second = await anna.renderEnded((await anna.startRender(json)).id);
    const { encoded_frames, cached_frames } = events().at(-1);
    expect([cached_frames, cached_frames]).toEqual([encoded.encoded_frames, encoded_frames]);
    expect(await used()).toBe(before + size + first.size_bytes! + second.size_bytes!);
    expect((await readdir(dir)).filter((name) => name.includes("cache"))).toEqual(["render.cache"]);
    const makers = await server
      .services()
      .store.read.all<{ made_with: string }>(
        sql`select made_with from renders where asset_id = ${asset.id} order by created_at`,
      );
    expect(makers.map(({ made_with }) => made_with.endsWith(", parts of earlier renders"))).toEqual([false, true]);
    // Earlier versions encoded frames of open GOPs that are copied now: a drill must not compare these renders.
    expect(makers[0]!.made_with).toMatch(/^ffmpeg .+, .+, revision 2$/);
    await anna.must("DELETE", `/v1/assets/${asset.id}`);
    expect(await Bun.file(renderCache).exists()).toBe(false);
  });

  test.each([
    ["m4a", "audio/mp4"],
    ["mp3", "audio/mpeg"],
  ])("of a recording as %s has its content type", async (format, type) => {
    const render = await anna.renderEnded((await anna.startRender({ asset_id: audio.id, output: { format } })).id);
    expect(render).toMatchObject({
      state: "completed",
      strategy: "audio",
      output: { format, resolution: null, frame_rate: null, video_bitrate: null },
    });
    const answer = await fetch(render.download_url!);
    expect(answer.headers.get("content-type")).toBe(type);
    expect((await answer.arrayBuffer()).byteLength).toBe(render.size_bytes!);
  });
});

describe("an identical request", () => {
  test("returns the existing render, also if it sends the resolved fields", async () => {
    const first = await post({ asset_id: audio.id, output: { format: "mp3", audio_bitrate: 64_000 } });
    const second = await post({ asset_id: audio.id, cut_id: null, output: first.body.output });
    expect([second.status, second.body.id]).toEqual([200, first.body.id]);
    const third = await post({ asset_id: audio.id, output: { format: "mp3", audio_bitrate: 128_000 } });
    expect([third.status, third.body.id === first.body.id]).toEqual([201, false]);
  });

  test("creates a new render after a cancelled one", async () => {
    const hold = server.holdRenders();
    const json = { asset_id: audio.id, output: { format: "mp3", audio_bitrate: 56_000 } };
    const first = await post(json);
    await hold.reached;
    await anna.must("POST", `/v1/renders/${first.body.id}/cancel`);
    const second = await post(json);
    expect([second.status, second.body.id === first.body.id]).toEqual([201, false]);
    hold.release();
    expect((await anna.renderEnded(second.body.id)).state).toBe("completed");
    expect((await anna.render(first.body.id)).state).toBe("cancelled");
  });
});

describe("cancelling", () => {
  test("ends a running render once and leaves no files", async () => {
    const hold = server.holdRenders();
    const { id } = await anna.startRender({ asset_id: audio.id, output: { format: "mp3", audio_bitrate: 40_000 } });
    await hold.reached;
    expect((await anna.render(id)).state).toBe("processing");
    const cancelled = await anna.must<Render>("POST", `/v1/renders/${id}/cancel`);
    expect(cancelled).toMatchObject({ id, state: "cancelled", download_url: null, error_code: null });
    expect(cancelled.completed_at).not.toBeNull();
    expect(await tryCall(anna, "POST", `/v1/renders/${id}/cancel`)).toBe("409 conflict");
    hold.release();
    await server.idle();
    expect((await anna.render(id)).state).toBe("cancelled");
    expect(await server.events(id)).toEqual(["render.cancelled"]);
    expect(await server.leftovers(id)).toEqual([]);
  });

  test("ends a pending render", async () => {
    await using own = await harness({ RENDER_JOBS: "1" });
    const user = await own.user();
    const asset = await user.ready(await wav(4));
    const hold = own.holdRenders();
    const first = await user.startRender({ asset_id: asset.id, output: { format: "mp3" } });
    await hold.reached;
    const second = await user.startRender({ asset_id: asset.id, output: { format: "m4a" } });
    expect((await user.must<Render>("POST", `/v1/renders/${second.id}/cancel`)).state).toBe("cancelled");
    hold.release();
    expect((await user.renderEnded(first.id)).state).toBe("completed");
    expect(await own.events(second.id)).toEqual(["render.cancelled"]);
  });

  test("a completed render is a conflict, another user's is a 404", async () => {
    const render = await anna.renderEnded((await anna.startRender({ asset_id: audio.id })).id);
    expect(await tryCall(anna, "POST", `/v1/renders/${render.id}/cancel`)).toBe("409 conflict");
    expect(await tryCall(bert, "POST", `/v1/renders/${render.id}/cancel`)).toBe("404 not_found");
    expect(await server.events(render.id)).toEqual(["render.completed"]);
  });
});

describe("deleting a render", () => {
  test("deletes its file", async () => {
    const { id } = await anna.startRender({ asset_id: audio.id, output: { format: "mp3", audio_bitrate: 80_000 } });
    const render = await anna.renderEnded(id);
    expect(await tryCall(bert, "DELETE", `/v1/renders/${id}`)).toBe("404 not_found");
    expect(await tryCall(anna, "DELETE", `/v1/renders/${id}`)).toBe("204");
    expect(await tryCall(anna, "GET", `/v1/renders/${id}`)).toBe("404 not_found");
    expect((await fetch(render.download_url!)).status).toBe(404);
    expect(await server.leftovers(id)).toEqual([]);
    expect(await server.events(id)).toEqual(["render.completed"]);
  });

  test("that is running cancels it and emits one event", async () => {
    const hold = server.holdRenders();
    const { id } = await anna.startRender({ asset_id: audio.id, output: { format: "mp3", audio_bitrate: 112_000 } });
    await hold.reached;
    expect(await tryCall(anna, "DELETE", `/v1/renders/${id}`)).toBe("204");
    hold.release();
    await server.idle();
    expect(await tryCall(anna, "GET", `/v1/renders/${id}`)).toBe("404 not_found");
    expect(await server.events(id)).toEqual(["render.cancelled"]);
    expect(await server.leftovers(id)).toEqual([]);
  });
});

describe("the render list", () => {
  test("returns pages, newest first, and filters", async () => {
    const user = await server.user();
    const source = await user.ready(await wav(4));
    const cut = await user.cutEnded((await user.startCut({ asset_id: source.id })).id);
    const asks = [{}, { cut_id: cut.id }, { output: { format: "mp3" } }];
    const ids: string[] = [];
    for (const ask of asks) ids.unshift((await user.startRender({ asset_id: source.id, ...ask })).id);
    for (const id of ids) await user.renderEnded(id);
    const list = (query: string) => user.must<Paged<Render>>("GET", `/v1/renders?${query}`);
    const first = await list(`asset_id=${source.id}&limit=2`);
    const second = await list(`asset_id=${source.id}&limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map((render) => render.id)).toEqual(ids);
    expect((await list(`cut_id=${cut.id}`)).items.map((render) => render.id)).toEqual([ids[1]!]);
    expect((await list("state=completed")).items).toHaveLength(3);
    expect((await list("state=cancelled")).items).toEqual([]);
    expect(await tryCall(user, "GET", "/v1/renders?state=done")).toBe("422 validation_error query.state");
    expect(await tryCall(user, "GET", "/v1/renders?cut_id=x")).toBe("422 validation_error query.cut_id");
  });
});

test("a configured encoder that does not work is named in the log before the first render", async () => {
  await using other = await harness({ ENCODER: "h264_missing" });
  await until("the warning", () =>
    other.log.some((line) => line.includes("encoder.unusable") && line.includes("h264_missing does not work")),
  );
});
