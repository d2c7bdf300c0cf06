/** Parts of sources made of their own packets, and parts that are encoded on request. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbedMedia } from "../../../../src/domain/media";
import { getFrameAtOrBefore, getFrameTime, toSeconds } from "../../../../src/domain/time";
import type { Ffmpeg } from "../../../../src/media/ffmpeg";
import { encodeLiveAudio, encodeLiveVideo } from "../../../../src/media/preview/live";
import { createAudioPiece } from "../../../../src/media/preview/piece";
import { readParts } from "../../../../src/media/preview/read-parts";
import { writeSourceIndex } from "../../../../src/media/preview/source-index";
import { createSourcePiece } from "../../../../src/media/preview/source-piece";
import { isFullSize } from "../../../full-size";
import { wav } from "../../../http/media";
import { bundledFfmpeg, systemFfmpeg } from "../generated-media";
import { findBeep, readFrameNumbers, readFrameTimes, readSamples } from "../readback";
import { probeFile } from "../rendering";
import { SOURCES } from "../sources";
import { readPiece } from "./fragments";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-source-pieces-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const sandbox = { mode: "none", reason: "a test", wrap: (command: string[]) => command } as const;
const createTools = (ffmpeg: Ffmpeg) => ({ ffmpeg, sandbox, hasZscale: false });
const { signal } = new AbortController();
let made = 0;

type Indexed = {
  path: string;
  index: string;
  probed: ProbedMedia;
  facts: Awaited<ReturnType<typeof writeSourceIndex>>;
};

async function indexFile(path: string): Promise<Indexed> {
  const probed = await probeFile(path, systemFfmpeg);
  const index = join(folder, `${made++}.index`);
  return { path, index, probed, facts: await writeSourceIndex({ path, probed, outputPath: index }) };
}

const save = async (bytes: Uint8Array): Promise<string> => {
  const path = join(folder, `${made++}.mp4`);
  await Bun.write(path, bytes);
  return path;
};

/** Returns the frames of a file that are shown for longer than those that are only decoded, as numbers and times. */
async function readShown(path: string, end: number, filters: string): Promise<{ numbers: number[]; times: number[] }> {
  const numbers = await readFrameNumbers(path, filters);
  const { samples, timescale } = readPiece(await Bun.file(path).bytes());
  // Browsers see a gap between frames whose durations do not meet, and stop there.
  const shown = samples.map(({ time, delay, duration }) => ({ start: time + delay, duration }));
  shown.sort((a, b) => a.start - b.start);
  for (const [n, { start }] of shown.entries())
    if (n > 0) expect(start).toBe(shown[n - 1]!.start + shown[n - 1]!.duration);
  const times = samples.map(({ time, delay }) => (time + delay) / timescale).sort((a, b) => a - b);
  expect(times).toHaveLength(numbers.length);
  const isShown = times.map((time, n) => (times[n + 1] ?? end) - time > 0.002);
  return { numbers: numbers.filter((_, n) => isShown[n]), times: times.filter((_, n) => isShown[n]) };
}

/** Returns the frames of the recording in a span, by the numbers that are drawn in them. */
function listExpected(all: number[], { frames }: ProbedMedia, from: number, to: number): number[] {
  const at = (seconds: number) => getFrameAtOrBefore(frames!, Math.round(seconds * 1e6) + 1_000);
  const last = at(to - 0.002);
  return all.slice(at(from), last + 1);
}

/** The kinds that differ most. Each takes a second. */
const NAMES = [
  ...["mp4, 30, B-frames", "webm, VP9, 24, Opus", "hevc in mp4", "mp4, open GOP", "mp4, variable rate"],
  ...["fragmented mp4", "mp4, turned", "mkv, start_time 5 s"],
];
const LIVE_NAMES = ["ts, 25, clock from 1.4 s", "mpg, MPEG-2", "mp4, variable rate", "mp4, start_time 5 s"];
const choose = (names: string[]) => SOURCES.filter(({ name }) => isFullSize || names.includes(name));

const SPANS = [
  [0, 2.4],
  [1.2, 3.52],
  [2, 4],
  [3.08, 3.4],
  [4.6, 7.2],
] as const;

describe.each(choose(NAMES).filter(({ silent, decodingTimes }) => !silent && !decodingTimes))(
  "$name",
  ({ path, rotation }) => {
    test("parts have the frames of their spans at their times", async () => {
      const { facts, index, probed, path: media } = await indexFile(await path());
      if (facts.video === null) {
        expect(facts.reasons).not.toEqual([]);
        return;
      }
      const filters = rotation === 270 ? "transpose=clock," : "";
      const all = (await readFrameNumbers(media, filters)).slice(-1_000);
      for (const [start, end] of SPANS) {
        const [from, to] = [start, end].map((time) =>
          toSeconds(getFrameTime(probed.frames!, getFrameAtOrBefore(probed.frames!, time * 1e6))),
        ) as [number, number];
        for (const seek of [null, from, (from + to) / 2]) {
          const { head, parts } = await createSourcePiece({ media, index, track: facts.video, from, to, seek });
          const first = head === null ? (seek === null ? from : seek) : head.to;
          if (seek !== null) expect(head).toBeNull();
          if (parts.length === 0) {
            expect(head).toEqual({ from, to });
            continue;
          }
          const file = await save(Buffer.concat(await Array.fromAsync(readParts(media, parts))));
          const { numbers, times } = await readShown(file, to, filters);
          const expected = listExpected(all, probed, first, to);
          expect({ start, seek, numbers: numbers.slice(-expected.length) }).toEqual({ start, seek, numbers: expected });
          if (seek === null) {
            expect(numbers).toEqual(expected);
            expect(Math.abs(times[0]! - first)).toBeLessThan(0.01);
          }
        }
      }
    });
  },
);

