/** Media of assets for pages: previews, and parts of them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm, stat } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { measureSteps, readLoudness } from "../../src/domain/loudness";
import { isFullSize } from "../full-size";
import { readPiece } from "../unit/media/preview/fragments";
import { until } from "../until";
import { startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { quiet, silentVideo, video, wav } from "./media";
import { dashboardOutcome, NO_ID } from "./outcome";
import { createWorkspace, inside, join } from "./workspace-calls";

setDefaultTimeout(3 * PATIENCE_MS);

type Media = {
  video_type: string | null;
  audio_type: string | null;
  duration: number;
  is_preview_ready: boolean;
  progress: number | null;
  error_message: string | null;
};

let server: Harness;
let anna: Client;
let talk: string;
let sound: string;
let silent: string;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  anna = await server.user();
  talk = (await anna.ready(await video(4))).id;
  sound = (await anna.ready(await wav(4))).id;
  silent = (await anna.ready(await silentVideo(2))).id;
  for (const id of [talk, sound, silent]) await madeMedia(id);
});
afterAll(() => server[Symbol.asyncDispose]());

const readMedia = (id: string) => anna.must<Media>("GET", `/api/v1/assets/${id}/media`);
const madeMedia = (id: string) =>
  until(
    `the preview of ${id}`,
    async () => {
      const media = await readMedia(id);
      return media.is_preview_ready || media.error_message ? media : null;
    },
    60,
  );
const get = (id: string, what: string, headers: Record<string, string> = {}, as: Client = anna) =>
  fetch(`${server.url()}/api/v1/assets/${id}/${what}`, {
    headers: as.key ? { Authorization: `Bearer ${as.key}`, ...headers } : headers,
  });
const outcomeOf = async (id: string, what: string, as: Client = anna): Promise<string> =>
  dashboardOutcome(await as.call("GET", `/api/v1/assets/${id}/${what}`));
const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());
const countSteps = async (id: string) =>
  (
    await server
      .services()
      .store.read.all(sql`SELECT id FROM steps WHERE subject_id = ${id} AND processor_name = 'preview'`)
  ).length;

describe("media of", () => {
  test("a video, audio, and a video without audio", async () => {
    const [h264, aac] = ['video/mp4; codecs="avc1.640028"', 'audio/mp4; codecs="mp4a.40.2"'];
    expect(await readMedia(talk)).toMatchObject({ video_type: h264, audio_type: aac, duration: 4, progress: null });
    expect(await readMedia(sound)).toMatchObject({ video_type: null, audio_type: aac });
    expect(await readMedia(silent)).toMatchObject({ video_type: h264, audio_type: null });
  });

  test.each<[string, () => string, string, string]>([
    ["a poster", () => talk, "poster", "200"],
    ["the poster of audio", () => sound, "poster", "404 not_found"],
    ["a filmstrip", () => talk, "filmstrip", "200"],
    ["the filmstrip of audio", () => sound, "filmstrip", "404 not_found"],
    ["an envelope", () => sound, "envelope?points=10", "200"],
    ["the envelope of a silent video", () => silent, "envelope", "404 not_found"],
    ["an envelope without points", () => sound, "envelope?points=0", "422 query.points"],
    ["the storyboard of audio", () => sound, "storyboard", "404 not_found"],
    ["a sheet that does not exist", () => talk, "storyboard/1", "404 not_found"],
    ["a sheet that is no number", () => talk, "storyboard/x", "422 path.sheet"],
    ["the waveform of a silent video", () => silent, "waveform", "404 not_found"],
    ["the loudness of a silent video", () => silent, "loudness", "404 not_found"],
    ["the transcript of a silent video", () => silent, "transcript", "404 not_found"],
    ["video of audio", () => sound, "pieces/video?from=0&to=1", "404 not_found"],
    ["audio of a silent video", () => silent, "pieces/audio?from=0&to=1", "404 not_found"],
    ["another track", () => talk, "pieces/text?from=0&to=1", "422 path.track"],
    ["a piece without times", () => talk, "pieces/video", "422 query.from,query.to"],
    ["a piece before the start", () => talk, "pieces/video?from=-1&to=1", "422 query.from"],
    ["an empty piece", () => talk, "pieces/video?from=1&to=1", "422 query.to"],
    ["a piece beyond the end", () => talk, "pieces/video?from=1&to=4.1", "422 query.to"],
    ["a seek to before the piece", () => talk, "pieces/video?from=1&to=2&seek=0.9", "422 query.seek"],
    ["a seek to after the piece", () => talk, "pieces/video?from=1&to=2&seek=2.1", "422 query.seek"],
    [
      "noise reduction of another kind",
      () => talk,
      "pieces/audio?from=1&to=2&noise_reduction=off",
      "422 query.noise_reduction",
    ],
    ["clean audio of a silent video", () => silent, "pieces/audio?from=0&to=1&noise_reduction=light", "404 not_found"],
    ["a piece of another variant", () => talk, "pieces/video?from=1&to=2&variant=raw", "422 query.variant"],
    [
      "packets of a source that browsers cannot play",
      () => sound,
      "pieces/audio?from=1&to=2&variant=source",
      "404 not_found",
    ],
    ["a piece of more than a minute", () => talk, "pieces/audio?from=1&to=61.5", "422 query.to"],
    ["an asset that does not exist", () => NO_ID, "preview", "404 not_found"],
    ["an ID that is no UUID", () => "x", "preview", "422 path.asset_id"],
  ])("%s", async (_, id, what, expected) => {
    expect(await outcomeOf(id(), what)).toBe(expected);
  });

  test("strangers and callers without a credential", async () => {
    const bert = await server.user();
    for (const what of [
      "media",
      "poster",
      "filmstrip",
      "envelope",
      "preview",
      "waveform",
      "loudness",
      "storyboard",
      "transcript",
      "pieces/audio?from=0&to=1",
    ]) {
      expect([what, await outcomeOf(talk, what, bert)]).toEqual([what, "404 not_found"]);
      expect([what, await outcomeOf(talk, what, server.nobody)]).toEqual([what, "401 unauthenticated"]);
    }
  });

  test("a shared workspace, named in the query, is readable for a viewer", async () => {
    const [owner, viewer] = [await startSession(server, anna), await startSession(server, await server.user())];
    const { id: workspace } = await createWorkspace(owner);
    await join(owner, workspace, viewer, "viewer");
    await server
      .services()
      .store.write((tx) => tx.run(sql`UPDATE assets SET workspace_id = ${workspace} WHERE id = ${sound}`));
    try {
      const query = `workspace_id=${workspace}`;
      for (const what of [`media?${query}`, `preview?${query}`, `pieces/audio?from=0&to=1&${query}`])
        expect(await outcomeOf(sound, what, viewer)).toBe("200");
      expect((await viewer.call("GET", `/api/v1/assets/${sound}/waveform`, inside(workspace))).status).toBe(200);
      expect(await outcomeOf(sound, "preview", viewer)).toBe("404 not_found");
    } finally {
      await server
        .services()
        .store.write((tx) => tx.run(sql`UPDATE assets SET workspace_id = ${anna.userId} WHERE id = ${sound}`));
    }
  });
});

describe("a file of media", () => {
  test("has ranges and validators, and is cached privately", async () => {
    const whole = await get(talk, "preview");
    const bytes = await bytesOf(whole);
    expect(whole.headers.get("content-type")).toBe("video/mp4");
    expect(whole.headers.get("cache-control")).toBe("private, max-age=3600");
    const part = await get(talk, "preview", { Range: "bytes=4-7" });
    expect(part.status).toBe(206);
    expect(Buffer.from(await bytesOf(part)).toString()).toBe("ftyp");
    expect(part.headers.get("content-range")).toBe(`bytes 4-7/${bytes.length}`);
    expect((await get(talk, "preview", { Range: `bytes=${bytes.length}-` })).status).toBe(416);
    for (const what of ["preview", "poster", "transcript", "pieces/video?from=0.3&to=1"]) {
      const { headers } = await get(talk, what);
      expect([what, (await get(talk, what, { "If-None-Match": headers.get("etag")! })).status]).toEqual([what, 304]);
    }
  });

  test("waveform.bin has 50 peaks a second", async () => {
    const bytes = await bytesOf(await get(sound, "waveform"));
    const view = new DataView(bytes.buffer);
    expect(Buffer.from(bytes.subarray(0, 4)).toString()).toBe("OCW1");
    expect([view.getUint32(4, true), view.getUint32(8, true), bytes.length]).toEqual([50, 200, 212]);
    // Seconds of tone and of silence.
    expect(bytes[12 + 25]).toBeGreaterThan(40);
    expect(bytes[12 + 75]).toBeLessThan(3);
  });

  test("the loudness has ten steps a second, and is measured again where an older version prepared the asset", async () => {
    const read = async () => readLoudness((await bytesOf(await get(sound, "loudness"))).slice().buffer as ArrayBuffer);
    const measured = measureSteps(await read());
    expect(measured.peak).toBeLessThan(0);
    const { loudness, preview } = server.services().folders.media(sound);
    const { mtimeMs } = await stat(preview);
    await rm(loudness);
    await until("the loudness", async () => (await outcomeOf(sound, "loudness")) === "200");
    expect(measureSteps(await read())).toEqual(measured);
    expect((await stat(preview)).mtimeMs).toBe(mtimeMs);
  });

  test("a render of silence stays unchanged, and reports why", async () => {
    const { id: asset_id } = await anna.ready(await quiet());
    const { id } = await anna.startRender({
      asset_id,
      output: { audio: { loudness_lufs: -16, noise_reduction: "light" } },
    });
    expect((await anna.renderEnded(id)).warnings).toEqual([
      "No voice was found, so noise was not reduced.",
      "The audio is silent, so its loudness was not changed.",
    ]);
  });

  test("the transcript has columns in milliseconds, with and without compression", async () => {
    const expected = { text: expect.any(Array), start: expect.any(Array), end: expect.any(Array) };
    for (const encoding of ["gzip", "identity"]) {
      const { text, start, end } = (await (
        await get(talk, "transcript", { "Accept-Encoding": encoding })
      ).json()) as Record<string, unknown[]>;
      expect({ text, start, end }).toEqual(expected);
      expect([start!.length, end!.length]).toEqual([text!.length, text!.length]);
    }
  });

  test("clean audio is cached once it is known where somebody speaks", async () => {
    const read = async () => (await get(sound, "pieces/audio?from=0&to=1&noise_reduction=light")).headers;
    const final = await read();
    await rm(server.services().folders.media(sound).speechAnalysis);
    const early = await read();
    expect([early.get("etag") === final.get("etag"), early.get("cache-control")]).toEqual([false, "no-cache"]);
  });

  test("the memory of a piece is released when it is sent or no longer wanted", async () => {
    const { pieces } = server.services();
    const { read } = pieces;
    const held = new Set<object>();
    pieces.read = async (...request) => {
      const piece = await read(...request);
      held.add(piece);
      return {
        ...piece,
        release: () => {
          held.delete(piece);
          piece.release();
        },
      };
    };
    try {
      for (const method of ["GET", "HEAD"]) {
        const path = `/api/v1/assets/${talk}/pieces/video?from=0&to=4`;
        const { status } = await anna.call(method, path);
        expect([method, status, held.size]).toEqual([method, 200, 0]);
      }
    } finally {
      pieces.read = read;
    }
  });

  test("pieces have the duration of their span", async () => {
    for (const [from, to] of [
      [0, 4],
      [0.3, 1],
      [2.2, 3.9],
    ] as const) {
      const { samples, timescale } = readPiece(await bytesOf(await get(talk, `pieces/video?from=${from}&to=${to}`)));
      const total = samples.reduce((sum, { duration }) => sum + duration, 0);
      expect([samples[0]!.time, total]).toEqual([Math.round(from * timescale), Math.round((to - from) * timescale)]);
      expect(samples).toHaveLength(Math.round((to - from) * 10));
    }
  });
});

describe("a preview", () => {
  test("is started once by the first opening, is listed until it is ready, and counts as storage", async () => {
    const { id } = await anna.ready(await video(3));
    const used = async () =>
      (await anna.must<{ storage_used_bytes: number }>("GET", "/v1/users/me")).storage_used_bytes;
    const countListed = async () => {
      const { items } = await anna.must<{ items: { steps: { processor_name: string }[] }[] }>(
        "GET",
        "/api/v1/pipelines?limit=100",
      );
      return items.flatMap(({ steps }) => steps).filter((step) => step.processor_name === "preview").length;
    };
    const before = await used();
    await server.services().runner.stop();
    expect(await outcomeOf(id, "preview")).toBe("409 asset_processing");
    for (const what of [
      "waveform",
      "storyboard",
      "pieces/audio?from=0&to=1",
      "pieces/video?from=0.5&to=1&variant=source",
    ])
      expect([what, await outcomeOf(id, what)]).toEqual([what, "200"]);
    expect((await get(id, "preview")).headers.get("retry-after")).toBe("1");
    expect(await readMedia(id)).toMatchObject({
      is_preview_ready: false,
      is_playable: true,
      progress: 0,
      wait: { position: 1, seconds: 1 },
      video_type: 'video/mp4; codecs="avc1.640028"',
      source: { video: { type: expect.stringMatching(/^video\/mp4; codecs="avc1\./) }, audio: { channels: 1 } },
    });
    // A user waits for it, so it is listed until it is ready.
    expect(await countListed()).toBe(1);
    expect((await anna.asset(id)).preview_url).toBeNull();
    server.services().runner.start();
    expect(await madeMedia(id)).toMatchObject({ error_message: null });
    expect(await countSteps(id)).toBe(1);
    await server.idle();
    expect(await countListed()).toBe(0);
    await server.idle();
    expect((await used()) - before).toBeGreaterThan(Bun.file(server.services().folders.media(id).preview).size);
    expect((await anna.asset(id)).preview_url).toBeString();
  });

  test.if(isFullSize)("that failed says why, and is made again when the asset is opened later", async () => {
    const { id } = await anna.ready(await silentVideo(2));
    const { source } = server.services().folders.media(id);
    const bytes = await Bun.file(source).bytes();
    await Bun.write(source, new Uint8Array(bytes.length));
    const failed = async () => ((await readMedia(id)).error_message ? true : null);
    await until("the failure", failed, 60);
    expect(await outcomeOf(id, "preview")).toBe("409 asset_failed");
    expect((await anna.asset(id)).state).toBe("ready");
    expect(await countSteps(id)).toBe(1);
    await Bun.write(source, bytes as Uint8Array<ArrayBuffer>);
    server.advance(11 * 60_000);
    expect(await madeMedia(id)).toMatchObject({ error_message: null });
  });

  test("ends with its asset", async () => {
    const { id } = await anna.ready(await wav(2));
    await readMedia(id);
    expect((await anna.call("DELETE", `/v1/assets/${id}`)).status).toBe(204);
    expect(await outcomeOf(id, "preview")).toBe("404 not_found");
    await server.idle();
    await until("the removal of its files", async () => ((await server.leftovers(id)).length === 0 ? true : null));
    const gone = (await anna.ready(await wav(3))).id;
    await madeMedia(gone);
    await rm(server.services().folders.media(gone).preview);
    expect(await outcomeOf(gone, "preview")).toBe("404 not_found");
  });
});

test("previews are created after preparation if the setting is on, and again after an interruption", async () => {
  await using own = await harness({ PREVIEWS: "after_preparation" });
  const user = await own.user();
  const { id } = await user.ready(await video(2));
  await own.restart();
  await own.idle();
  expect(await own.leftovers(`${id}.preview`)).toEqual([]);
  expect((await user.must<Media>("GET", `/api/v1/assets/${id}/media`)).is_preview_ready).toBe(true);
  expect(own.errors).toEqual([]);
});
