/** Playback before the preview from damaged indexes. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { video } from "../http/media";
import { startAttackedServer } from "./attacked-server";

const MAX_PROBE_MS = 1_000;
const RECORD_BYTES = 16;
const MANY = 2 ** 31;

const TRACKS = ["video", "audio"] as const;

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
  const toPath = (what: string) => `/api/v1/assets/${id}/${what}`;
  const piece = (track: string, query: string) => toPath(`pieces/${track}?variant=source&${query}`);
  const files = ["media", "storyboard", "storyboard/0", "waveform", "transcript"].map(toPath);
  for (const path of [...TRACKS.map((track) => piece(track, "from=0&to=2")), ...files]) {
    expect([path, (await user!.call("GET", path)).status]).toEqual([path, 200]);
    expect([path, (await stranger!.call("GET", path)).status]).toEqual([path, 404]);
  }

  /** Writes numbers of 32 bits over each record. */
  const overwrite = async (numbers: Record<number, number>) => {
    const changed = Buffer.from(records);
    for (let at = 0; at + RECORD_BYTES <= changed.length; at += RECORD_BYTES)
      for (const [offset, value] of Object.entries(numbers)) changed.writeUInt32BE(value, at + Number(offset));
    await Bun.write(index, changed);
  };
  const write = (changes: object) => Bun.write(facts, JSON.stringify({ ...original, ...changes }));
  const writeTrack = (changes: object) =>
    write(Object.fromEntries(TRACKS.map((track) => [track, { ...original[track], ...changes }])));
  const { storyboard } = original;
  const hostile: [string, () => Promise<unknown>][] = [
    ["offsets beyond the file", () => overwrite({ 0: 0xffff_ff00 })],
    ["sizes of gigabytes", () => overwrite({ 12: 0x7fff_ffff })],
    ["the same time for all", () => overwrite({ 8: 0 })],
    ["an empty index", () => Bun.write(index, "")],
    ["more samples than the index has", () => writeTrack({ sampleCount: MANY })],
    ["records far beyond the index", () => writeTrack({ firstRecord: MANY })],
    ["keyframes far beyond the index", () => writeTrack({ keys: { firstRecord: MANY, sampleCount: MANY } })],
    ["a type with a line break", () => writeTrack({ mimeType: 'video/mp4; codecs="avc1"\r\nSet-Cookie: a=b' })],
    ["a description of megabytes", () => writeTrack({ sampleEntry: "A".repeat(5_000_000) })],
    ["no clock", () => writeTrack({ timescale: 0 })],
    ["more sheets than a storyboard has", () => write({ storyboard: { ...storyboard, sheets: MANY, count: MANY } })],
    ["pictures without a size", () => write({ storyboard: { ...storyboard, width: 0, columns: -1 } })],
    ["a storyboard of text", () => write({ storyboard: "../../server.key" })],
  ];
  for (const [name, damage] of hostile) {
    await Promise.all([Bun.write(facts, JSON.stringify(original)), Bun.write(index, records)]);
    await damage();
    const queries = ["from=0&to=2", "from=1.5&to=3.9", "from=0&to=4&seek=3.1"];
    const pieces = TRACKS.flatMap((track) => queries.map((query) => piece(track, query)));
    for (const path of [...pieces, ...files, toPath("storyboard/9999")]) {
      const { status, headers } = await user!.call("GET", path);
      expect([name, path, status === 200 || REFUSED.includes(status)]).toEqual([name, path, true]);
      expect([name, path, headers.get("set-cookie")]).toEqual([name, path, null]);
    }
  }
  server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
}, 120_000);
