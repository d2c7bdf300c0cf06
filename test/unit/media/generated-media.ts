/** Generated test media: every frame shows its number, every second starts with a beep. */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openExtracted } from "../../../src/lib/assets";
import { selectFfmpeg } from "../../../src/media/ffmpeg";

/** Numbers are drawn as sixteen squares of this size in the top row, the least significant bit on the left. */
export const SQUARE_PIXELS = 20;
export const BEEP_SECONDS = 0.04;

const folder = join(tmpdir(), `offcut-generated-media-5-${process.getuid?.() ?? 0}`);
mkdirSync(folder, { recursive: true });

const bundled = openExtracted(null).ffmpeg;

/** The ffmpeg on the PATH, and the bundled one. */
export const systemFfmpeg = await selectFfmpeg({ forced: null, bundled, path: process.env.PATH });
export const bundledFfmpeg = await selectFfmpeg({ forced: bundled, bundled, path: undefined });

/** Generates a file in the temporary folder once, with the ffmpeg on the PATH. The name must identify the recipe. */
export async function generate(name: string, ...recipe: string[]): Promise<string> {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const part = join(folder, `part-${process.pid}-${Math.random().toString(36).slice(2)}-${name}`);
  await runTool([systemFfmpeg.path, "-y", "-v", "error", "-nostdin", ...recipe, part]);
  renameSync(part, path);
  return path;
}

/** Runs a program of the test machine. Its standard error becomes the message of a failure. */
export async function runTool(command: string[]): Promise<Uint8Array> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [bytes, errors] = await Promise.all([new Response(child.stdout).bytes(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${errors}`);
  return bytes;
}

const squares = Array.from({ length: 16 }, (_, bit) => {
  const box = `drawbox=x=${bit * SQUARE_PIXELS}:y=0:w=${SQUARE_PIXELS}:h=${SQUARE_PIXELS}:t=fill`;
  return `${box}:color=black,${box}:color=white:enable='mod(floor(n/${2 ** bit}),2)'`;
}).join(",");

/** Returns moving video with frame numbers. */
export const videoInput = (rate: string, seconds: number, size = "320x180"): string[] => [
  ...["-f", "lavfi", "-i", `testsrc2=s=${size}:r=${rate}:d=${seconds},format=yuv420p,${squares}`],
];

/** Returns a quiet hum with a beep of 40 ms at the start of every second. */
export const audioInput = (rate: number, channels: 1 | 2, seconds: number): string[] => {
  const one = `0.02*sin(2*PI*220*t)+0.5*sin(2*PI*1000*t)*lt(mod(t\\,1)\\,${BEEP_SECONDS})`;
  const both = channels === 1 ? one : `${one}|${one}`;
  return ["-f", "lavfi", "-i", `aevalsrc=exprs='${both}':s=${rate}:d=${seconds}`];
};

export const h264 = (keyframes: number, ...more: string[]): string[] => [
  ...["-c:v", "libx264", "-preset", "veryfast", "-crf", "24", "-g", String(keyframes), "-bf", "2", ...more],
];
/** The default coder takes twice the time. */
export const aac: string[] = ["-c:a", "aac", "-aac_coder", "fast", "-b:a", "96k"];

/** The default file of most tests: 12 seconds, B-frames, a keyframe every two seconds. */
export const plainMp4 = () =>
  generate(
    "plain-30.mp4",
    ...videoInput("30", 12),
    ...audioInput(48_000, 2, 12),
    ...h264(60),
    ...aac,
    "-movflags",
    "+faststart",
  );
