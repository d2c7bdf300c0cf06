/** Renders a source with a plan, and compares the result with the output of an independent decoder for the source. */
import { expect } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbedMedia, RenderResult, RenderSegment, SniffedMedia } from "../../../src/domain/media";
import { type OutputRequest, resolveOutput } from "../../../src/domain/render-output";
import {
  getFrameAtOrAfter,
  getFrameAtOrBefore,
  getFrameCount,
  getFrameTime,
  TICKS_PER_SECOND,
} from "../../../src/domain/time";
import type { Ffmpeg } from "../../../src/media/ffmpeg";
import { probeMedia } from "../../../src/media/probe";
import { sniffMedia } from "../../../src/media/probing/sniff";
import { renderMedia } from "../../../src/media/render";
import type { RenderCache } from "../../../src/media/render-cache/cache-file";
import { fullOr } from "../../full-size";
import { bundledFfmpeg } from "./generated-media";
import { findBeep, readFrameNumbers, readFrameTimes, readSamples } from "./readback";

export const LIMITS = { maxDurationSeconds: 24 * 3600, maxSidePixels: 8192, maxStreams: 64 };

export async function sniffFile(path: string): Promise<SniffedMedia> {
  const sniffed = await sniffMedia(new Uint8Array(await Bun.file(path).slice(0, 65_536).arrayBuffer()));
  if (sniffed === null) throw new Error(`not recognized: ${path}`);
  return sniffed;
}

export const probeFile = async (path: string, ffmpeg: Ffmpeg = bundledFfmpeg): Promise<ProbedMedia> =>
  await probeMedia({ path, sniffed: await sniffFile(path), ffmpeg, limits: LIMITS });

/**
 * A cancelled render frees the processor within 3 s: processes that do not end by themselves are killed after 2 s.
 * Beside other tests that takes longer, so CI only finds processes that never end.
 */
export const MAX_CANCEL_MS = fullOr(3_000, 6_000);

/** Returns segments in seconds snapped as the planner does it: starts down to a frame, ends up. */
export function toSnappedSegments(
  probed: ProbedMedia,
  seconds: readonly (readonly [number, number])[],
): RenderSegment[] {
  const { frames, info } = probed;
  return seconds
    .filter(([, end]) => end * TICKS_PER_SECOND <= info.duration)
    .map(([start, end]) => {
      if (frames === null)
        return { start: start * TICKS_PER_SECOND, end: end * TICKS_PER_SECOND, startFrame: null, endFrame: null };
      const startFrame = getFrameAtOrBefore(frames, start * TICKS_PER_SECOND);
      const endFrame = getFrameAtOrAfter(frames, end * TICKS_PER_SECOND);
      const from = start === 0 ? 0 : getFrameTime(frames, startFrame);
      return { start: from, end: getFrameTime(frames, endFrame), startFrame, endFrame };
    });
}

export type Rendered = {
  path: string;
  folder: string;
  result: RenderResult;
  segments: RenderSegment[];
  probed: ProbedMedia;
};

/** Renders into a separate folder, which `use` can inspect. */
export async function withRender<Result>(
  options: {
    path: string;
    probed: ProbedMedia;
    segments: RenderSegment[] | null;
    output?: OutputRequest;
    ffmpeg?: Ffmpeg;
    log?: (event: string, fields: object) => void;
    cache?: RenderCache;
  },
  use: (rendered: Omit<Rendered, "segments">) => Promise<Result>,
): Promise<Result> {
  const { path, probed, segments, log } = options;
  const resolved = resolveOutput(probed, options.output ?? {});
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  const folder = await mkdtemp(join(tmpdir(), "offcut-render-"));
  const outputPath = join(folder, `out.${resolved.output.format}`);
  try {
    const result = await renderMedia(
      { sourcePath: path, probed, segments, output: resolved.output, workDir: join(folder, "work"), outputPath },
      {
        ffmpeg: options.ffmpeg ?? bundledFfmpeg,
        chooseEncoder: async () => "libx264",
        maxProcesses: 2,
        ...(log === undefined ? {} : { log }),
        cache: options.cache,
      },
    );
    return await use({ path: outputPath, folder, result, probed });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the frame numbers in a source according to an independent decoder. */
export const sourceNumbers = (path: string, rotation: number): Promise<number[]> =>
  readFrameNumbers(path, rotation === 270 ? "transpose=1," : "");

/** Expects every kept frame once, in order, at its time, and nothing else. */
export async function expectExactVideo(
  rendered: Omit<Rendered, "result" | "folder">,
  numbers: readonly number[],
  rotation = 0,
): Promise<void> {
  const { segments, probed } = rendered;
  const frames = probed.frames!;
  expect(getFrameCount(frames)).toBe(numbers.length);
  const expectedNumbers: number[] = [];
  const times: number[] = [];
  let out = 0;
  for (const segment of segments) {
    for (let n = segment.startFrame!; n < segment.endFrame!; n++) {
      expectedNumbers.push(numbers[n]!);
      times.push(out + (n === segment.startFrame ? 0 : (getFrameTime(frames, n) - segment.start) / TICKS_PER_SECOND));
    }
    out += (segment.end - segment.start) / TICKS_PER_SECOND;
  }
  expect(await sourceNumbers(rendered.path, rotation)).toEqual(expectedNumbers);
  const shown = await readFrameTimes(rendered.path);
  expect(shown.length).toBe(times.length);
  const delay = shown.map((time, n) => Math.abs(time - times[n]!));
  expect(Math.max(...delay)).toBeLessThan(0.0012);
}

/**
 * Expects every beep of the source that is well inside a segment where the plan puts it, and audio of the planned
 * duration.
 */
export async function expectSync(
  rendered: Omit<Rendered, "result" | "folder">,
  sourceSound: Float32Array,
): Promise<void> {
  const samples = await readSamples(rendered.path);
  const beeps: number[] = [];
  for (let n = 0; n < sourceSound.length; n++)
    if (Math.abs(sourceSound[n]!) > 0.15) {
      beeps.push(n / 48_000);
      n += 24_000;
    }
  let out = 0;
  let checked = 0;
  for (const { start, end } of rendered.segments) {
    const from = start / TICKS_PER_SECOND;
    for (const beep of beeps.filter((at) => at > from + 0.03 && at < end / TICKS_PER_SECOND - 0.06)) {
      const expected = out + beep - from;
      expect(Math.abs(findBeep(samples, expected) - expected)).toBeLessThan(0.003);
      checked++;
    }
    out += (end - start) / TICKS_PER_SECOND;
  }
  expect(checked).toBeGreaterThan(0);
  expect(Math.abs(samples.length / 48_000 - out)).toBeLessThan(0.045);
}
