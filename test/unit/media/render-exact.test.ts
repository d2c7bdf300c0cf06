import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { getFrameTime, TICKS_PER_SECOND } from "../../../src/domain/time";
import { fullOr } from "../../full-size";
import { bundledFfmpeg, systemFfmpeg } from "./generated-media";
import { readFrameTimes, readSamples } from "./readback";
import { expectExactVideo, expectSync, probeFile, sourceNumbers, toSnappedSegments, withRender } from "./rendering";
import { SOURCES, type Source } from "./sources";

setDefaultTimeout(120_000);

const PLAN = [
  [0, 1.3],
  [1.9, 2.51],
  [3.3, 3.9],
  [5, 7],
  [7.4, 7.9],
] as const;

/** Sources that are rendered with the newer ffmpeg on the PATH too. */
const WITH_SYSTEM = fullOr(/mp4, 30|mkv, 29|^ts|avi, H|variable|turned|skips|webm/, /^ts|turned/);

/** Frames and samples that an independent decoder reads from a source, once for all tests of the source. */
const readings = new Map<string, Promise<unknown>>();

function readOnce<T>(key: string, read: () => Promise<T>): Promise<T> {
  const reading = (readings.get(key) as Promise<T> | undefined) ?? read();
  readings.set(key, reading);
  return reading;
}

/** Sources that are spliced, and that are encoded completely when a slightly lower bitrate is requested. */
const ALSO_CHUNKED = fullOr(/mp4, 30|mkv, 29|open GOP|variable|delayed picture|turned|start_time/, /mp4, 30|variable/);

async function check(source: Source, ffmpeg: typeof systemFfmpeg, strategy: "any" | "chunked" = "any"): Promise<void> {
  const path = await source.path();
  const rotation = source.rotation ?? 0;
  const probed = await probeFile(path, ffmpeg);
  const segments = toSnappedSegments(probed, PLAN);
  expect(probed.info.video?.rotation).toBe(rotation);
  const start = probed.info.startPts / TICKS_PER_SECOND;
  if (!source.decodingTimes) {
    const shown = await readOnce(`times of ${path}`, () => readFrameTimes(path));
    const offset = shown.map((time, n) => Math.abs(time - start - getFrameTime(probed.frames!, n) / TICKS_PER_SECOND));
    expect(Math.max(...offset)).toBeLessThan(0.0012);
  }
  const output = strategy === "any" ? {} : { video_bitrate: Math.floor(probed.info.video!.bitrate! * 0.98) };
  await withRender({ path, probed, segments, output, ffmpeg }, async (rendered) => {
    if (strategy !== "any") expect(rendered.result.strategy).toBe(strategy);
    const numbers = await readOnce(`numbers of ${path}`, () => sourceNumbers(path, rotation));
    await expectExactVideo({ ...rendered, segments }, numbers, rotation);
    if (source.silent) expect(probed.info.audio).toEqual([]);
    else {
      const samples = await readOnce(`samples of ${path} from ${start}`, () => readSamples(path, start));
      await expectSync({ ...rendered, segments }, samples);
    }
  });
}

describe("every frame and every beep of a cut is where the plan puts it", () => {
  for (const source of SOURCES) {
    test(source.name, async () => await check(source, bundledFfmpeg));
    if (ALSO_CHUNKED.test(source.name))
      test(`${source.name}, in chunks`, async () => await check(source, bundledFfmpeg, "chunked"));
    if (WITH_SYSTEM.test(source.name))
      test(`${source.name}, system's ffmpeg`, async () => await check(source, systemFfmpeg));
  }
});
