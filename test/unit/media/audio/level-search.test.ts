/** The levels that are tried until a file has the target loudness. Files are simulated. */
import { expect, test } from "bun:test";
import type { LoudnessSteps } from "../../../../src/domain/loudness";
import { searchLevel } from "../../../../src/media/audio/level-search";
import type { OutputLevel } from "../../../../src/media/audio/leveler";

/** Ten seconds at one level, in LUFS, with peaks that much above it. */
const createSteps = (loudness: number, peakAbove: number) => ({
  energies: new Float32Array(1_000).fill(10 ** ((loudness + 0.691) / 10)),
  peaks: Float32Array.from({ length: 1_000 }, (_, n) => (n % 10 === 0 ? 10 ** ((loudness + peakAbove) / 20) : 0)),
});
/** Ten seconds of a file, with one peak. */
function toSteps({ integrated, peak }: { integrated: number; peak: number }): LoudnessSteps {
  const energies = new Float32Array(100).fill(10 ** ((integrated + 0.691) / 10));
  return { energies, peaks: new Float32Array(100).fill(0.1).fill(10 ** (peak / 20), 50, 51) };
}

const toDecibels = (factor: number) => 20 * Math.log10(factor);

/** Gains in decibels. */
type TriedLevel = { gain: number; ceiling: number; ceilingAtPeak: number; isClipped: boolean };

/** Returns the loudness of the last file and all levels. */
async function search(
  steps: ReturnType<typeof createSteps>,
  target: number,
  encode: (level: TriedLevel) => { integrated: number; peak: number },
) {
  const levels: TriedLevel[] = [];
  const { integrated } = await searchLevel(steps, target, async (level: OutputLevel) => {
    const { gain, ceiling, lowered, isClipped = false } = level;
    const at = (step: number) => toDecibels(ceiling * (lowered?.[step] ?? 1));
    levels.push({ gain: toDecibels(gain), ceiling: at(0), ceilingAtPeak: at(50), isClipped });
    return toSteps(encode(levels.at(-1)!));
  });
  return { integrated: integrated!, levels };
}

test("where one gain is enough, one file is written", async () => {
  const { levels } = await search(createSteps(-30, 10), -16, ({ gain }) => ({ integrated: -30 + gain, peak: -6 }));
  expect(levels.length).toBe(1);
  expect(levels[0]!.gain).toBeCloseTo(14, 2);
  expect(levels[0]!.isClipped).toBe(false);
});

test("a file that differs from the prediction is corrected", async () => {
  const encode = ({ gain }: { gain: number }) => ({ integrated: -30.6 + gain, peak: -6 });
  const { integrated, levels } = await search(createSteps(-30, 10), -16, encode);
  expect(Math.abs(integrated + 16)).toBeLessThanOrEqual(0.15);
  expect(levels.length).toBe(2);
});

test("where the encoder adds to a peak, the ceiling is lower", async () => {
  const { levels } = await search(createSteps(-30, 10), -16, ({ gain, ceilingAtPeak }) => ({
    integrated: -30 + gain,
    peak: ceilingAtPeak + 0.8,
  }));
  expect(levels.map(({ ceilingAtPeak }) => ceilingAtPeak.toFixed(1))).toEqual(["-1.3", "-1.9"]);
  expect(levels.map(({ ceiling }) => ceiling.toFixed(1))).toEqual(["-1.3", "-1.3"]);
});

test("where the encoder adds to many peaks, the ceiling is lower everywhere, until no peak exceeds the maximum", async () => {
  const ceilings: number[] = [];
  await searchLevel(createSteps(-30, 10), -16, async ({ ceiling, lowered }) => {
    ceilings.push(toDecibels(ceiling * (lowered?.[0] ?? 1)));
    // Each file exceeds it elsewhere.
    const steps = toSteps({ integrated: -16, peak: -6 });
    steps.peaks.fill(10 ** ((ceilings.at(-1)! + 3 - ceilings.length * 0.2) / 20), 70, 80);
    return steps;
  });
  expect(ceilings.length).toBeLessThanOrEqual(7);
  expect(ceilings.at(-1)! + 3 - ceilings.length * 0.2).toBeLessThanOrEqual(-1);
});

test("an encoder that adds more to peaks with each file gets a wider margin each time", async () => {
  let files = 0;
  const { levels } = await search(createSteps(-30, 10), -16, ({ gain, ceilingAtPeak }) => ({
    integrated: -30 + gain,
    peak: ceilingAtPeak + 1 + 0.25 * files++,
  }));
  expect(levels.length).toBe(4);
});

test("cancelled while the gain is predicted, it encodes nothing", async () => {
  const controller = new AbortController();
  let files = 0;
  const encode = async () => toSteps({ integrated: -16, peak: -2 - files++ });
  const searching = searchLevel(createSteps(-30, 10), -16, encode, controller.signal);
  setImmediate(() => controller.abort(new Error("cancelled by the user")));
  await expect(searching).rejects.toThrow("cancelled by the user");
  expect(files).toBe(0);
});

test("where the limiter saturates, the clipper is used", async () => {
  const encode = ({ gain, isClipped }: { gain: number; isClipped: boolean }) => ({
    integrated: isClipped ? -30 + gain - Math.max(0, gain - 15) / 2 : Math.min(-30 + gain, -13),
    peak: -1.2,
  });
  const { integrated, levels } = await search(createSteps(-30, 17), -10, encode);
  expect(levels.at(-1)!.isClipped).toBe(true);
  expect(Math.abs(integrated + 10)).toBeLessThanOrEqual(0.15);
});

test("what cannot be reached ends after a few files, at a gain that has a limit", async () => {
  const encode = ({ gain }: { gain: number }) => ({ integrated: Math.min(-30 + gain, -15), peak: -1.2 });
  const { levels } = await search(createSteps(-30, 40), -9, encode);
  expect(levels.length).toBeLessThanOrEqual(6);
  expect(Math.max(...levels.map(({ gain }) => gain))).toBeLessThanOrEqual(33.01);
  // The maximum gain is the limit: the clipper would add nothing.
  const quiet = await search(createSteps(-62, 10), -9, ({ gain }) => ({ integrated: -62 + gain, peak: -2 }));
  expect(quiet.levels.map(({ gain, isClipped }) => [Math.round(gain), isClipped])).toEqual([[50, false]]);
});
