import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TICKS_PER_SECOND } from "../../../../src/domain/time";
import { openRenderCache } from "../../../../src/media/render-cache/cache-file";
import { parseSplice } from "../../../../src/media/render-cache/splice-entries";
import { fullOr, isFullSize } from "../../../full-size";
import { bundledFfmpeg, systemFfmpeg } from "../generated-media";
import { readSamples } from "../readback";
import { expectExactVideo, expectSync, probeFile, sourceNumbers, toSnappedSegments, withRender } from "../rendering";
import { SOURCES } from "../sources";

setDefaultTimeout(120_000);

type Plan = readonly (readonly [number, number])[];
type Event = { event: string; cached_frames?: number; encoded_frames?: number };

const PLAN: Plan = [
  [0.5, 3.1],
  [3.7, 6.3],
  [7.1, 11.5],
];
/** One of its five edges inside the recording is another one. */
const EDITED: Plan = [
  [0.5, 3.1],
  [3.7, 5.6],
  [7.1, 11.5],
];
const MAX_BYTES = 64 * 1024 ** 2;

let folder = "";
let cachePath = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "offcut-render-cache-"));
  cachePath = join(folder, "render.cache");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Renders with the cache, expects the exact frames and audio, and replaces the cache. Returns the events. */
async function renderExactly(name: string, plan: Plan, ffmpeg = bundledFfmpeg) {
  const source = SOURCES.find((source) => source.name === name)!;
  const path = await source.path();
  const rotation = source.rotation ?? 0;
  const probed = await probeFile(path, ffmpeg);
  const segments = toSnappedSegments(probed, plan);
  const events: Event[] = [];
  const newPath = join(folder, "new");
  const cache = await openRenderCache({ path: cachePath, newPath, maxBytes: MAX_BYTES });
  const log = (event: string, fields: object) => events.push({ event, ...fields });
  try {
    await withRender({ path, probed, segments, ffmpeg, log, cache }, async (rendered) => {
      // The reasons and the events say why it is another one.
      const { strategy, reasons } = rendered.result;
      if (!isFullSize) expect({ strategy, reasons, events }).toEqual({ strategy: "smart", reasons: [], events });
      await expectExactVideo({ ...rendered, segments }, await sourceNumbers(path, rotation), rotation);
      if (source.silent) return;
      const start = probed.info.startPts / TICKS_PER_SECOND;
      await expectSync({ ...rendered, segments }, await readSamples(path, start));
    });
  } finally {
    // Its files would otherwise be closed during another test, which fails then.
    await cache.close();
  }
  if (await Bun.file(newPath).exists()) await rename(newPath, cachePath);
  return events;
}

/** Returns the numbers of frames that the last attempt took from the cache and had to encode. */
function countFrames(events: readonly Event[]) {
  const last = events.findLast(({ event }) => event === "render.segments_encoded");
  return { cached: last?.cached_frames ?? 0, missing: (last?.encoded_frames ?? 0) - (last?.cached_frames ?? 0) };
}

const B_FRAMES = "mp4, 30, B-frames";
const CACHED = fullOr(
  SOURCES.map(({ name }) => name),
  [B_FRAMES, "mp4, variable rate", "hevc in mp4"],
);

describe("a render with the cache of an earlier one", () => {
  test.each(CACHED)("encodes new segments: %s", async (name) => {
    const isShort = ([, end]: Plan[number]) => end < 8;
    const plan = PLAN.filter(isShort);
    const first = countFrames(await renderExactly(name, plan));
    expect(first.cached).toBe(0);
    const again = countFrames(await renderExactly(name, plan));
    expect(again).toEqual({ cached: first.missing, missing: 0 });
    const edited = countFrames(await renderExactly(name, EDITED.filter(isShort)));
    // Some of all sources are not spliced, or have a keyframe at the edited edge. They must be exact all the same.
    if (isFullSize) return;
    expect(first.missing).toBeGreaterThan(0);
    expect(edited.missing).toBeGreaterThan(0);
    expect(edited.cached).toBeGreaterThan(0);
  });

  test("encodes everything again with another ffmpeg", async () => {
    await renderExactly(B_FRAMES, PLAN, bundledFfmpeg);
    expect(countFrames(await renderExactly(B_FRAMES, PLAN, systemFfmpeg)).cached).toBe(0);
    // The earlier entries are still there.
    expect(countFrames(await renderExactly(B_FRAMES, PLAN, bundledFfmpeg)).missing).toBe(0);
  });

  test("ignores what is damaged, truncated, missing or of another build", async () => {
    await renderExactly(B_FRAMES, PLAN);
    const good = await Bun.file(cachePath).bytes();
    const damagedEntry = good.slice();
    damagedEntry[100] = damagedEntry[100]! ^ 0xff;
    const otherFormat = good.slice();
    otherFormat[7] = otherFormat[7]! ^ 0xff;
    const cases: [Uint8Array | null, boolean][] = [
      [damagedEntry, true],
      [good.subarray(0, good.length - 1), false],
      [otherFormat, false],
      [null, false],
    ];
    for (const [bytes, isPartial] of cases) {
      if (bytes === null) await rm(cachePath);
      else await Bun.write(cachePath, bytes);
      const { cached, missing } = countFrames(await renderExactly(B_FRAMES, PLAN));
      expect([cached > 0, missing > 0]).toEqual([isPartial, true]);
    }
    expect(countFrames(await renderExactly(B_FRAMES, PLAN)).missing).toBe(0);
  });

  test("drops entries that do not decode, although they are not damaged", async () => {
    await renderExactly(B_FRAMES, PLAN);
    const index = await readEntries();
    const newPath = join(folder, "forged");
    const forged = await openRenderCache({ path: null, newPath, maxBytes: MAX_BYTES });
    const bytes = await Bun.file(cachePath).bytes();
    for (const { key, at, bytes: length } of index) {
      const content = bytes.slice(at, at + length);
      const frameCount = new DataView(content.buffer).getUint32(4);
      // The length of the first NAL unit too: many changes of other bytes decode without a message.
      parseSplice(content, frameCount)!.packets.at(-1)!.data.fill(0xff);
      await forged.add(key, content);
    }
    expect(await forged.save()).toBe(true);
    await forged.close();
    await rename(newPath, cachePath);
    const events = await renderExactly(B_FRAMES, PLAN);
    expect(events.map(({ event }) => event)).toContain("render.cache_dropped");
    expect(countFrames(events).cached).toBe(0);
    expect(countFrames(await renderExactly(B_FRAMES, PLAN)).missing).toBe(0);
  });
});

async function readEntries(): Promise<{ key: string; at: number; bytes: number }[]> {
  const bytes = await Bun.file(cachePath).bytes();
  const length = new DataView(bytes.buffer).getUint32(bytes.length - 28);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(bytes.length - 28 - length, bytes.length - 28)));
}
