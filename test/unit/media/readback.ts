/** Reads back what a rendered file shows and plays: frame numbers, frame times, beeps. */
import { bundledFfmpeg, runTool, SQUARE } from "./generated-media";

/** The numbers drawn in the frames, in the order in which a decoder shows them. Fails on any decoding error. */
export async function frameNumbers(path: string, filters = ""): Promise<number[]> {
  const width = 16 * SQUARE;
  const bytes = await decode([
    ...["-i", path, "-map", "0:V:0", "-vf", `${filters}crop=${width}:${SQUARE}:0:0,format=gray`],
    ...["-vsync", "0", "-f", "rawvideo", "pipe:1"],
  ]);
  const numbers: number[] = [];
  for (let at = 0; at + width * SQUARE <= bytes.length; at += width * SQUARE) {
    let number = 0;
    for (let bit = 0; bit < 16; bit++)
      if (bytes[at + (SQUARE / 2) * width + bit * SQUARE + SQUARE / 2]! > 128) number |= 1 << bit;
    numbers.push(number);
  }
  return numbers;
}

/** When each frame is shown, seconds of the container's clock, in display order. Frames that a player must not show are left out. */
export async function frameSeconds(path: string): Promise<number[]> {
  const text = await probeText(path, "-select_streams", "V:0", "-show_entries", "packet=pts_time,flags");
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.includes("D"))
    .map((line) => Number.parseFloat(line))
    .sort((a, b) => a - b);
}

/** Mono samples at 48 kHz; the first one is the container's time `from`. */
export async function samples(path: string, from = 0): Promise<Float32Array> {
  const bytes = await decode([
    ...["-copyts", "-i", path, "-map", "0:a:0"],
    ...["-af", `asetpts=PTS-${from}/TB,aresample=48000:async=1:min_hard_comp=0.01:first_pts=0`, "-ac", "1"],
    ...["-f", "f32le", "pipe:1"],
  ]);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}

/** Where near `seconds` a beep begins, seconds; NaN when there is none within 25 ms. */
export function beepNear(sound: Float32Array, seconds: number, threshold = 0.15): number {
  const centre = Math.round(seconds * 48_000);
  for (let n = Math.max(0, centre - 1_200); n < Math.min(sound.length, centre + 1_200); n++)
    if (Math.abs(sound[n]!) > threshold) return n / 48_000;
  return Number.NaN;
}

/** `ffprobe`'s plain output. */
export async function probeText(path: string, ...entries: string[]): Promise<string> {
  const bytes = await runTool(["/usr/bin/ffprobe", "-v", "error", ...entries, "-of", "csv=p=0", path]);
  return new TextDecoder().decode(bytes).trim();
}

/** By the static build: it starts ten times faster. */
async function decode(command: string[]): Promise<Uint8Array> {
  return await runTool([bundledFfmpeg.path, "-v", "error", "-xerror", "-nostdin", ...command]);
}
