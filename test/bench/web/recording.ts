/** A generated recording for benchmarks and pictures of the editor: words, a plan and peaks. */
import { type EditorPlan, type RemovalReason, readPlan } from "../../../web/editor/model/plan";
import type { Words } from "../../../web/editor/model/words";

const TEXT =
  "So the first thing that we want to look at is how the recording gets from the microphone into the project. You can drop the file here, " +
  "and while it uploads you can already paste the script. What happens next is that every word gets a place in time, and each sentence " +
  "that was said twice is compared with its other takes. The last good one stays. Everything else is marked, and you can bring it back " +
  "with a single key. I think that is the part which saves the most time, because nobody enjoys listening to the same line four times.";
const ARABIC =
  "في البداية نريد أن ننظر إلى كيفية وصول التسجيل من الميكروفون إلى المشروع. يمكنك إسقاط الملف هنا وأثناء رفعه يمكنك لصق النص.";
const FILLERS = ["um,", "uh,", "you know,"];

/** A generator of numbers from 0 to 1 that are the same in each run. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export type Recording = { words: Words; plan: EditorPlan; waveform: ArrayBuffer };

type Removed = { start: number; end: number; reason: RemovalReason };

/** Creates a recording with about one removed span for fifteen words. */
export function makeRecording(count: number, language: string | null = null): Recording {
  const random = makeRandom(7);
  const source = (language === "ar" ? ARABIC : TEXT).split(" ");
  const words = { text: [] as string[], start: [] as number[], end: [] as number[] };
  const removed: Removed[] = [];
  const reviews: [number, number][] = [];
  let at = 0.4;
  let retake: number | null = null;
  const say = (text: string) => {
    const length = 0.12 + 0.04 * text.length * (0.7 + random() * 0.6);
    words.text.push(text);
    words.start.push(Math.round(at * 1e3) * 1e3);
    words.end.push(Math.round((at + length) * 1e3) * 1e3);
    at += length + 0.02 + random() * 0.06;
  };
  const remove = (start: number, reason: RemovalReason) => removed.push({ start, end: at, reason });

  for (let index = 0; words.text.length < count; index++) {
    const text = source[index % source.length]!;
    if (index % 17 === 5) {
      const start = at;
      say(FILLERS[index % FILLERS.length]!);
      remove(start, "filler");
    }
    if (index % 97 === 20) retake = at;
    say(text);
    if (retake !== null && index % 97 === 32) {
      at += 0.2;
      remove(retake, index % 2 ? "off_script" : "retake");
      retake = null;
    }
    if (index % 61 === 40) reviews.push([at - 1.2, at]);
    if (!text.endsWith(".") || retake !== null) continue;
    const start = at + 0.2;
    at += 0.5 + random() * 2.2;
    removed.push({ start, end: at - 0.15, reason: random() < 0.15 ? "noise" : "silence" });
  }
  return { words, plan: toPlan(at + 1, removed, reviews), waveform: makeWaveform(at + 1, words, random) };
}

function toPlan(duration: number, removed: Removed[], reviews: [number, number][]): EditorPlan {
  const segments: { start: number; end: number; review: string | null }[] = [];
  let at = 0;
  for (const { start, end } of [...removed, { start: duration, end: duration }]) {
    if (start > at) {
      const review = reviews.find(([from]) => from >= at && from < start);
      segments.push({ start: at, end: start, review: review ? "might be another take of the line before" : null });
    }
    at = end;
  }
  return readPlan({ source_duration: duration, segments, removed: removed.map((span) => ({ ...span, rule: null })) });
}

const RATE = 50;

function makeWaveform(duration: number, words: Words, random: () => number): ArrayBuffer {
  const count = Math.ceil(duration * RATE);
  const bytes = new ArrayBuffer(12 + count);
  const peaks = new Uint8Array(bytes, 12);
  const header = new DataView(bytes);
  for (const [index, letter] of [..."OCW1"].entries()) header.setUint8(index, letter.charCodeAt(0));
  header.setUint32(4, RATE, true);
  header.setUint32(8, count, true);
  for (let index = 0; index < count; index++) peaks[index] = 2 + random() * 6;
  for (const [index, start] of words.start.entries()) {
    const [from, to] = [(start / 1e6) * RATE, (words.end[index]! / 1e6) * RATE];
    const loud = 90 + random() * 150;
    for (let at = Math.floor(from); at < to; at++)
      peaks[at] = loud * Math.sin(((at - from + 0.7) / (to - from + 1.4)) * Math.PI) * (0.6 + random() * 0.4);
  }
  return bytes;
}
