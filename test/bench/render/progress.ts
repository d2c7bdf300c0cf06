/**
 * Measures the accuracy of progress: the largest difference between the reported share and the share of the elapsed
 * time, and the longest time without a report. `bun test/bench/render/progress.ts [--minutes 5]`. Exits with 1 above 5%
 * (renders over 5 s) or above 1 s.
 */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { resolveOutput } from "../../../src/domain/render-output";
import { openExtracted } from "../../../src/lib/assets";
import { selectFfmpeg } from "../../../src/media/ffmpeg";
import { probeMedia } from "../../../src/media/probe";
import { sniffMedia } from "../../../src/media/probing/sniff";
import { renderMedia } from "../../../src/media/render";
import { createSource, randomPlan } from "./media";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "5" } } });
const seconds = Number(values.minutes) * 60;
const sourcePath = await createSource({ height: 720, gopSeconds: 2, seconds });
const ffmpeg = await selectFfmpeg({ forced: null, bundled: openExtracted(null).ffmpeg, path: process.env.PATH });
const sniffed = (await sniffMedia(new Uint8Array(await Bun.file(sourcePath).slice(0, 65_536).arrayBuffer())))!;
const limits = { maxDurationSeconds: 86_400, maxSidePixels: 8_192, maxStreams: 64 };
const probed = await probeMedia({ path: sourcePath, sniffed, ffmpeg, limits });
const segments = randomPlan(seconds, seconds / 5, 0.7, 5).map(([from, to]) => ({
  start: from * 1e6,
  end: to * 1e6,
  startFrame: null,
  endFrame: null,
}));
const outputPath = join(tmpdir(), `offcut-progress-${process.pid}`);
let isInaccurate = false;
for (const output of [{}, { resolution: "480p" }, { format: "m4a" }]) {
  const resolved = resolveOutput(probed, output);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  const workDir = `${outputPath}.work`;
  const started = performance.now();
  const reports: { at: number; share: number }[] = [{ at: 0, share: 0 }];
  const { strategy } = await renderMedia(
    { sourcePath, probed, segments, output: resolved.output, workDir, outputPath },
    {
      ffmpeg,
      chooseEncoder: async () => "libx264",
      maxProcesses: 2,
      onProgress: (share) => reports.push({ at: performance.now() - started, share }),
    },
  );
  const total = performance.now() - started;
  const differences = reports.map(({ at, share }) => share - at / total);
  const longestGap = Math.max(...reports.map(({ at }, n) => (reports[n + 1]?.at ?? total) - at)) / 1000;
  const [early, late] = [Math.max(...differences), -Math.min(...differences)];
  isInaccurate ||= (total > 5_000 && Math.max(early, late) > 0.05) || longestGap > 1;
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  console.log(
    `${strategy}: ${(total / 1000).toFixed(1)} s, ${reports.length} reports, ahead by ${percent(early)} and behind by ${percent(late)} at most, longest gap ${longestGap.toFixed(2)} s`,
  );
  await rm(workDir, { recursive: true, force: true });
  await rm(outputPath, { force: true });
}
process.exit(isInaccurate ? 1 : 0);
