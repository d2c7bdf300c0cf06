import { expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../src/domain/errors";
import type { ProbedMedia } from "../../../src/domain/media";
import type { CutOptions, Plan } from "../../../src/domain/plan";
import type { AlignmentRequest, ForcedAlignment, SpeechAnalysis, Word } from "../../../src/domain/speech";
import { fromSeconds, getFrameCount, getFrameTime, type Span } from "../../../src/domain/time";
import { planCut } from "../../../src/work/plan-cut";
import { createRandomRecognizer, createRandomVoices, framesOf } from "../domain/planning/arbitrary-recordings";

const VOCABULARY = [
  "the",
  "a",
  "key",
  "lamp",
  "lamps",
  "um",
  "turn",
  "twenty",
  "24",
  "we",
  "open.",
  "again,",
  "sorry",
  "river.",
];

const seconds = (min: number, max: number) => fc.integer({ min: min * 1_000_000, max: max * 1_000_000 });

const word = (duration: number): fc.Arbitrary<Word> =>
  fc
    .record({
      text: fc.constantFrom(...VOCABULARY),
      start: fc.integer({ min: 0, max: duration }),
      length: fc.integer({ min: 0, max: 900_000 }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ length, ...rest }) => ({ ...rest, end: Math.min(duration, rest.start + length) }));

const speech = (duration: number): fc.Arbitrary<Span[]> =>
  fc.uniqueArray(fc.integer({ min: 0, max: duration }), { maxLength: 12 }).map((edges) => {
    const sorted = edges.sort((a, b) => a - b);
    return Array.from({ length: sorted.length >> 1 }, (_, i) => ({ start: sorted[2 * i]!, end: sorted[2 * i + 1]! }));
  });

type Block = { level: number; hops: number };
const blocks = fc.array(
  fc.record({ level: fc.integer({ min: -90, max: 0 }), hops: fc.integer({ min: 1, max: 120 }) }),
  {
    minLength: 1,
    maxLength: 60,
  },
);

/** An energy contour of blocks of constant level, repeated over the whole recording. */
function contour(duration: number, levels: readonly Block[]): Float32Array {
  const energy = new Float32Array(Math.ceil(duration / 5_000));
  for (let i = 0, at = 0; at < energy.length; i++) {
    const { level, hops } = levels[i % levels.length]!;
    energy.fill(level, at, at + hops);
    at += hops;
  }
  return energy;
}

const options: fc.Arbitrary<CutOptions> = fc.record({
  mode: fc.constant("natural" as const),
  min_silence_seconds: fc.double({ min: 0.1, max: 10, noNaN: true }),
  padding_before_seconds: fc.double({ min: 0, max: 2, noNaN: true }),
  padding_after_seconds: fc.double({ min: 0, max: 2, noNaN: true }),
  remove_fillers: fc.boolean(),
  remove_retakes: fc.boolean(),
});

const script = fc.oneof(
  fc.constant(""),
  fc
    .array(fc.array(fc.constantFrom(...VOCABULARY), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 })
    .map((lines) => lines.map((line) => line.join(" ")).join("\n")),
);

type PlanInput = {
  analysis: Omit<SpeechAnalysis, "energy">;
  blocks: Block[];
  probed: ProbedMedia;
  options: CutOptions;
  script: string;
  seed: number;
};

const inputs: fc.Arbitrary<PlanInput> = seconds(1, 20).chain((duration) =>
  fc
    .record({
      words: fc.option(fc.array(word(duration), { maxLength: 40 })),
      speech: speech(duration),
      blocks,
      frames: framesOf(duration),
      options,
      script,
      seed: fc.nat(),
    })
    .map(({ words, frames: shown, ...rest }) => ({
      ...rest,
      analysis: {
        duration,
        speech: rest.speech,
        transcript: words && { language: "en", words, utterances: [] },
      },
      probed: {
        info: { type: "audio", demuxer: "wav", duration, startPts: 0, video: null, audio: [], timecode: null },
        frames: shown,
      },
    })),
);

/** Creates an aligner with random results that are the same for the same request. */
function createRandomAligner(seed: number): (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]> {
  return async (requests) =>
    requests.map((request) => {
      let state = Number(BigInt.asUintN(32, BigInt(Bun.hash(`${seed}${JSON.stringify(request)}`))));
      const random = () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state / 2 ** 32;
      };
      const { start, end } = request.window;
      const kind = random();
      const words = request.text.split(" ").map((text) => {
        const at = start + Math.floor(random() * (end - start));
        const logProb = kind < 0.4 ? -random() : -12 * random();
        return { text, start: at, end: at + 1 + Math.floor(random() * 400_000), confidence: random(), logProb };
      });
      if (kind > 0.95) return { words: [], meanLogProb: Number.NaN, tailLogProb: Number.NaN };
      return { words, meanLogProb: kind < 0.4 ? -random() : -6 * random(), tailLogProb: -10 * random() };
    });
}

