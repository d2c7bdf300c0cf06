/** A recording with recognizable frames and samples, and checks of its playback. */
import { join } from "node:path";
import { fromSeconds, type Range } from "../../web/editor/model/plan";
import { FFMPEG, makeMedia } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import type { ShownFrame } from "./player-page";

export const FRAME_RATE = 25;
const SAMPLE_RATE = 48_000;
const SAMPLES_PER_MS = SAMPLE_RATE / 1000;

/** Each frame has its number in 16 blocks; the audio is noise, in which every millisecond is unlike all others. */
export const numberedRecording = (seconds: number, size: string, rate: string): Promise<Uint8Array> =>
  makeMedia(
    "talk.mp4",
    ...["-f", "lavfi", "-i", `color=black:s=16x9:r=${rate},${NUMBER},scale=${size}:flags=neighbor`],
    ...["-f", "lavfi", "-i", `anoisesrc=c=white:seed=7:r=${SAMPLE_RATE}:a=0.3`, "-t", String(seconds)],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "160k"],
  );
const NUMBER = "geq=lum='if(mod(floor(N/pow(2,X)),2),235,16)':cb=128:cr=128";

/** Returns the audio of a file, or of its first seconds, as one channel. */
export async function readSamples(name: string, bytes: Uint8Array, seconds?: number): Promise<Float32Array> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, name);
  await Bun.write(path, bytes);
  const child = Bun.spawn(
    [
      ...[FFMPEG, "-v", "error", ...(seconds === undefined ? [] : ["-t", String(seconds)]), "-i", path],
      ...["-ac", "1", "-ar", String(SAMPLE_RATE), "-f", "f32le", "-"],
    ],
    { stdin: "ignore" },
  );
  return new Float32Array(await new Response(child.stdout).arrayBuffer());
}

/** Returns the numbers of the frames of these spans, which start and end on frames. */
export const listFrames = (kept: readonly Range[]): number[] =>
  kept.flatMap(({ start, end }) => {
    const [first, last] = [start, end].map((time) => Math.round((time * FRAME_RATE) / fromSeconds(1)));
    return Array.from({ length: last! - first! }, (_, index) => first! + index);
  });

/** Returns which frames were shown although they are removed, and which were not shown. */
export function compareFrames(shown: readonly ShownFrame[], kept: readonly Range[]) {
  const expected = new Set(listFrames(kept));
  const seen = new Set(shown.map(({ frame }) => frame));
  return {
    expected: expected.size,
    removed: [...seen].filter((frame) => !expected.has(frame)),
    missing: [...expected].filter((frame) => !seen.has(frame)),
  };
}

/** Returns how alike two stretches are: 1 for the same, about 0 for noise of other places. */
function correlate(a: Float32Array, atA: number, b: Float32Array, atB: number, length: number): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let n = 0; n < length; n++) {
    const [x, y] = [a[atA + n] ?? 0, b[atB + n] ?? 0];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb || 1);
}

/** Returns where `length` samples of `needle` are in `hay` between two places; null if nowhere. */
function locate(hay: Float32Array, [from, to]: [number, number], needle: Float32Array, at: number, length: number) {
  let best = { place: from, likeness: 0 };
  for (let place = Math.max(0, from); place < to; place++) {
    const likeness = correlate(hay, place, needle, at, length);
    if (likeness > best.likeness) best = { place, likeness };
  }
  return best.likeness > 0.5 ? best.place : null;
}

const toSamples = (time: number): number => Math.round((time * SAMPLE_RATE) / fromSeconds(1));

export type Join = {
  /** Delay of the next span compared to the cut, in samples; null if it was not found. */
  shift: number | null;
  /** Milliseconds around the join that play neither the end of the one span nor the start of the next. */
  wrongMs: number;
  /** Milliseconds of them with audio that follows the first span or precedes the next one in the recording. */
  removedMs: number;
};

const WINDOW = 1_600;
const SEARCH = 150 * SAMPLES_PER_MS;
/**
 * On a busy machine the browser pauses for lack of data, also in the middle of a span. The following audio is delayed
 * by as much.
 */
const MAX_STALL = 3 * SAMPLE_RATE;
const AROUND_MS = 60;

/** Compares a recording of the playback with the expected spans. */
export function compareAudio(played: Float32Array, source: Float32Array, kept: readonly Range[]): Join[] {
  // The first moments may not be recorded.
  const margin = Math.round(0.75 * (toSamples(kept[0]!.end) - toSamples(kept[0]!.start)));
  const anchor = toSamples(kept[0]!.start) + margin;
  const found = locate(played, [0, margin + 4 * SAMPLE_RATE], source, anchor, WINDOW);
  if (found === null) throw new Error("The first span is not in what was played.");
  let place = found - margin;
  const joins: Join[] = [];
  for (const [index, next] of kept.entries()) {
    const before = kept[index - 1];
    if (before === undefined) continue;
    place += toSamples(before.end) - toSamples(before.start);
    const [end, start] = [toSamples(before.end), toSamples(next.start)];
    const find = (expected: number, at: number) =>
      locate(played, [expected - SEARCH, expected + SEARCH], source, at, WINDOW) ??
      locate(played, [expected + SEARCH, expected + MAX_STALL], source, at, WINDOW);
    const last = find(place - WINDOW, end - WINDOW);
    if (last !== null) place = last + WINDOW;
    const first = find(place, start);
    const shift = last === null || first === null ? null : first - (last + WINDOW);
    if (first !== null) place = first;
    let [wrongMs, removedMs] = [0, 0];
    for (let ms = -AROUND_MS; ms < AROUND_MS; ms++) {
      const offset = ms * SAMPLES_PER_MS;
      const likeness = (at: number) => correlate(played, place + offset, source, at + offset, SAMPLES_PER_MS);
      const [asEnd, asStart] = [likeness(end), likeness(start)];
      if ((ms < 0 ? asEnd : asStart) > 0.6) continue;
      wrongMs++;
      if ((ms < 0 ? asStart : asEnd) > 0.6) removedMs++;
    }
    joins.push({ shift, wrongMs, removedMs });
  }
  return joins;
}
