import { describe, expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Upload } from "tus-js-client";
import { fullOr } from "../full-size";
import type { Asset } from "../http/resources";
import { sendToLink } from "../http/upload-clients";
import { IS_BUNDLED_PASS } from "./offcut";
import { breakingProxy } from "./proxy";
import { BUNDLED, memoryOf, startServer } from "./server";

const MIB = 1024 ** 2;
const LARGE_BYTES = fullOr(2048, 256) * MIB;
const MAX_MEGABYTES = 300;

/** A minute and a half of stereo noise with silences in it: bytes that cannot be mistaken for one another. */
function noise(): Uint8Array<ArrayBuffer> {
  const rate = 48_000;
  const samples = rate * 90 * 2;
  const bytes = new Uint8Array(44 + samples * 2);
  const view = new DataView(bytes.buffer);
  const word = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at);
  word(0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 2, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 4, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, samples * 2, true);
  let state = 1;
  for (let n = 0; n < samples; n++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    view.setInt16(44 + n * 2, (state >>> 16) % 4_000, true);
  }
  return bytes;
}

describe.skipIf(IS_BUNDLED_PASS)("a real client whose connection breaks twice", () => {
  test("resumes each time where it stopped, and stores exactly the sent bytes", async () => {
    await using server = await startServer(BUNDLED);
    const user = await server.user();
    const bytes = noise();
    const asset = await user.open(bytes.length, { filename: "noise.wav" });
    await using proxy = await breakingProxy(server.url(), [bytes.length * 0.3, bytes.length * 0.4]);
    const offsets: number[] = [];
    const calls: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const upload = new Upload(Buffer.from(bytes.buffer), {
        uploadUrl: asset.upload_url!.replace(server.url(), proxy.url),
        headers: { Authorization: `Bearer ${user.key}` },
        retryDelays: [0, 50, 100, 200, 400],
        onAfterResponse: (request, response) => {
          calls.push(request.getMethod());
          if (request.getMethod() === "HEAD") offsets.push(Number(response.getHeader("Upload-Offset")));
        },
        onError: reject,
        onSuccess: () => resolve(),
      });
      upload.start();
    });
    expect(proxy.broken()).toBe(2);
    expect(offsets).toHaveLength(3);
    expect(offsets[0]).toBe(0);
    expect(offsets[1]).toBeGreaterThan(0);
    expect(offsets[2]).toBeGreaterThan(offsets[1]!);
    expect(offsets[2]).toBeLessThan(bytes.length);
    expect(calls).toEqual(["HEAD", "HEAD", "HEAD", "PATCH"]);

    const ready = await user.prepared(asset.id);
    expect(ready).toMatchObject({ state: "ready", filename: "noise.wav", duration_seconds: "90" });
    const stored = new Uint8Array(await (await fetch(ready.download_url!)).arrayBuffer());
    expect(Buffer.compare(stored, bytes)).toBe(0);
    const events = await server.query<{ type: string }>("SELECT type FROM events WHERE entity_id = ?", asset.id);
    expect(events).toEqual([{ type: "asset.ready" }]);
  }, 120_000);
});

describe.skipIf(IS_BUNDLED_PASS)("a large upload", () => {
  test(`of ${LARGE_BYTES / MIB} MiB to a signed link, in chunks, takes less than ${MAX_MEGABYTES} MB too`, async () => {
    await using server = await startServer(BUNDLED);
    const user = await server.user();
    const path = join(server.folder, "large");
    const expected = await writeLarge(path);
    const id = await sendToLink(user, Bun.file(path).stream());
    const most = await memoryOf(server.pid(), "VmHWM");
    console.log(`server memory of a PUT: ${Math.round(most)} MB at most`);
    expect(most).toBeLessThan(MAX_MEGABYTES);
    const stored = new Bun.CryptoHasher("sha256");
    for await (const chunk of Bun.file(join(server.data, "media", id, "source")).stream()) stored.update(chunk);
    expect(stored.digest("hex")).toBe(expected);
  }, 600_000);

  test(`of ${LARGE_BYTES / MIB} MiB takes less than ${MAX_MEGABYTES} MB of the server's memory`, async () => {
    await using server = await startServer(BUNDLED);
    const user = await server.user();
    const path = join(server.folder, "large");
    const expected = await writeLarge(path);
    const { id }: Asset = await user.open(LARGE_BYTES);
    const reply = await user.patch(id, 0, Bun.file(path));
    expect([reply.status, reply.headers.get("upload-offset")]).toEqual([204, String(LARGE_BYTES)]);
    const most = await memoryOf(server.pid(), "VmHWM");
    console.log(`server memory: ${Math.round(most)} MB at most`);
    expect(most).toBeLessThan(MAX_MEGABYTES);
    const stored = new Bun.CryptoHasher("sha256");
    for await (const chunk of Bun.file(join(server.data, "media", id, "source")).stream()) stored.update(chunk);
    expect(stored.digest("hex")).toBe(expected);
    expect(await user.prepared(id)).toMatchObject({ state: "failed", error_code: "unsupported_media" });
  }, 600_000);
});

/** Fills a file with noise and returns its SHA-256. */
async function writeLarge(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  await using file = await open(path, "w");
  const block = crypto.getRandomValues(new Uint8Array(65_536));
  const chunk = Buffer.alloc(MIB);
  for (let written = 0; written < LARGE_BYTES; written += MIB) {
    for (let at = 0; at < MIB; at += block.length) chunk.set(block, at);
    chunk.writeUInt32LE(written / MIB, 0);
    hash.update(chunk);
    await file.write(chunk);
  }
  return hash.digest("hex");
}
