import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromSeconds, type Span } from "../../../../src/domain/time";
import { createAudioFile } from "../../../../src/lib/analysis-audio/writer";
import { compareAudio, describeAudio, matchAudio } from "../../../../src/work/cuts/audio-comparer";

const RATE = 16_000;
/** The two lowest resonances of some vowels, in Hz. */
const VOWELS = { a: [730, 1090], i: [270, 2290], u: [300, 870], e: [530, 1840], o: [570, 840] } as const;
type Utterance = { vowels: (keyof typeof VOWELS)[]; pitch: number; seconds: number; noise: number };

let folder: string;
let path: string;
const spans: Span[] = [];
const UTTERANCES: Utterance[] = [
  { vowels: ["a", "i", "u", "e"], pitch: 110, seconds: 0.2, noise: 0 },
  { vowels: ["a", "i", "u", "e", "o", "a"], pitch: 118, seconds: 0.24, noise: 0 },
  { vowels: ["a", "i", "o", "e", "o", "a"], pitch: 110, seconds: 0.2, noise: 0 },
  { vowels: ["e", "u", "a", "o", "i", "u"], pitch: 110, seconds: 0.2, noise: 0 },
  { vowels: ["a", "i", "u", "e"], pitch: 115, seconds: 0.18, noise: 400 },
  { vowels: ["a"], pitch: 110, seconds: 0.15, noise: 0 },
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offcut-sounds-"));
  path = join(folder, "analysis.audio");
  const file = await createAudioFile(path);
  let at = 0;
  for (const utterance of UTTERANCES) {
    const samples = say(utterance);
    spans.push({ start: fromSeconds(at / RATE), end: fromSeconds((at + samples.length) / RATE) });
    at += samples.length;
    await file.write(samples);
  }
  await file.finish();
  await file.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Pulses of a voice that excite the resonances of each vowel in turn. */
function say({ vowels, pitch, seconds, noise }: Utterance): Int16Array {
  const period = Math.round(RATE / pitch);
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 0x7fffffff;
    return seed / 0x7fffffff - 0.5;
  };
  return Int16Array.from({ length: Math.round(vowels.length * seconds * RATE) }, (_, n) => {
    const vowel = VOWELS[vowels[Math.min(vowels.length - 1, Math.floor(n / (seconds * RATE)))]!];
    const since = (n % period) / RATE;
    const tone = vowel.reduce((sum, hz) => sum + Math.exp(-since * 300) * Math.cos(2 * Math.PI * hz * since), 0);
    return Math.round(6_000 * tone + 2 * noise * random());
  });
}

const compare = async (take: number, retake: number) =>
  (await compareAudio({ path }, [{ take: spans[take]!, retake: spans[retake]! }]))[0];

test("a take sounds like the beginning of its retake, slower and in another pitch", async () => {
  const match = await compare(0, 1);
  expect(match!.worst).toBeLessThan(0.5);
  expect(Math.abs(match!.duration - fromSeconds(4 * 0.24))).toBeLessThan(fromSeconds(0.12));
});

test("a take sounds like its retake in noise", async () => {
  expect((await compare(4, 1))!.worst).toBeLessThan(0.6);
});

test("other sounds are unlike, and one other vowel is found", async () => {
  expect((await compare(0, 3))!.distance).toBeGreaterThan(0.5);
  const [same, other] = [await compare(0, 1), await compare(0, 2)];
  expect(other!.worst).toBeGreaterThan(2 * same!.worst);
});

test("silence is like nothing", () => {
  const silence = describeAudio(new Int16Array(RATE));
  expect(matchAudio(silence, silence)).toBeNull();
});

test.each([
  [1_900, false],
  [2_001, true],
])("takes of %p frames are too long: %p", (count, isTooLong) => {
  const frames = Array.from({ length: count }, (_, i) => new Float32Array(13).fill(Math.sin(i)));
  expect(matchAudio(frames, frames) === null).toBe(isTooLong);
});

test("a sound that is too short, or beyond the end, is not compared", async () => {
  expect(await compare(5, 1)).toBeNull();
  const beyond = { start: fromSeconds(1_000), end: fromSeconds(1_002) };
  expect(await compareAudio({ path }, [{ take: spans[0]!, retake: beyond }])).toEqual([null]);
  expect(await compareAudio({ path }, [])).toEqual([]);
});
