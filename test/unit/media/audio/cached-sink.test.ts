import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AudioProcessing } from "../../../../src/domain/media";
import type { Ffmpeg } from "../../../../src/media/ffmpeg";
import { renderAudio } from "../../../../src/media/leveled-audio";
import { openRenderCache } from "../../../../src/media/render-cache/cache-file";
import { formatSplice, parseSplice } from "../../../../src/media/render-cache/splice-entries";
import { fullOr } from "../../../full-size";
import { bundledFfmpeg, generate, runTool, systemFfmpeg } from "../generated-media";
import { runFfprobe } from "../readback";
import { probeFile, toSnappedSegments, withRender } from "../rendering";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-cached-audio-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const cachePath = join(folder, "render.cache");
beforeEach(() => rm(cachePath, { force: true }));

const RATE = 48_000;
const ENTRY_PACKETS = 2_816;
const MAX_BYTES = 64 * 1024 ** 2;

type Kind = "mono" | "dual mono" | "stereo";
type Cut = readonly (readonly [number, number])[];
/** Has two entries, which end after 60.8 and 120.8 s. What follows the first one is long enough for chunks. */
const LONG: Cut = [
  [1, 60],
  [61, 154],
];
/** The edit is in the second entry. */
const EDITED: Cut = [
  [1, 60],
  [61, 100],
  [100.7, 154],
];
/** Has one entry. */
const SHORT: Cut = [[1, 67]];
const PACKETS_OF_SHORT = Math.ceil((66 * RATE) / 1_024) + 1;

const sources = {} as Record<Kind, string>;
beforeAll(async () => {
  // Clicks make both encoders use short windows.
  const voice =
    "0.3*sin(2*PI*(180+40*sin(t))*t)*abs(sin(5*t))+0.02*random(0)+0.3*lt(mod(t\\,0.7)\\,0.01)*(random(1)-0.5)";
  const other = "0.2*sin(2*PI*500*t)+0.05*random(2)";
  const create = (name: string, expressions: string, pan: string) =>
    generate(
      `${name}.wav`,
      ...["-f", "lavfi", "-i", `aevalsrc=exprs='${expressions}':s=${RATE}:d=155`, "-af", pan, "-c:a", "pcm_s16le"],
    );
  sources.mono = await create("cached-mono", voice, "anull");
  sources["dual mono"] = await create("cached-dual", voice, "pan=stereo|c0=c0|c1=c0");
  sources.stereo = await create("cached-stereo", `${voice}|${other}`, "anull");
});

type RenderOptions = {
  hasCache?: boolean;
  maxBytes?: number;
  maxEncoders?: number;
  ffmpeg?: Ffmpeg;
  processing?: AudioProcessing;
};

/** Renders a cut, and replaces the cache. `hits`: the number of entries that were used. */
async function render(kind: Kind, cut: Cut, options: RenderOptions = {}) {
  const { hasCache = true, maxBytes = MAX_BYTES, maxEncoders = 1, ffmpeg = bundledFfmpeg, processing = {} } = options;
  const outputPath = join(folder, `${Math.random()}.mp4`);
  const workDir = await mkdtemp(join(folder, "work-"));
  const newPath = join(folder, "new");
  const cache = hasCache ? await openRenderCache({ path: cachePath, newPath, maxBytes }) : undefined;
  let out = 0;
  const segments = cut.map(([from, to]) => {
    const segment = { start: from * 1e6, end: to * 1e6, outputStart: out * 1e6, outputEnd: (out + to - from) * 1e6 };
    out += to - from;
    return segment;
  });
  const path = sources[kind];
  const given = { format: "mp4" as const, bitrate: 128_000, outputPath, workDir, segments, maxEncoders, processing };
  await renderAudio({ ffmpeg, path, probed: await probeFile(path), cache, ...given });
  expect(await readdir(workDir)).toEqual([]);
  const hits = cache?.hits() ?? 0;
  const isSaved = (await cache?.save()) ?? false;
  await cache?.close();
  if (isSaved) await rename(newPath, cachePath);
  return { path: outputPath, hits, isSaved, channels: kind === "mono" ? 1 : 2, seconds: out };
}

type RenderedCut = Awaited<ReturnType<typeof render>>;

const readForm = async ({ path }: RenderedCut) =>
  (await runFfprobe(path, "-show_entries", "stream=start_pts,duration_ts,nb_frames,channels")).trim();

