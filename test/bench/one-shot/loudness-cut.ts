/**
 * A stand-in for auto-editor with its defaults, made of ffmpeg: keeps the frames whose peak reaches 4% of full scale,
 * with a margin of 0.2 s, and encodes the video with x264's default preset and the audio with AAC:
 * `bun test/bench/one-shot/loudness-cut.ts RECORDING OUTPUT`.
 */
import { argv, exit } from "node:process";

const [recording = "", output = ""] = argv.slice(2);
const SAMPLE_RATE = 48_000;
const FRAME_RATE = 30;
const THRESHOLD = 0.04;
const MARGIN_FRAMES = 0.2 * FRAME_RATE;

const ffmpeg = (...recipe: string[]) =>
  Bun.spawn(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", recording, ...recipe], { stdout: "pipe" });

const decoder = ffmpeg("-map", "0:a:0", "-ac", "1", "-ar", String(SAMPLE_RATE), "-f", "f32le", "-");
const samples = new Float32Array(await new Response(decoder.stdout).arrayBuffer());
const size = SAMPLE_RATE / FRAME_RATE;
const isLoud = Array.from({ length: Math.ceil(samples.length / size) }, (_, n) =>
  samples.subarray(n * size, (n + 1) * size).some((sample) => Math.abs(sample) >= THRESHOLD),
);
const kept: [number, number][] = [];
for (const n of isLoud.keys()) {
  if (!isLoud.slice(Math.max(0, n - MARGIN_FRAMES), n + MARGIN_FRAMES + 1).includes(true)) continue;
  const last = kept.at(-1);
  if (last?.[1] === n) last[1] = n + 1;
  else kept.push([n, n + 1]);
}
const between = kept.map(([from, to]) => `between(t,${from / FRAME_RATE},${(to - 0.5) / FRAME_RATE})`).join("+");
const encoder = ffmpeg(
  ...["-vf", `select='${between}',setpts=N/FRAME_RATE/TB`, "-c:v", "libx264"],
  ...["-af", `aselect='${between}',asetpts=N/SR/TB`, "-c:a", "aac", output],
);
exit(await encoder.exited);
