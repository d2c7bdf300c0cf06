/** Renders audio as the product does, and measures files with ffmpeg's own meter. */
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AudioProcessing } from "../../../src/domain/media";
import type { VoiceActivity } from "../../../src/domain/voice-activity";
import { renderAudio } from "../../../src/media/leveled-audio";
import { measureByFfmpeg } from "../../ebur128";
import { runTool, systemFfmpeg } from "../../unit/media/generated-media";
import { probeFile } from "../../unit/media/rendering";

export const RATE = 48_000;

/** Renders the whole recording to an `m4a` file. Returns the warnings. */
export async function renderWhole(
  path: string,
  outputPath: string,
  processing: AudioProcessing,
  voice: VoiceActivity | null = null,
): Promise<string[]> {
  const ffmpeg = systemFfmpeg;
  const probed = await probeFile(path, ffmpeg);
  const { duration } = probed.info;
  const workDir = join(tmpdir(), `offcut-bench-audio-${process.pid}`);
  await mkdir(workDir, { recursive: true });
  try {
    return await renderAudio({
      ...{ ffmpeg, path, probed, processing, voice, outputPath, workDir, format: "m4a", bitrate: 192_000 },
      maxEncoders: 2,
      segments: [{ start: 0, end: duration, outputStart: 0, outputEnd: duration }],
    });
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Returns the integrated loudness in LUFS and the true peak in dBTP; null for silence. */
export const measureLoudness = (path: string) => measureByFfmpeg(systemFfmpeg.path, path);

/** Decodes to one channel. */
export async function decodeMono(path: string, rate = RATE): Promise<Float32Array> {
  const output = ["-f", "f32le", "-ar", String(rate), "-ac", "1", "pipe:1"];
  const bytes = await runTool([systemFfmpeg.path, "-v", "error", "-nostdin", "-i", path, ...output]);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}

/** Writes one channel as a WAV file of 32-bit floats. */
export async function writeMono(path: string, samples: Float32Array, rate = RATE): Promise<void> {
  const input = ["-f", "f32le", "-ar", String(rate), "-ac", "1", "-i", "pipe:0", "-c:a", "pcm_f32le"];
  const child = Bun.spawn([systemFfmpeg.path, "-v", "error", "-y", ...input, path], {
    stdin: new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength),
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error(`${path} could not be written`);
}

/** Returns the mean level of spans of samples in dBFS. */
export function getLevel(samples: Float32Array, spans: readonly (readonly [number, number])[]): number {
  let [sum, count] = [0, 0];
  for (const [from, to] of spans) {
    for (const sample of samples.subarray(from, to)) sum += sample ** 2;
    count += Math.max(0, Math.min(to, samples.length) - from);
  }
  return 10 * Math.log10(sum / Math.max(1, count) + 1e-15);
}