/** Reads exactly the interleaved samples of the cut. */
async function readAll({ path, seconds, channels }: RenderedCut): Promise<Float32Array> {
  const cut = ["-af", `atrim=end_sample=${Math.round(seconds * RATE)}`];
  const bytes = await runTool([systemFfmpeg.path, "-v", "error", "-i", path, ...cut, "-f", "f32le", "pipe:1"]);
  const samples = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  expect(samples.length).toBe(Math.round(seconds * RATE) * channels);
  return samples;
}

const findDifference = (one: Float32Array, other: Float32Array): number =>
  one.findIndex((value, n) => value !== other[n]);

/** Expects the same form, the same samples before a packet, and about the same ones after it, none of them moved. */
async function expectSameFrom(packet: number, cached: RenderedCut, whole: RenderedCut): Promise<void> {
  expect(await readForm(cached)).toBe(await readForm(whole));
  const [one, other] = [await readAll(cached), await readAll(whole)];
  const { channels } = cached;
  const first = findDifference(one, other);
  if (first !== -1) expect(first).toBeGreaterThanOrEqual((packet - 1) * 1_024 * channels);
  const correlate = (from: number, to: number, lag: number) => {
    let [sum, power] = [0, 0];
    for (let n = from; n < to; n++) {
      sum += one[n + lag * channels]! * other[n]!;
      power += other[n]! ** 2;
    }
    return sum / power;
  };
  for (let second = Math.floor(packet / 46.875); second < cached.seconds - 1; second++) {
    const [from, to] = [second * RATE * channels, (second + 1) * RATE * channels];
    let [noise, power] = [0, 0];
    for (let n = from; n < to; n++) {
      noise += (one[n]! - other[n]!) ** 2;
      power += other[n]! ** 2;
    }
    // Two encoders choose other quantizers, each of which is about as far from the source.
    expect(10 * Math.log10(noise / power)).toBeLessThan(-20);
    const exact = correlate(from, to - 2 * channels, 0);
    for (const lag of [-1, 1]) expect(correlate(from + channels, to - 2 * channels, lag)).toBeLessThan(exact);
  }
}