/** Returns the plan; null when the input cannot be planned. */
async function planOf(input: PlanInput, overrides: Partial<CutOptions> = {}): Promise<Plan | null> {
  const { probed, script: text, seed } = input;
  const analysis = { ...input.analysis, energy: contour(input.analysis.duration, input.blocks) };
  try {
    return await planCut({
      analysis,
      probed,
      script: text,
      options: { ...input.options, ...overrides },
      forcedAlign: createRandomAligner(seed),
      recognize: createRandomRecognizer(seed),
      measureVoices: createRandomVoices(seed),
      language: "en",
    });
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

const isKeptWhole = (plan: Plan, span: Span) =>
  plan.segments.some((one) => one.start <= span.start && span.end <= one.end);
const check = (property: (input: PlanInput) => Promise<void>) =>
  fc.assert(fc.asyncProperty(inputs, property), { numRuns: 400 });

test("segments are sorted, disjoint and at least a tenth of a second long", () =>
  check(async (input) => {
    const plan = await planOf(input);
    for (const [i, segment] of plan?.segments.entries() ?? []) {
      expect(segment.end - segment.start).toBeGreaterThanOrEqual(fromSeconds(0.1));
      if (i > 0) expect(segment.start).toBeGreaterThan(plan!.segments[i - 1]!.end);
    }
  }));

test("segments and removed spans tile the recording", () =>
  check(async (input) => {
    const plan = await planOf(input);
    if (!plan) return;
    let at = 0;
    for (const span of [...plan.segments, ...plan.removed].sort((a, b) => a.start - b.start)) {
      expect(span.start).toBe(at);
      expect(span.end).toBeGreaterThan(span.start);
      at = span.end;
    }
    expect(at).toBe(input.probed.info.duration);
    expect(plan.keptDuration).toBe(plan.segments.reduce((sum, { start, end }) => sum + end - start, 0));
  }));

test("edges are on frames, except the ends of the recording", () =>
  check(async (input) => {
    const plan = await planOf(input);
    const shown = input.probed.frames;
    for (const { start, end, startFrame, endFrame } of plan?.segments ?? []) {
      if (!shown) {
        expect([startFrame, endFrame]).toEqual([null, null]);
        continue;
      }
      if (start !== 0) expect(start).toBe(getFrameTime(shown, startFrame!));
      if (end !== input.probed.info.duration) expect(end).toBe(getFrameTime(shown, endFrame!));
      expect(startFrame!).toBeGreaterThanOrEqual(0);
      expect(endFrame!).toBeLessThanOrEqual(getFrameCount(shown));
      expect(endFrame!).toBeGreaterThan(startFrame!);
    }
  }));

test("the same input gives the same plan", () =>
  check(async (input) => {
    expect(await planOf(input)).toEqual(await planOf(structuredClone(input)));
  }));

test("every word is kept whole when nothing is to be removed", () =>
  check(async (input) => {
    const plan = await planOf({ ...input, script: "" }, { remove_fillers: false, remove_retakes: false });
    if (!plan) return;
    for (const spoken of input.analysis.transcript?.words ?? []) {
      if (spoken.end > spoken.start) expect(isKeptWhole(plan, spoken)).toBe(true);
    }
  }));

test("more padding never drops a word", () =>
  check(async (input) => {
    const { padding_before_seconds: before, padding_after_seconds: after } = input.options;
    const less = await planOf(input);
    const more = await planOf(input, { padding_before_seconds: before + 0.3, padding_after_seconds: after + 0.2 });
    expect(more === null).toBe(less === null);
    if (!less || !more) return;
    for (const spoken of input.analysis.transcript?.words ?? []) {
      if (isKeptWhole(less, spoken)) expect(isKeptWhole(more, spoken)).toBe(true);
    }
  }));

test("the chosen take is one of the candidates", () =>
  check(async (input) => {
    for (const take of (await planOf(input))?.takes ?? []) {
      expect(take.candidates[take.chosen]).toBeDefined();
      for (const candidate of take.candidates) expect(candidate.score).toBeWithin(0, 1.0001);
    }
  }));
