/**
 * Files whose tables and boxes claim more than they hold: they fail permanently and immediately, and cost the server
 * nothing.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EXECUTABLE } from "../e2e/offcut";
import type { Client } from "../http/client";
import { makeMedia, silentVideo } from "../http/media";
import { patchMp4 } from "../unit/media/mp4-patch";
import { until } from "../until";
import { type AttackedServer, startAttackedServer } from "./attacked-server";

let server: AttackedServer;
let user: Client;
beforeAll(async () => {
  server = await startAttackedServer({}, "system");
  user = await server.user();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const PATIENCE_MS = 90_000;
const MAX_PROBE_MS = 1_000;
const MANY = 0xffff_ffff;

const TABLES = ["moov", "trak", "mdia", "minf", "stbl"];

/** The body of a box with numbers of 32 bits written over it; `length` also sets how long it is. */
const overwritten = (numbers: Record<number, number>, length?: number) => (body: Uint8Array) => {
  const changed = Buffer.alloc(length ?? body.length);
  changed.set(body.subarray(0, changed.length));
  for (const [at, value] of Object.entries(numbers)) changed.writeUInt32BE(value, Number(at));
  return changed;
};

const fragmented = () =>
  makeMedia(
    "fragmented.mp4",
    ...["-f", "lavfi", "-t", "2", "-i", "testsrc=size=320x240:rate=10", "-c:v", "libx264", "-pix_fmt", "yuv420p"],
    ...["-movflags", "frag_keyframe+empty_moov"],
  );

/** With the length of its description set to almost 2 GB, and the file to about as much without taking room. */
async function longMovie(): Promise<Uint8Array> {
  const file = Buffer.from(await silentVideo());
  file.writeUInt32BE(0x7fff_fff0, file.lastIndexOf(Buffer.from("moov")) - 4);
  return file;
}

/** `id` and the size that follows it in eight bytes, as ffmpeg writes those of master elements. */
async function longElement(id: string): Promise<Uint8Array> {
  const file = Buffer.from(
    await makeMedia(
      "video.mkv",
      ...["-f", "lavfi", "-t", "2", "-i", "testsrc=size=320x240:rate=10", "-c:v", "libx264", "-pix_fmt", "yuv420p"],
    ),
  );
  const at = file.indexOf(Buffer.from(id, "hex"));
  const length = file.readUInt8(at + id.length / 2) === 1 ? 8 : 1;
  if (length === 8) file.writeBigUInt64BE(0x0100_0000_7fff_ffffn, at + id.length / 2);
  else file.writeUInt8(0xfe, at + id.length / 2);
  return file;
}

const patched = async (box: string, numbers: Record<number, number>, length?: number) =>
  patchMp4(await silentVideo(), [...TABLES, box], overwritten(numbers, length));

/** A table of 30 KB that claims the maximum number of entries. */
const hugeTable = () => patched("stts", { 4: MANY, 8: 1, 12: 1024 }, 30_000);

test(
  "tables that claim more than they hold fail the asset as corrupt_media at the first attempt",
  async () => {
    const hostile: Record<string, Uint8Array> = {
      stts: await hugeTable(),
      "stts, one entry": await patched("stts", { 4: 1, 8: MANY }),
      stsc: await patched("stsc", { 4: MANY }),
      stsz: await patched("stsz", { 4: 0, 8: MANY }),
      stco: await patched("stco", { 4: MANY }),
      trun: patchMp4(await fragmented(), ["moof", "traf", "trun"], overwritten({ 4: MANY })),
      "trun without fields": patchMp4(await fragmented(), ["moof", "traf", "trun"], overwritten({ 0: 0, 4: MANY })),
      moov: await longMovie(),
    };
    const failed = await Promise.all(
      Object.entries(hostile).map(async ([name, bytes]) => {
        const { state, error_code } = await user.prepared(await user.upload(bytes));
        return [name, state, error_code];
      }),
    );
    expect(failed).toEqual(Object.keys(hostile).map((name) => [name, "failed", "corrupt_media"]));
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  PATIENCE_MS,
);

test(
  "elements of Matroska that claim more than the file contains do no harm",
  async () => {
    const assets = await Promise.all(
      // Tracks, Cues, a cluster, the segment itself.
      ["1654ae6b", "1c53bb6b", "1f43b675", "18538067"].map(async (id) =>
        user.prepared(await user.upload(await longElement(id))),
      ),
    );
    for (const { state } of assets) expect(["ready", "failed"]).toContain(state);
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  PATIENCE_MS,
);

test(
  "a source that an older version has let in is rendered, or fails, without harm",
  async () => {
    const { id } = await user.ready(await silentVideo());
    await writeFile(join(server.data, "media", id, "source"), await hugeTable());
    await user.startRender({ asset_id: id, output: {} });
    // It is tried again, later: one attempt says enough.
    await until("the end of an attempt", () => server.log().some((line) => line.name === "render"), 60);
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  PATIENCE_MS,
);

test(
  "a file that names others, or that needs a decoder of no recording, is refused",
  async () => {
    const text = (content: string) => new TextEncoder().encode(content.padEnd(2_000, "\n"));
    const video = ["-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2"];
    const files = {
      concat: text(`ffconcat version 1.0\nfile '${EXECUTABLE}'\n`),
      playlist: text(`#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://${server.data}/offcut.db\n#EXT-X-ENDLIST\n`),
      session: text("v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n"),
      cinepak: await makeMedia("cinepak.avi", ...video, "-c:v", "cinepak"),
    };
    const refused = await Promise.all(
      Object.entries(files).map(async ([name, bytes]) => {
        const { state, error_code } = await user.prepared(await user.upload(bytes, { filename: `${name}.mp4` }));
        return [name, state, error_code];
      }),
    );
    expect(refused).toEqual(Object.keys(files).map((name) => [name, "failed", "unsupported_media"]));
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  PATIENCE_MS,
);

// From here on the server is stopped, killed and started again.
test(
  "no preparation of these files was tried twice",
  async () => {
    const steps = await server.query<{ failures: number }>(
      "SELECT failures FROM steps WHERE processor_name = 'prepare'",
    );
    expect(steps.length).toBeGreaterThan(16);
    expect(steps.map(({ failures }) => failures)).toEqual(steps.map(() => 0));
  },
  PATIENCE_MS,
);

test(
  "a server that is killed meanwhile and started again is not harmed then either",
  async () => {
    await server.start();
    const id = await user.upload(await hugeTable());
    await server.kill();
    await server.start();
    expect(await user.prepared(id)).toMatchObject({ state: "failed", error_code: "corrupt_media" });
  },
  PATIENCE_MS,
);
