/**
 * Measures the SSIM of the encoded frames of a smart render: `bun test/bench/render/quality.ts [--source FILE --seconds
 * N]`. Exits with 1 below a mean of 0.98.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { RenderSegment } from "../../../src/domain/media";
import { createSource, randomPlan } from "./media";

const { values } = parseArgs({ options: { source: { type: "string" }, seconds: { type: "string", default: "60" } } });
const seconds = Number(values.seconds);
const source = values.source ?? (await createSource({ height: 720, gopSeconds: 2, seconds }));
const path = join(tmpdir(), `offcut-quality-${process.pid}.mp4`);
const render = Bun.spawn(
  [
    "bun",
    join(import.meta.dir, "render-once.ts"),
    source,
    path,
    JSON.stringify(randomPlan(seconds, Math.round(seconds / 5), 0.7, 5)),
    "{}",
  ],
  { stdout: "pipe", stderr: "inherit" },
);
const { strategy, segments } = JSON.parse(await new Response(render.stdout).text()) as {
  strategy: string;
  segments: RenderSegment[];
};

const kept = segments.map(({ startFrame, endFrame }) => `between(n,${startFrame},${endFrame! - 1})`).join("+");
const stats = `${path}.ssim`;
const compare = Bun.spawn(
  [
    ...["ffmpeg", "-v", "error", "-nostdin", "-i", source, "-i", path, "-filter_complex"],
    `[0:v]select='${kept}',settb=1/30,setpts=N[a];[1:v]settb=1/30,setpts=N[b];[a][b]ssim=stats_file=${stats}`,
    ...["-f", "null", "-"],
  ],
  { stdout: "ignore", stderr: "inherit" },
);
if ((await compare.exited) !== 0) throw new Error("ffmpeg failed");
const ssim = (await Bun.file(stats).text())
  .trim()
  .split("\n")
  .map((line) => Number(/All:([\d.]+)/.exec(line)?.[1]));
const encoded = ssim.filter((value) => value < 0.99999);
let at = 0;
const joins = segments.map(({ startFrame, endFrame }) => {
  const first = at;
  at += endFrame! - startFrame!;
  return Math.min(ssim[first]!, ssim[at - 1]!);
});
const mean = encoded.reduce((sum, value) => sum + value, 0) / Math.max(1, encoded.length);
const worst = Math.min(...encoded, 1);
console.log(
  [
    `${strategy}: ${ssim.length} frames, ${encoded.length} encoded`,
    `SSIM of encoded frames: mean ${mean.toFixed(4)}, worst ${worst.toFixed(4)}; worst join ${Math.min(...joins).toFixed(4)}`,
  ].join("\n"),
);
process.exit(mean >= 0.98 ? 0 : 1);
