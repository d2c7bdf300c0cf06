/** Reads back the content of a rendered file: frame numbers, frame times, beeps. */
import { bundledFfmpeg, runTool, SQUARE_PIXELS } from "./generated-media";

/**
 * Returns the numbers drawn in the frames, in the order in which a decoder outputs them. Fails on any decoding error.
 */
export async function readFrameNumbers(path: string, filters = ""): Promise<number[]> {
  const width = 16 * SQUARE_PIXELS;
  const bytes = await decode([
    ...["-i", path, "-map", "0:V:0", "-vf", `${filters}crop=${width}:${SQUARE_PIXELS}:0:0,format=gray`],
    ...["-vsync", "0", "-f", "rawvideo", "pipe:1"],
  ]);
  const numbers: number[] = [];
  for (let at = 0; at + width * SQUARE_PIXELS <= bytes.length; at += width * SQUARE_PIXELS) {
    let number = 0;
    for (let bit = 0; bit < 16; bit++)
      if (bytes[at + (SQUARE_PIXELS / 2) * width + bit * SQUARE_PIXELS + SQUARE_PIXELS / 2]! > 128) number |= 1 << bit;
    numbers.push(number);
  }
  return numbers;
}

/**
 * Returns the presentation times of all frames in container time, in seconds, in display order, without frames that are
 * not shown.
 */
export async function readFrameTimes(path: string): Promise<number[]> {
  const text = await runFfprobe(path, "-select_streams", "V:0", "-show_entries", "packet=pts_time,flags");
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.includes("D"))
    .map((line) => Number.parseFloat(line))
    .sort((a, b) => a - b);
}

/** Returns mono samples at 48 kHz, from container time `from` on. */
export async function readSamples(path: string, from = 0): Promise<Float32Array> {
  const bytes = await decode([
    ...["-copyts", "-i", path, "-map", "0:a:0"],
    ...["-af", `asetpts=PTS-${from}/TB,aresample=48000:async=1:min_hard_comp=0.01:first_pts=0`, "-ac", "1"],
    ...["-f", "f32le", "pipe:1"],
  ]);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}

/** Returns where near `seconds` a beep starts, in seconds; NaN without one within 25 ms. */
export function findBeep(samples: Float32Array, seconds: number, threshold = 0.15): number {
  const center = Math.round(seconds * 48_000);
  for (let n = Math.max(0, center - 1_200); n < Math.min(samples.length, center + 1_200); n++)
    if (Math.abs(samples[n]!) > threshold) return n / 48_000;
  return Number.NaN;
}

/** Returns `ffprobe`'s plain output. */
export async function runFfprobe(path: string, ...entries: string[]): Promise<string> {
  const bytes = await runTool(["/usr/bin/ffprobe", "-v", "error", ...entries, "-of", "csv=p=0", path]);
  return new TextDecoder().decode(bytes).trim();
}

/** The static build starts ten times faster. */
async function decode(command: string[]): Promise<Uint8Array> {
  return await runTool([bundledFfmpeg.path, "-v", "error", "-xerror", "-nostdin", ...command]);
}
