/** Playback before the preview from damaged indexes. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { video } from "../http/media";
import { startAttackedServer } from "./attacked-server";

const MAX_PROBE_MS = 1_000;
const RECORD_BYTES = 16;
const MANY = 2 ** 31;

const piece = (id: string, query: string) => `/api/v1/assets/${id}/pieces/video?variant=source&${query}`;

/** Statuses of a damaged recording. None of them is the end of the server. */
const REFUSED = [404, 409, 422, 500, 502, 503];

test("an index of a hijacked worker reads nothing outside of the recording, and costs the server nothing", async () => {
  await using server = await startAttackedServer({ PREVIEWS: "never" });
  const [user, stranger] = await Promise.all([server.user(), server.user()]);
  const { id } = await user!.ready(await video(4), { filename: "talk.mp4" });
  const folder = join(server.data, "media", id);
  const [facts, index] = [join(folder, "source.json"), join(folder, "source.index")];
  const original = await Bun.file(facts).json();
  const records = await Bun.file(index).bytes();
  expect((await user!.call("GET", piece(id, "from=0&to=2"))).status).toBe(200);
  expect((await stranger!.call("GET", piece(id, "from=0&to=2"))).status).toBe(404);

  /** Writes numbers of 32 bits over each record. */
  const overwrite = async (numbers: Record<number, number>) => {
    const changed = Buffer.from(records);
    for (let at = 0; at + RECORD_BYTES <= changed.length; at += RECORD_BYTES)
      for (const [offset, value] of Object.entries(numbers)) changed.writeUInt32BE(value, at + Number(offset));
    await Bun.write(index, changed);
  };
  const { video: track } = original;
  const hostile: [string, () => Promise<unknown>][] = [
    ["offsets beyond the file", () => overwrite({ 0: 0xffff_ff00 })],
    ["sizes of gigabytes", () => overwrite({ 12: 0x7fff_ffff })],
    ["the same time for all", () => overwrite({ 8: 0 })],
    ["an empty index", () => Bun.write(index, "")],
    ["more samples than the index has", () => write({ ...track, sampleCount: MANY })],
    ["records far beyond the index", () => write({ ...track, firstRecord: MANY })],
    ["keyframes far beyond the index", () => write({ ...track, keys: { firstRecord: MANY, sampleCount: MANY } })],
    ["a type with a line break", () => write({ ...track, mimeType: 'video/mp4; codecs="avc1"\r\nSet-Cookie: a=b' })],
    ["a description of megabytes", () => write({ ...track, sampleEntry: "A".repeat(5_000_000) })],
    ["no clock", () => write({ ...track, timescale: 0 })],
  ];
  const write = (video: unknown) => Bun.write(facts, JSON.stringify({ ...original, video }));
  for (const [name, damage] of hostile) {
    await Promise.all([Bun.write(facts, JSON.stringify(original)), Bun.write(index, records)]);
    await damage();
    for (const query of ["from=0&to=2", "from=1.5&to=3.9", "from=0&to=4&seek=3.1"]) {
      const { status, headers } = await user!.call("GET", piece(id, query));
      expect([name, query, status === 200 || REFUSED.includes(status)]).toEqual([name, query, true]);
      expect([name, headers.get("set-cookie")]).toEqual([name, null]);
    }
  }
  server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
}, 120_000);