describe("audio with the cache of an earlier render", () => {
  const cases: [Kind, Ffmpeg, number][] = [
    ["mono", bundledFfmpeg, 1],
    ["dual mono", bundledFfmpeg, 1],
    ["stereo", bundledFfmpeg, 1],
    ...fullOr<[Kind, Ffmpeg, number][]>(
      [
        ["mono", systemFfmpeg, 3],
        ["dual mono", systemFfmpeg, 1],
        ["stereo", bundledFfmpeg, 3],
      ],
      [],
    ),
    ["dual mono", systemFfmpeg, 3],
  ];
  test.each(cases)("is encoded from the last entry before an edit: %s", async (kind, ffmpeg, maxEncoders) => {
    const options = { ffmpeg, maxEncoders };
    const whole = await render(kind, LONG, { ...options, hasCache: false });
    const first = await render(kind, LONG, options);
    expect(first.hits).toBe(0);
    expect(await readForm(first)).toBe(await readForm(whole));
    expect(findDifference(await readAll(first), await readAll(whole))).toBe(-1);

    const edited = await render(kind, EDITED, options);
    expect(edited.hits).toBe(1);
    // The edit moves the borders of chunks, so that another render without the cache differs everywhere.
    const basis = maxEncoders === 1 ? await render(kind, EDITED, { ...options, hasCache: false }) : edited;
    await expectSameFrom(ENTRY_PACKETS, edited, basis);
    const again = await render(kind, EDITED, options);
    expect(again.hits).toBe(2);
    await expectSameFrom(2 * ENTRY_PACKETS, again, edited);
    const undone = await render(kind, LONG, options);
    expect(undone.hits).toBe(2);
    await expectSameFrom(2 * ENTRY_PACKETS, undone, whole);
  });

  test("is encoded as a whole after an edit at the start", async () => {
    await render("dual mono", SHORT);
    const moved: Cut = [[1.5, 67.5]];
    const edited = await render("dual mono", moved);
    expect(edited.hits).toBe(0);
    const whole = await render("dual mono", moved, { hasCache: false });
    expect(findDifference(await readAll(edited), await readAll(whole))).toBe(-1);
    expect((await render("dual mono", moved)).hits).toBe(1);
  });

  test("ignores and replaces entries that are damaged, truncated, missing or of another build", async () => {
    const whole = await readAll(await render("dual mono", SHORT));
    const good = await Bun.file(cachePath).bytes();
    const damaged = good.slice();
    damaged[5_000] = damaged[5_000]! ^ 0xff;
    const otherFormat = good.slice();
    otherFormat[7] = otherFormat[7]! ^ 0xff;
    for (const bytes of [damaged, good.subarray(0, good.length - 1), otherFormat, null]) {
      if (bytes === null) await rm(cachePath);
      else await Bun.write(cachePath, bytes);
      const replaced = await render("dual mono", SHORT);
      expect(replaced.hits).toBe(0);
      expect(findDifference(await readAll(replaced), whole)).toBe(-1);
      expect((await render("dual mono", SHORT)).hits).toBe(1);
    }
    const otherBuild = { ...bundledFfmpeg, version: "another" };
    expect((await render("dual mono", SHORT, { ffmpeg: otherBuild })).hits).toBe(0);
    expect((await render("dual mono", SHORT)).hits).toBe(1);
  });

  test("is encoded as a whole when an entry has other packets, although it is not damaged", async () => {
    await render("dual mono", SHORT);
    const bytes = await Bun.file(cachePath).bytes();
    const indexBytes = new DataView(bytes.buffer).getUint32(bytes.length - 28);
    const index = new TextDecoder().decode(bytes.subarray(bytes.length - 28 - indexBytes, bytes.length - 28));
    const [{ key, at, bytes: length }] = JSON.parse(index);
    const { packets } = parseSplice(bytes.slice(at, at + length), ENTRY_PACKETS + 32)!;
    const forge = async (forged: typeof packets) => {
      const newPath = join(folder, "forged");
      const cache = await openRenderCache({ path: null, newPath, maxBytes: MAX_BYTES });
      await cache.add(key, formatSplice({ description: new Uint8Array(0), packets: forged }));
      await cache.save();
      await cache.close();
      await rename(newPath, cachePath);
    };
    await forge(packets.slice(0, -1));
    const whole = await render("dual mono", SHORT, { hasCache: false });
    const replaced = await render("dual mono", SHORT);
    expect(replaced.isSaved).toBe(true);
    expect(findDifference(await readAll(replaced), await readAll(whole))).toBe(-1);
    // Without a window, there is no join.
    await forge(packets.map((packet) => ({ ...packet, data: new Uint8Array(100).fill(0xff) })));
    expect(await readForm(await render("dual mono", SHORT))).toBe(await readForm(whole));
    expect(await readForm(whole)).toContain(String(PACKETS_OF_SHORT));
  });

  test("keeps the cache within its bound", async () => {
    await render("dual mono", LONG);
    const entryBytes = Bun.file(cachePath).size / 2;
    await rm(cachePath);
    const maxBytes = Math.ceil(1.5 * entryBytes);
    await render("dual mono", LONG, { maxBytes });
    expect(Bun.file(cachePath).size).toBeLessThanOrEqual(maxBytes);
    expect((await render("dual mono", LONG, { maxBytes })).hits).toBe(1);
    // Those of the last render stay.
    const ffmpeg = { ...bundledFfmpeg, version: "another" };
    for (const hits of [0, 1]) {
      expect((await render("dual mono", SHORT, { maxBytes, ffmpeg })).hits).toBe(hits);
      expect(Bun.file(cachePath).size).toBeLessThanOrEqual(maxBytes);
    }
  });

  test.each<[string, AudioProcessing]>([
    ["its level is changed", { loudness: -23 }],
    ["its samples were kept in a file, whose blocks are others", { noiseReduction: "light", levelSpeakers: true }],
  ])("is neither read nor added when %s", async (_, processing) => {
    await render("dual mono", SHORT);
    const { hits, isSaved } = await render("dual mono", SHORT, { processing });
    expect([hits, isSaved]).toEqual([0, false]);
  });
});

test("the audio of a smart render comes from the cache", async () => {
  const path = await generate(
    "cached-video.mp4",
    ...["-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=72", "-i", sources.stereo, "-map", "0:v", "-map", "1:a"],
    ...["-t", "72", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-bf", "0", "-c:a", "aac"],
  );
  const probed = await probeFile(path);
  // Only whole groups of pictures, so that no frame is encoded.
  const segments = toSnappedSegments(probed, [[0, 66]]);
  const newPath = join(folder, "new");
  for (const hits of [0, 1]) {
    const cache = await openRenderCache({ path: cachePath, newPath, maxBytes: MAX_BYTES });
    await withRender({ path, probed, segments, cache }, async ({ result }) => {
      expect([result.strategy, result.usesCache, cache.hits()]).toEqual(["smart", hits > 0, hits]);
    });
    await cache.close();
    if (await Bun.file(newPath).exists()) await rename(newPath, cachePath);
  }
});