test("only pictures that browsers take for keyframes start a part", async () => {
  const named = (wanted: string) => SOURCES.find(({ name }) => name === wanted)!.path();
  const open = await indexFile(await named("mp4, open GOP"));
  expect(open.facts.video!.keys.sampleCount).toBe(1);
  expect(open.facts.video!.starts).toEqual([]);
  const closed = await indexFile(await named("mp4, 30, B-frames"));
  expect(closed.facts.video!.keys.sampleCount).toBeGreaterThan(2);
});

test("encoded frames of a turned source are turned by the player, too", async () => {
  const path = await SOURCES.find(({ name }) => name === "mp4, turned")!.path();
  const { info, frames } = await probeFile(path, bundledFfmpeg);
  const [from, to] = [31, 60].map((n) => toSeconds(getFrameTime(frames!, n))) as [number, number];
  const request = { path, info, from, to, isCoded: true };
  const file = await save(await encodeLiveVideo(createTools(bundledFfmpeg), request, signal));
  const all = await readFrameNumbers(path, "transpose=clock,");
  expect(await readFrameNumbers(file, "transpose=clock,")).toEqual(all.slice(31, 60));
  expect((await probeFile(file, bundledFfmpeg)).info.video!.rotation).toBe(info.video!.rotation);
});

/** Most recordings have a beep at a whole second. */
const BEEPS = [2.7, 3, 3.2, 3.5, 3.73];

test.each(choose(NAMES).filter(({ silent }) => !silent))(
  "audio of $name has its samples at their times",
  async ({ path }) => {
    const { facts, index, probed, path: media } = await indexFile(await path());
    if (facts.audio === null) {
      expect(facts.reasons).not.toEqual([]);
      return;
    }
    const parts = await createAudioPiece({ media, index, track: facts.audio, from: 2.5, to: 4.5 });
    const bytes = Buffer.concat(await Array.fromAsync(readParts(media, parts)));
    const { samples, timescale } = readPiece(bytes);
    expect(samples[0]!.time / timescale).toBeWithin(2.3, 2.5);
    const end = samples.at(-1)!.time + samples.at(-1)!.duration;
    expect(end / timescale).toBeWithin(4.5, 4.8);
    // Gaps of a few samples would be audible.
    for (const [n, { time }] of samples.entries())
      if (n > 0) expect(time).toBe(samples[n - 1]!.time + samples[n - 1]!.duration);
    const original = await readSamples(media, probed.info.startPts / 1e6);
    const found = await readSamples(await save(bytes));
    for (const time of BEEPS) {
      const beep = findBeep(original, time);
      if (!Number.isNaN(beep)) expect(Math.abs(findBeep(found, time) - beep)).toBeLessThan(0.0005);
    }
  },
);

describe.each([
  ["system", systemFfmpeg],
  ["bundled", bundledFfmpeg],
] as const)("encoded on request by the %s ffmpeg", (_, ffmpeg) => {
  const seconds: number[] = [];
  test.each(choose(LIVE_NAMES).filter(({ silent, decodingTimes, rotation }) => !silent && !decodingTimes && !rotation))(
    "$name",
    async ({ name, path }) => {
      const media = await path();
      const probed = await probeFile(media, ffmpeg);
      const { info, frames } = probed;
      const all = await readFrameNumbers(media);
      const request = {
        path: media,
        info,
        from: toSeconds(getFrameTime(frames!, 31)),
        to: toSeconds(getFrameTime(frames!, 60)),
      };
      const spent = Promise.withResolvers<number>();
      const tools = { ...createTools(ffmpeg), onEnd: spent.resolve };
      const file = await save(await encodeLiveVideo(tools, request, signal));
      seconds.push(await spent.promise);
      const [numbers, times] = [await readFrameNumbers(file), await readFrameTimes(file)];
      expect(Math.abs(times[0]! - request.from)).toBeLessThan(0.001);
      if (info.video!.variable) return;
      expect(numbers).toEqual(all.slice(-all.length).slice(31, 60));
      const audio = await save(await encodeLiveAudio(createTools(ffmpeg), { ...request, from: 2.5, to: 4.5 }, signal));
      const original = await readSamples(media, info.startPts / 1e6);
      // Most recordings have a beep at a whole second.
      const beeps = [2.7, 3, 3.2, 3.5, 3.73]
        .map((time) => findBeep(original, time))
        .filter((time) => !Number.isNaN(time));
      if (beeps.length === 0) expect(["wmv", "fragmented mp4"]).toContain(name);
      const found = await readSamples(audio);
      for (const beep of beeps) expect(Math.abs(findBeep(found, beep) - beep)).toBeLessThan(0.003);
    },
  );

  test("audio of another sample rate is found far from the start, too", async () => {
    const path = join(folder, "long.wav");
    await Bun.write(path, (await wav(26)) as Uint8Array<ArrayBuffer>);
    const { info } = await probeFile(path, ffmpeg);
    expect(info.audio[0]!.sampleRate).toBe(16_000);
    const request = { path, info, from: 20, to: 22 };
    const bytes = await encodeLiveAudio(createTools(ffmpeg), request, signal);
    const { samples, timescale } = readPiece(Buffer.from(bytes));
    expect(samples[0]!.time / timescale).toBeWithin(19.7, 20);
    const end = samples.at(-1)!.time + samples.at(-1)!.duration;
    expect(end / timescale).toBeWithin(22, 22.5);
  });

  test("the processor time is reported", () => {
    // A constant stands for the start and the end of a process. A short one may have only these values.
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(0.05);
    expect(Math.max(...seconds)).toBeGreaterThan(0.05);
  });
});
