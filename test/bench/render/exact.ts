/**
 * Renders random plans of H.264 and HEVC sources and checks every frame and every beep:
 * `bun test/bench/render/exact.ts [--plans 34] [--seed 1]` (plans per source). Exits with 1 when one is wrong.
 */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ProbedMedia } from "../../../src/domain/media";
import { resolveOutput } from "../../../src/domain/render-output";
import { getFrameAtOrAfter, getFrameAtOrBefore, getFrameTime } from "../../../src/domain/time";
import { probeMedia } from "../../../src/media/probe";
import { sniffMedia } from "../../../src/media/probing/sniff";
import { renderMedia } from "../../../src/media/render";
import { bundledFfmpeg } from "../../unit/media/generated-media";
import { findBeep, readFrameNumbers, readSamples } from "../../unit/media/readback";
import { SOURCES } from "../../unit/media/sources";

const { values } = parseArgs({
  options: { plans: { type: "string", default: "34" }, seed: { type: "string", default: "1" } },
});
let state = Number(values.seed);
const random = () => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
};

function randomSegments(probed: ProbedMedia) {
  const frames = probed.frames!;
  const length = probed.info.duration;
  const edges = Array.from({ length: 2 + 2 * Math.floor(random() * 8) }, () => random() * length).sort((a, b) => a - b);
  let last = -1;
  return edges.flatMap((end, n) => {
    if (n % 2 === 0) return [];
    const startFrame = getFrameAtOrBefore(frames, edges[n - 1]!);
    const endFrame = getFrameAtOrAfter(frames, end);
    if (startFrame <= last || endFrame - startFrame < 3) return [];
    last = endFrame;
    return [{ start: getFrameTime(frames, startFrame), end: getFrameTime(frames, endFrame), startFrame, endFrame }];
  });
}

const folder = join(tmpdir(), `offcut-exact-${process.pid}`);
const strategies = new Map<string, number>();
let wrong = 0;
let plans = 0;
for (const name of ["mp4, 30, B-frames", "mp4, open GOP", "mp4, variable rate", "hevc in mp4"]) {
  const path = await SOURCES.find((source) => source.name === name)!.path();
  const sniffed = (await sniffMedia(new Uint8Array(await Bun.file(path).slice(0, 65_536).arrayBuffer())))!;
  const limits = { maxDurationSeconds: 86_400, maxSidePixels: 8_192, maxStreams: 64 };
  const probed = await probeMedia({ path, sniffed, ffmpeg: bundledFfmpeg, limits });
  const numbers = await readFrameNumbers(path);
  const sourceAudio = await readSamples(path, probed.info.startPts / 1e6);
  const resolved = resolveOutput(probed, {});
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  for (let n = 0; n < Number(values.plans); n++) {
    const segments = randomSegments(probed);
    if (segments.length === 0) continue;
    const outputPath = join(folder, "out.mp4");
    const { strategy } = await renderMedia(
      { sourcePath: path, probed, segments, output: resolved.output, workDir: join(folder, "work"), outputPath },
      { ffmpeg: bundledFfmpeg, chooseEncoder: async () => "libx264", maxProcesses: 2 },
    );
    plans++;
    strategies.set(strategy, (strategies.get(strategy) ?? 0) + 1);
    const kept = segments.flatMap(({ startFrame, endFrame }) => numbers.slice(startFrame, endFrame));
    const shown = await readFrameNumbers(outputPath);
    const audio = await readSamples(outputPath);
    let out = 0;
    let maxError = 0;
    for (const { start, end } of segments) {
      for (let at = Math.ceil(start / 1e6); at < end / 1e6 - 0.06; at++) {
        const beep = findBeep(sourceAudio, at);
        if (Number.isNaN(beep) || beep < start / 1e6 + 0.03) continue;
        const error = Math.abs(findBeep(audio, out + beep - start / 1e6) - (out + beep - start / 1e6));
        maxError = Math.max(maxError, Number.isNaN(error) ? 1 : error);
      }
      out += (end - start) / 1e6;
    }
    if (shown.join() === kept.join() && maxError < 0.02) continue;
    wrong++;
    console.log(`wrong: ${name}, ${strategy}, ${JSON.stringify(segments)}, audio off by ${maxError} s`);
  }
  await rm(folder, { recursive: true, force: true });
}
console.log(
  `${plans} plans, ${wrong} wrong; ${[...strategies].map(([strategy, count]) => `${strategy} ${count}`).join(", ")}`,
);
process.exit(wrong === 0 ? 0 : 1);
