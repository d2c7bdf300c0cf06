/** Playback before the preview from damaged files, which a hijacked worker may have sent. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { gzipSync } from "bun";
import { video } from "../http/media";
import { startAttackedServer } from "./attacked-server";

const MAX_PROBE_MS = 1_000;
const RECORD_BYTES = 16;
const MANY = 2 ** 31;
/** More than the memory by which the server may grow. */
const BOMB_MEGABYTES = 1_500;

const TRACKS = ["video", "audio"] as const;
type TrackName = (typeof TRACKS)[number];

/**
 * A reply after damage: an error, a body, MP4 that contains only samples of the recording, or one whose connection is
 * closed before its end.
 */
type Expected = { status: number; code: string } | { status: number; body: Uint8Array | object } | "samples" | "broken";
const DAMAGED: Expected = { status: 500, code: "internal_error" };
const NOT_FOUND: Expected = { status: 404, code: "not_found" };

/** Returns the data of the samples in fragmented MP4. */
function readMediaData(bytes: Uint8Array): Buffer {
  const file = Buffer.from(bytes);
  const data: Buffer[] = [];
  for (let at = 0; at < file.length; at += file.readUInt32BE(at))
    if (file.toString("latin1", at + 4, at + 8) === "mdat")
      data.push(file.subarray(at + 8, at + file.readUInt32BE(at)));
  return Buffer.concat(data);
}

/** Returns the part of the data that does not consist of some of the samples, in their order. */
function findForeignData(data: Buffer, samples: readonly Uint8Array[]): Buffer {
  let rest = data;
  for (const sample of samples) if (rest.subarray(0, sample.length).equals(sample)) rest = rest.subarray(sample.length);
  return rest;
}

async function createGzipBomb(): Promise<Uint8Array> {
  const megabyte = Buffer.alloc(1e6);
  const zeros = Readable.from(Array.from({ length: BOMB_MEGABYTES }, () => megabyte));
  return Buffer.concat(await Array.fromAsync<Buffer>(zeros.pipe(createGzip())));
}

