/**
 * Uploads of finished files: rendered videos and plans of cuts. They are checked, but not charged, transcribed, cut or
 * rendered.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";
import { attempt } from "./outcome";
import type { AssetDetail, Paged } from "./resources";
import { createLink, createResumable, createSessionUser, formatMetadata, put } from "./upload-clients";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness();
});
beforeEach(async () => {
  anna = await createSessionUser(server, 0);
});
afterAll(() => server[Symbol.asyncDispose]());

const PLAN = { source_duration: 4, segments: [{ start: 0, end: 1.5, text: "One." }], removed: [], language: "en" };
const json = (value: unknown) => JSON.stringify(value).padEnd(100);

async function upload(type: string, body: BodyInit): Promise<AssetDetail> {
  const { asset, upload } = await createLink(anna, { type });
  expect((await put(server, upload.url, body)).status).toBe(204);
  await server.idle();
  return anna.must<AssetDetail>("GET", `/api/v1/assets/${asset.id}`);
}

/** Sends the file in one PATCH. */
async function uploadInParts(type: string, body: Uint8Array<ArrayBuffer>): Promise<AssetDetail> {
  const { session_id } = (
    await createResumable(anna, {
      "Upload-Length": String(body.length),
      "Upload-Metadata": formatMetadata({ type, filename: "made.bin" }),
    })
  ).body;
  const headers = anna.tus({ "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0" });
  expect((await anna.call("PATCH", `/api/v1/uploads/${session_id}`, { body, headers })).status).toBe(204);
  await server.idle();
  return anna.must<AssetDetail>("GET", `/api/v1/assets/${session_id}`);
}

/** Expects the properties of every finished file. */
async function expectNotASource(asset: AssetDetail): Promise<void> {
  expect(asset).toMatchObject({ cuttable: false, has_transcript: false, waveform_url: null, preview_url: null });
  expect(await attempt(anna, "POST", "/api/v1/cuts", { asset_id: asset.id })).toBe("409 conflict");
  for (const format of ["mp4", "mp3"])
    expect(await attempt(anna, "POST", "/api/v1/renders", { asset_id: asset.id, output: { format } })).toBe(
      "409 asset_not_ready",
    );
  expect((await anna.must<Paged<object>>("GET", "/api/v1/assets")).items).toEqual([]);
  expect((await anna.must<Paged<object>>("GET", "/api/v1/credits/history")).items).toEqual([]);
  expect(await server.events(asset.id)).toEqual([]);
}

describe("a rendered video", () => {
  test("is probed and has a poster and a filmstrip, but no other derived files", async () => {
    const bytes = (await video(1)) as Uint8Array<ArrayBuffer>;
    const asset = await upload("rendered_video", bytes);
    expect(asset).toMatchObject({ kind: "rendered_video", state: "ready", type: "video", duration_seconds: "1" });
    expect(asset.width).toBeGreaterThan(0);
    for (const url of [asset.poster_url, asset.filmstrip_url, asset.download_url])
      expect((await fetch(url!)).status).toBe(200);
    await expectNotASource(asset);
    const { dir } = server.services().folders.media(asset.id);
    expect((await readdir(dir)).toSorted()).toEqual(["filmstrip.jpg", "poster.jpg", "probed.json", "source"]);
  });

  test("without a picture has no poster", async () => {
    const asset = await uploadInParts("rendered_video", (await wav(1)) as Uint8Array<ArrayBuffer>);
    expect(asset).toMatchObject({ state: "ready", type: "audio", poster_url: null, filename: "made.bin" });
    await expectNotASource(asset);
  });

  test("that is invalid fails, without an event", async () => {
    const asset = await upload("rendered_video", "x".repeat(1_000));
    expect(asset).toMatchObject({ state: "failed", error_code: "unsupported_media" });
    await expectNotASource(asset);
  });
});

describe("a cut file", () => {
  test.each<[string, (text: string) => Promise<AssetDetail>]>([
    ["through a signed link", (text) => upload("cut_file", text)],
    ["in parts", (text) => uploadInParts("cut_file", new TextEncoder().encode(text))],
  ])("is checked as a plan (%s)", async (_, send) => {
    const asset = await send(json(PLAN));
    expect(asset).toMatchObject({
      kind: "cut_file",
      state: "ready",
      type: null,
      extension: "json",
      content_type: "application/json",
      duration_seconds: "1.5",
      size_bytes: json(PLAN).length,
    });
    expect(await (await fetch(asset.download_url!)).json()).toEqual(PLAN);
    await expectNotASource(asset);
  });

  test("may be a cut as the API returns it", async () => {
    expect((await upload("cut_file", json({ id: "x", state: "completed", plan: PLAN }))).state).toBe("ready");
  });

  const DEEP = 200_000;
  test.each<[string, BodyInit, RegExp]>([
    ["no JSON", "no JSON ".repeat(20), /is not valid JSON/],
    ["no UTF-8", new Uint8Array(100).fill(0xff), /is not UTF-8 text/],
    ["another object", json({ segment: [] }), /segments is missing/],
    ["a segment without an end", json({ segments: [{ start: 0 }] }), /segments\[0\]\.end is missing/],
    ["a cut that has no plan yet", json({ plan: null }), /plan is null/],
    ["nesting without an end", "[".repeat(DEEP) + "]".repeat(DEEP), /nested deeper than 64 levels/],
    ["media", new Uint8Array(Buffer.alloc(2_000, "RIFF")), /is not valid JSON/],
    ["more than 16 MiB", " ".repeat(16 * 1024 ** 2 + 1), /must be at most 16777216 bytes/],
  ])("with %s fails with unsupported_media", async (_, body, message) => {
    const asset = await upload("cut_file", body);
    expect(asset).toMatchObject({ state: "failed", error_code: "unsupported_media" });
    expect(asset.error_message).toMatch(message);
  });
});
