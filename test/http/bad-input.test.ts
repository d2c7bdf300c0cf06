import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { readBalance } from "../../src/store/credits";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { makeMedia, quiet, video, wav } from "./media";
import { outcome } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness();
  anna = await server.user(100_000);
});
afterAll(() => server[Symbol.asyncDispose]());

const text = (content: string) => new TextEncoder().encode(content.padEnd(64));

/** Creates a WAV file without samples, padded to the minimum size of an upload. */
function emptyWav(): Uint8Array {
  const bytes = Buffer.alloc(128);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(120, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(16_000, 24);
  bytes.writeUInt32LE(32_000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(0, 40);
  bytes.write("LIST", 44);
  bytes.writeUInt32LE(76, 48);
  return bytes;
}

/** Removes the moov box, as when a recorder's battery dies. */
async function withoutMoov(): Promise<Uint8Array> {
  const bytes = Buffer.from(await video(4));
  const at = bytes.indexOf("moov");
  expect(at).toBeGreaterThan(0);
  return bytes.subarray(0, at - 4);
}

/** Creates a file with the moov box in front and half of the media data. */
async function truncated(): Promise<Uint8Array> {
  const bytes = await makeMedia(
    "fast.mp4",
    ...["-f", "lavfi", "-t", "4", "-i", "testsrc=size=320x240:rate=10", "-c:v", "libx264", "-pix_fmt", "yuv420p"],
    ...["-movflags", "+faststart"],
  );
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}

const png = () => makeMedia("picture.png", "-f", "lavfi", "-i", "testsrc=size=64x64", "-frames:v", "1");
const other = "/etc/passwd";

describe("bad input fails with its code, is not charged and leaves nothing behind", () => {
  test.each<[string, string, () => Promise<Uint8Array> | Uint8Array, string[]]>([
    ["text named .mp4", "notes.mp4", () => text("These are my notes."), ["unsupported_media"]],
    ["zeros", "zero.mp4", () => new Uint8Array(10_000), ["unsupported_media"]],
    ["noise", "noise.mp4", () => crypto.getRandomValues(new Uint8Array(10_000)), ["unsupported_media"]],
    ["an image", "picture.png", png, ["unsupported_media"]],
    ["an image named .mp4", "picture.mp4", png, ["unsupported_media"]],
    ["an HTML page", "page.mp4", () => text("<!doctype html><script>alert(1)</script>"), ["unsupported_media"]],
    [
      "a vector image",
      "drawing.svg",
      () => text(`<svg xmlns="http://www.w3.org/2000/svg"><image href="file://${other}"/></svg>`),
      ["unsupported_media"],
    ],
    [
      "a playlist",
      "list.m3u8",
      () => text(`#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://${other}\n#EXT-X-ENDLIST\n`),
      ["unsupported_media"],
    ],
    ["a playlist named .mp4", "list.mp4", () => text(`#EXTM3U\n#EXTINF:9,\n${other}\n`), ["unsupported_media"]],
    ["an ffconcat script", "join.mp4", () => text(`ffconcat version 1.0\nfile ${other}\n`), ["unsupported_media"]],
    [
      "a description of a stream",
      "stream.mp4",
      () => text(`<?xml version="1.0"?><MPD><BaseURL>file://${other}</BaseURL></MPD>`),
      ["unsupported_media"],
    ],
    [
      "an archive",
      "files.zip",
      () => new Uint8Array([0x50, 0x4b, 3, 4, ...new Uint8Array(200)]),
      ["unsupported_media"],
    ],
    ["a video without its moov box", "cut-off.mp4", withoutMoov, ["corrupt_media"]],
    ["a recording of zero length", "empty.wav", emptyWav, ["no_media_streams", "corrupt_media"]],
    [
      "the head of a video and nothing else",
      "head.mp4",
      async () => (await video(4)).slice(0, 200),
      ["corrupt_media", "no_media_streams"],
    ],
  ])("%s", async (_, filename, make, codes) => {
    const before = await readBalance(server.services().store.read, anna.userId);
    const asset = await anna.prepared(await anna.upload(await make(), { filename }));
    expect([asset.state, codes.includes(asset.error_code ?? "")]).toEqual(["failed", true]);
    expect(asset.error_message).toMatch(/^[A-Z][^\n]{5,200}[.!?]$/);
    expect(asset.error_message).not.toContain(server.dataDir);
    expect(asset).toMatchObject({ filename, duration_seconds: null, download_url: null, cuttable: false });
    expect(await readBalance(server.services().store.read, anna.userId)).toBe(before);
    expect(await server.events(asset.id)).toEqual(["asset.failed from processing"]);
  });

  test("a truncated video is either prepared up to its end or corrupt_media", async () => {
    const asset = await anna.prepared(await anna.upload(await truncated(), { filename: "half.mp4" }));
    if (asset.state === "ready") expect(Number(asset.duration_seconds)).toBeGreaterThan(0);
    else expect(asset).toMatchObject({ state: "failed", error_code: "corrupt_media" });
  });
});

test("an empty body changes nothing, and the upload can be resumed", async () => {
  const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
  const { id } = await anna.open(bytes.length);
  const empty = await anna.patch(id, 0, "");
  expect([empty.status, empty.headers.get("upload-offset")]).toEqual([204, "0"]);
  expect((await anna.asset(id)).state).toBe("pending_upload");
  expect((await anna.patch(id, 0, bytes)).status).toBe(204);
  expect((await anna.prepared(id)).state).toBe("ready");
});

test("an ffconcat script cannot read another user's upload", async () => {
  const bert = await server.user();
  const victim = await bert.ready(await wav(2));
  const { folders } = server.services();
  for (const path of [
    folders.media(victim.id).source,
    `../${victim.id}/source`,
    `file:${folders.media(victim.id).source}`,
  ]) {
    const list = text(`ffconcat version 1.0\nfile '${path}'\n`);
    const asset = await anna.prepared(await anna.upload(list, { filename: "join.wav" }));
    expect(asset).toMatchObject({ state: "failed", error_code: "unsupported_media" });
  }
});

test.each([
  ["../../../etc/cron.d/x.wav", "x.wav"],
  ["..\\..\\boot.wav", "boot.wav"],
  ["🎬 take \u202e1 – Ünï.wav", "🎬 take 1 – Ünï.wav"],
  ["-i evil.wav", "-i evil.wav"],
  ["$(touch pwned);`id`.wav", "$(touch pwned);`id`.wav"],
  ['"; filename="evil.exe', '"; filename="evil.exe'],
  ["..", null],
])("a file named %j is prepared, rendered and downloaded like any other", async (filename, shown) => {
  const asset = await anna.ready(await wav(2), { filename });
  expect(asset.filename).toBe(shown);
  const render = await anna.renderEnded((await anna.startRender({ asset_id: asset.id })).id);
  expect(render.state).toBe("completed");
  for (const link of [asset.download_url!, render.download_url!]) {
    const answer = await fetch(link);
    expect(answer.status).toBe(200);
    const disposition = answer.headers.get("content-disposition")!;
    expect(disposition).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[\w.%~-]+$/);
    await answer.arrayBuffer();
  }
  for (const path of ["/etc/cron.d/x.wav", "pwned"]) expect(await Bun.file(path).exists()).toBe(false);
});

test("limits of duration, resolution and streams are enforced", async () => {
  await using strict = await harness({ MAX_DURATION_SECONDS: "3", MAX_SIDE_PIXELS: "300" });
  const user = await strict.user();
  for (const bytes of [await wav(4), await video(2)]) {
    const asset = await user.prepared(await user.upload(bytes));
    expect(asset).toMatchObject({ state: "failed", error_code: "media_limits_exceeded" });
  }
  expect((await user.ready(await wav(2))).state).toBe("ready");
});

test("five minutes of silence are prepared, and the cut fails with no_speech", async () => {
  const asset = await anna.ready(await quiet(300), { filename: "silence.wav" });
  expect(asset.duration_seconds).toBe("300");
  const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
  expect(cut).toMatchObject({ state: "failed", error_code: "no_speech" });
});

test("a source file that disappears fails the job, not the server", async () => {
  const asset = await anna.ready(await wav(2));
  await rm(server.services().folders.media(asset.id).dir, { recursive: true });
  const cut = await anna.startCut({ asset_id: asset.id });
  const render = await anna.startRender({ asset_id: asset.id });
  expect(outcome(await anna.call("GET", asset.download_url!))).toBe("404 not_found");
  await anna.must("DELETE", `/v1/assets/${asset.id}`);
  expect(outcome(await anna.call("GET", `/v1/cuts/${cut.id}`))).toBe("404 not_found");
  expect(outcome(await anna.call("GET", `/v1/renders/${render.id}`))).toBe("404 not_found");
});