test("files of a hijacked worker expose nothing but the recording, and cost the server nothing", async () => {
  await using server = await startAttackedServer({ PREVIEWS: "never" });
  const [user, stranger] = await Promise.all([server.user(), server.user()]);
  const { id } = await user!.ready(await video(4), { filename: "talk.mp4" });
  const folder = join(server.data, "media", id);
  const toFile = (name: string) => join(folder, name);
  const names = [
    "source.json",
    "source.index",
    "waveform.bin",
    "waveform.json",
    "loudness.steps",
    "transcript-columns.json.gz",
  ] as const;
  const originals = new Map(
    await Promise.all(names.map(async (name) => [name, await Bun.file(toFile(name)).bytes()] as const)),
  );
  const facts = await Bun.file(toFile("source.json")).json();
  const records = Buffer.from(originals.get("source.index")!);
  const source = await Bun.file(toFile("source")).bytes();
  const secret = `secret-${crypto.randomUUID()}`;
  await Bun.write(join(folder, "../../server.key"), secret);

  const toPath = (what: string) => `/api/v1/assets/${id}/${what}`;
  const piece = (track: TrackName, query: string) => toPath(`pieces/${track}?variant=source&${query}`);
  const { waveform_url: waveformUrl } = await user!.must<{ waveform_url: string }>("GET", `/v1/assets/${id}`);
  const requests: Record<string, string> = {
    video: piece("video", "from=0&to=2"),
    // Starts with frames that are encoded, because its keyframe is far before it.
    encoded: piece("video", "from=1.5&to=3.9"),
    sought: piece("video", "from=0&to=4&seek=3.1"),
    audio: piece("audio", "from=0&to=2"),
    end: piece("audio", "from=1.5&to=3.9"),
    media: toPath("media"),
    storyboard: toPath("storyboard"),
    sheet: toPath("storyboard/0"),
    noSheet: toPath("storyboard/9999"),
    waveform: toPath("waveform"),
    envelope: toPath("envelope?points=4"),
    json: waveformUrl,
    loudness: toPath("loudness"),
    compressed: toPath("transcript"),
    transcript: toPath("transcript"),
  };
  const send = (name: string) =>
    fetch(new URL(requests[name]!, server.url()), {
      decompress: false,
      headers: {
        Authorization: `Bearer ${user!.key}`,
        "Accept-Encoding": name === "compressed" ? "gzip" : "identity",
      },
    });
  const read = async (name: string) => {
    const reply = await send(name);
    expect([name, reply.headers.get("set-cookie")]).toEqual([name, null]);
    const body = Buffer.from(await reply.bytes());
    expect([name, body.includes(secret)]).toEqual([name, false]);
    return { status: reply.status, body };
  };
  const intact = new Map<string, { status: number; body: Buffer }>();
  for (const [name, path] of Object.entries(requests)) {
    intact.set(name, await read(name));
    expect([name, intact.get(name)!.status]).toEqual([name, name === "noSheet" ? 404 : 200]);
    if (name !== "json") expect([name, (await stranger!.call("GET", path)).status]).toEqual([name, 404]);
  }
  const media = JSON.parse(intact.get("media")!.body.toString());

  const listRecords = ({ firstRecord, sampleCount }: { firstRecord: number; sampleCount: number }) =>
    Array.from({ length: sampleCount }, (_, n) => (firstRecord + n) * RECORD_BYTES);
  const samples = TRACKS.flatMap((track) => listRecords(facts[track])).map((at) => {
    const [offset, size] = [records.readUInt32BE(at), records.readUInt32BE(at + 12) % 2 ** 31];
    return source.subarray(offset, offset + size);
  });
  const write = (name: (typeof names)[number], content: string | Uint8Array) => Bun.write(toFile(name), content);
  /** Writes a number of 32 bits over each record of the samples, or of the keyframes. */
  const overwrite = (offset: number, value: number, which: "samples" | "keys" = "samples") => {
    const changed = Buffer.from(records);
    const tables = which === "keys" ? [facts.video.keys] : [facts.video, facts.audio];
    for (const at of tables.flatMap(listRecords)) changed.writeUInt32BE(value, at + offset);
    return write("source.index", changed);
  };
  const writeFacts = (changes: object) => write("source.json", JSON.stringify({ ...facts, ...changes }));
  const writeTracks = (changes: object) =>
    writeFacts(Object.fromEntries(TRACKS.map((track) => [track, { ...facts[track], ...changes }])));
  const { storyboard } = facts;

  const noSamples: Record<string, Expected> = { video: DAMAGED, sought: DAMAGED, audio: DAMAGED, end: DAMAGED };
  const noIndex: Record<string, Expected> = { ...noSamples, encoded: DAMAGED };
  const noFacts: Record<string, Expected> = {
    ...{ video: NOT_FOUND, encoded: NOT_FOUND, sought: NOT_FOUND, audio: NOT_FOUND, end: NOT_FOUND },
    ...{ storyboard: NOT_FOUND, sheet: NOT_FOUND, noSheet: NOT_FOUND },
    media: { status: 200, body: { ...media, has_storyboard: false, source: { video: null, audio: null } } },
  };
  const toBody = (body: string | Uint8Array): Expected => ({ status: 200, body: Buffer.from(body) });
  const path = "../../server.key";
  const columns = originals.get("transcript-columns.json.gz")!;
  const halfColumns = columns.subarray(0, columns.length / 2);
  const hugePeaks = Buffer.concat([Buffer.from("OCW1"), Buffer.alloc(8, 0xff), Buffer.from([9])]);
  const hugeLoudness = Buffer.concat([Buffer.from("OCL1"), Buffer.alloc(8, 0xff), Buffer.from([9])]);
  const hostile: [string, () => Promise<unknown>, Record<string, Expected>][] = [
    ["offsets beyond the file", () => overwrite(0, 0xffff_ff00), noSamples],
    ["offsets just before the end", () => overwrite(0, source.length - 1), noSamples],
    ["sizes of gigabytes", () => overwrite(12, 0x7fff_ffff), noSamples],
    [
      "the same time for all",
      () => overwrite(8, 0),
      { video: "samples", encoded: "samples", sought: "samples", audio: "samples", end: "samples" },
    ],
    [
      "keyframes beyond the samples",
      () => overwrite(0, MANY, "keys"),
      { video: "samples", encoded: "samples", sought: "samples" },
    ],
    ["an empty index", () => write("source.index", ""), noIndex],
    ["more samples than the index has", () => writeTracks({ sampleCount: MANY }), noIndex],
    ["records far beyond the index", () => writeTracks({ firstRecord: MANY }), noIndex],
    [
      "keyframes far beyond the index",
      () => writeTracks({ keys: { firstRecord: MANY, sampleCount: MANY } }),
      { video: DAMAGED, encoded: DAMAGED, sought: DAMAGED },
    ],
    [
      "a type with a line break",
      () => writeTracks({ mimeType: 'video/mp4; codecs="avc1"\r\nSet-Cookie: a=b' }),
      noFacts,
    ],
    ["a description of megabytes", () => writeTracks({ sampleEntry: "A".repeat(5_000_000) }), noFacts],
    ["no clock", () => writeTracks({ timescale: 0 }), noFacts],
    ["many sheets", () => writeFacts({ storyboard: { ...storyboard, sheets: MANY, count: MANY } }), noFacts],
    ["pictures without a size", () => writeFacts({ storyboard: { ...storyboard, width: 0, columns: -1 } }), noFacts],
    ["a storyboard that is a path", () => writeFacts({ storyboard: path }), noFacts],
    ["no peaks", () => write("waveform.bin", ""), { waveform: toBody(""), envelope: toBody(Buffer.alloc(4)) }],
    [
      "more peaks than the file has",
      () => write("waveform.bin", hugePeaks),
      { waveform: toBody(hugePeaks), envelope: toBody(Buffer.alloc(4, 9)) },
    ],
    ["no loudness", () => write("loudness.steps", ""), { loudness: toBody("") }],
    [
      "more loudness than the file has",
      () => write("loudness.steps", hugeLoudness),
      { loudness: toBody(hugeLoudness) },
    ],
    ["a loudness that is a path", () => write("loudness.steps", path), { loudness: toBody(path) }],
    ["a waveform that is a path", () => write("waveform.json", path), { json: toBody(path) }],
    [
      "columns that are a path",
      () => write("transcript-columns.json.gz", path),
      { compressed: toBody(path), transcript: "broken" },
    ],
    ["no columns", () => write("transcript-columns.json.gz", ""), { compressed: toBody(""), transcript: "broken" }],
    [
      "half of the columns",
      () => write("transcript-columns.json.gz", halfColumns),
      { compressed: toBody(halfColumns), transcript: "broken" },
    ],
    [
      "columns that are a number",
      () => write("transcript-columns.json.gz", gzipSync("7")),
      { compressed: toBody(gzipSync("7")), transcript: toBody("7") },
    ],
  ];
  for (const [damage, apply, changed] of hostile) {
    await Promise.all([...originals].map(([name, content]) => write(name, content)));
    await apply();
    for (const name of Object.keys(requests)) {
      const wanted = changed[name] ?? intact.get(name)!;
      if (wanted === "broken") {
        // The status has been sent when the damage is found.
        await expect(read(name)).rejects.toThrow("closed unexpectedly");
        continue;
      }
      const { status, body } = await read(name);
      expect([damage, name, status]).toEqual([damage, name, wanted === "samples" ? 200 : wanted.status]);
      if (wanted === "samples")
        expect([damage, name, findForeignData(readMediaData(body), samples)]).toEqual([damage, name, Buffer.alloc(0)]);
      else if ("code" in wanted) expect(JSON.parse(body.toString()).code).toBe(wanted.code);
      else if (wanted.body instanceof Uint8Array)
        expect([damage, name, body.equals(wanted.body)]).toEqual([damage, name, true]);
      else expect(JSON.parse(body.toString())).toEqual(wanted.body);
    }
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  }

  await write("transcript-columns.json.gz", await createGzipBomb());
  let bytes = 0;
  for await (const chunk of (await send("transcript")).body!) bytes += chunk.length;
  expect(bytes).toBe(BOMB_MEGABYTES * 1e6);
  server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
}, 120_000);
