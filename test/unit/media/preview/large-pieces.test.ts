/** Pieces of previews with very large frames, such as those of noise. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAudioPiece, createVideoPiece } from "../../../../src/media/preview/piece";
import { readParts } from "../../../../src/media/preview/read-parts";
import { RECORD_BYTES, writeRecord } from "../../../../src/media/preview/samples";
import { readPiece } from "./fragments";

const folder = await mkdtemp(join(tmpdir(), "offcut-large-pieces-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const COUNT = 20;
const FRAME_BYTES = 4 * 1024 ** 2;
const TIMESCALE = 90_000;
const TRACK = {
  mimeType: "",
  timescale: TIMESCALE,
  sampleEntry: Buffer.alloc(128).toString("base64"),
  firstRecord: 0,
  sampleCount: COUNT,
};

test.each([
  ["video", FRAME_BYTES],
  ["audio between the frames", 400],
])("a piece of %s is read in chunks of a few megabytes", async (kind, bytes) => {
  const [preview, index] = [join(folder, "preview.mp4"), join(folder, "index")];
  await Bun.write(preview, "");
  await truncate(preview, COUNT * FRAME_BYTES);
  const records = new DataView(new ArrayBuffer(COUNT * RECORD_BYTES));
  for (let n = 0; n < COUNT; n++)
    writeRecord(records, n * RECORD_BYTES, { offset: n * FRAME_BYTES, size: bytes, time: n * TIMESCALE, isKey: true });
  await Bun.write(index, records.buffer);
  const request = { media: preview, index, track: TRACK, from: 0, to: COUNT };
  const parts = await (kind === "video"
    ? createVideoPiece(request, () => Promise.reject(new Error("nothing is encoded")))
    : createAudioPiece(request));
  const chunks = await Array.fromAsync(readParts(preview, parts));
  expect(readPiece(Buffer.concat(chunks)).samples.map((sample) => sample.bytes)).toEqual(Array(COUNT).fill(bytes));
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(1.1 * FRAME_BYTES);
});
