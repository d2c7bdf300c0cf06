/**
 * Generates the sources of the render benchmarks: 1080p or 720p with noise, burnt-in frame numbers, beeps and room
 * noise. They are cached in the temporary folder.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SQUARE = 40;
const squares = Array.from({ length: 16 }, (_, bit) => {
  const box = `drawbox=x=${bit * SQUARE}:y=0:w=${SQUARE}:h=${SQUARE}:t=fill`;
  return `${box}:color=black,${box}:color=white:enable='mod(floor(n/${2 ** bit}),2)'`;
}).join(",");

export type Recipe = { height: 720 | 1080; gopSeconds: number; seconds: number };

/** Returns the path of the source for a recipe, at 30 frames per second. */
export async function createSource({ height, gopSeconds, seconds }: Recipe): Promise<string> {
  const folder = join(tmpdir(), "offcut-bench-media");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `room-${height}p-gop${gopSeconds}-${seconds}s.mp4`);
  if (existsSync(path)) return path;
  const width = (height * 16) / 9;
  const bitrate = height === 1080 ? 6_000 : 3_000;
  const loop = join(folder, `loop-${height}p.mp4`);
  if (!existsSync(loop))
    await runFfmpeg([
      ...["-f", "lavfi", "-i", "mandelbrot=s=960x540:r=30:start_scale=2:end_pts=3000"],
      ...["-f", "lavfi", "-i", "testsrc2=s=640x360:r=30", "-t", "8", "-filter_complex"],
      `[0]scale=${width}:${height}:flags=fast_bilinear,format=yuv420p,noise=alls=6:allf=t[a];[1]format=yuv420p[b];[a][b]overlay=x='320+200*sin(t)':y='300+100*cos(t*0.7)'[v]`,
      ...["-map", "[v]", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "14", loop],
    ]);
  // Real recordings contain room noise; the rate control of the AAC encoder spends much more time on a pure tone.
  const tone = "0.05*sin(2*PI*220*t)+0.5*sin(2*PI*1000*t)*lt(mod(t\\,1)\\,0.04)";
  const audio = `aevalsrc=exprs='${tone}|${tone}':s=48000:d=${seconds}[tone];anoisesrc=d=${seconds}:c=pink:r=48000:a=0.02:seed=1[room];[tone][room]amix=inputs=2,aformat=channel_layouts=stereo`;
  await runFfmpeg([
    ...["-stream_loop", "-1", "-i", loop, "-f", "lavfi", "-i", audio],
    ...["-vf", `setpts=N/30/TB,${squares}`, "-map", "0:v", "-map", "1:a", "-t", String(seconds), "-c:v", "libx264"],
    ...["-preset", "veryfast", "-b:v", `${bitrate}k`, "-maxrate", `${bitrate * 1.5}k`, "-bufsize", `${bitrate * 2}k`],
    ...["-g", String(gopSeconds * 30), "-bf", "3", "-c:a", "aac", "-b:a", "160k", "-movflags", "+faststart"],
    `${path}.part.mp4`,
  ]);
  renameSync(`${path}.part.mp4`, path);
  return path;
}

async function runFfmpeg(recipe: string[]): Promise<void> {
  const child = Bun.spawn(["ffmpeg", "-y", "-v", "error", "-nostdin", ...recipe], {
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error(`ffmpeg failed: ${recipe.join(" ")}`);
}

/**
 * Returns a random plan for a seed: `count` segments in seconds that keep `share` of the duration, not aligned to
 * frames.
 */
export function randomPlan(seconds: number, count: number, share: number, seed: number): [number, number][] {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const kept = Array.from({ length: count }, () => 0.3 + random());
  const gaps = Array.from({ length: count + 1 }, () => 0.3 + random());
  const keptSum = kept.reduce((a, b) => a + b);
  const gapSum = gaps.reduce((a, b) => a + b);
  let at = 0;
  return kept.map((length, n) => {
    const start = at + (gaps[n]! / gapSum) * seconds * (1 - share);
    at = start + (length / keptSum) * seconds * share;
    return [Math.round(start * 1000) / 1000, Math.round(at * 1000) / 1000];
  });
}
