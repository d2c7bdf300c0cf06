/** Arbitrary inputs of the planner: whatever a recognizer, a file and a user can give. */
import fc from "fast-check";
import type { ProbedMedia } from "../../../../src/domain/media";
import { CUT_MODES, type CutOptions } from "../../../../src/domain/plan";
import type {
  AlignmentRequest,
  AudioMatch,
  AudioPair,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  SpeechAnalysis,
  Word,
} from "../../../../src/domain/speech";
import { type FrameTimes, fromSeconds, type Span } from "../../../../src/domain/time";
import type { VoiceFeatures } from "../../../../src/domain/voice";

export type PlanInput = {
  analysis: SpeechAnalysis;
  probed: ProbedMedia;
  options: CutOptions;
  script: string;
  language: string | null;
  /** Of the alignments. */
  seed: number;
};

const VOCABULARY =
  "we we the the a key lamp lamps turn to open. open again, sorry um uh hm 24 twenty-four river. it's".split(" ");
const ODD_WORDS = [
  "",
  " ",
  "��",
  "…",
  "(.*)+$",
  "[",
  "\\",
  "'",
  "日本語",
  "ß",
  "İ",
  "1,000,000.5",
  "9".repeat(40),
  "a\u0301",
];

const text = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...VOCABULARY) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_WORDS) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: "binary" }) },
);

/** Words anywhere: overlapping, at the same time, of no length, beyond the end. */
const scatteredWords = (duration: number): fc.Arbitrary<Word[]> =>
  fc.array(
    fc
      .record({
        text,
        start: fc.integer({ min: -200_000, max: duration + 200_000 }),
        length: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 900_000 }), fc.integer({ min: 0, max: duration })),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      })
      .map(({ length, ...word }) => ({ ...word, end: word.start + length })),
    { maxLength: 30 },
  );

/** Words in a row with pauses, so that lines are repeated. */
const fluentWords = (duration: number): fc.Arbitrary<Word[]> =>
  fc
    .array(
      fc.record({
        text,
        length: fc.integer({ min: 60_000, max: 500_000 }),
        pause: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 0, max: 900_000 })),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { maxLength: 80 },
    )
    .map((all) => {
      let at = 0;
      const words: Word[] = [];
      for (const { length, pause, ...word } of all) {
        const start = at + pause;
        at = start + length;
        if (at <= duration) words.push({ ...word, start, end: at });
      }
      return words;
    });

const speechOf = (duration: number): fc.Arbitrary<Span[]> =>
  fc.uniqueArray(fc.integer({ min: 0, max: duration }), { maxLength: 16 }).map((edges) => {
    const sorted = edges.sort((a, b) => a - b);
    return Array.from({ length: sorted.length >> 1 }, (_, i) => ({ start: sorted[2 * i]!, end: sorted[2 * i + 1]! }));
  });

/** Blocks of constant level, or loud where there is speech. */
const energyOf = (duration: number, speech: readonly Span[]): fc.Arbitrary<Float32Array> => {
  const size = Math.ceil(duration / 5_000);
  const follows = new Float32Array(size).fill(-70);
  for (const { start, end } of speech) follows.fill(-20, start / 5_000, end / 5_000);
  const level = fc.oneof(fc.constantFrom(-100, -70, -20, 0), fc.double({ min: -100, max: 3, noNaN: true }));
  const blocks = fc.array(fc.record({ level, hops: fc.integer({ min: 1, max: 300 }) }), {
    minLength: 1,
    maxLength: 40,
  });
  const anywhere = blocks.map((all) => {
    const energy = new Float32Array(size);
    for (let i = 0, at = 0; at < size; i++) {
      const block = all[i % all.length]!;
      energy.fill(block.level, at, at + block.hops);
      at += block.hops;
    }
    return energy;
  });
  return fc.oneof(fc.constant(follows), anywhere, fc.constant(new Float32Array(0)));
};

/** Frame times of a recording of this duration: none, a constant rate, or any. */
const framesOf = (duration: number): fc.Arbitrary<FrameTimes | null> =>
  fc.oneof(
    fc.constant(null),
    fc
      .record({
        rate: fc.constantFrom(
          { num: 25, den: 1 },
          { num: 30_000, den: 1_001 },
          { num: 60, den: 1 },
          { num: 1, den: 1 },
        ),
        first: fc.constantFrom(0, 33_000),
        share: fc.double({ min: 0.2, max: 1.1, noNaN: true }),
      })
      .map(
        ({ rate, first, share }): FrameTimes => ({
          kind: "constant",
          rate,
          first,
          count: Math.max(1, Math.floor((duration * share * rate.num) / rate.den / 1_000_000)),
        }),
      ),
    fc.uniqueArray(fc.integer({ min: 0, max: duration }), { minLength: 1, maxLength: 80 }).map(
      (times): FrameTimes => ({
        kind: "listed",
        rate: { num: 25, den: 1 },
        times: Float64Array.from(times).sort(),
        end: duration,
      }),
    ),
  );

const optionsOf: fc.Arbitrary<CutOptions> = fc.oneof(
  fc.constantFrom(...Object.values(CUT_MODES)),
  fc.record({
    mode: fc.constantFrom("tight" as const, "natural" as const, "loose" as const),
    min_silence_seconds: fc.double({ min: 0.1, max: 10, noNaN: true }),
    padding_before_seconds: fc.double({ min: 0, max: 2, noNaN: true }),
    padding_after_seconds: fc.double({ min: 0, max: 2, noNaN: true }),
    remove_fillers: fc.boolean(),
    remove_retakes: fc.boolean(),
  }),
);

/** No script, one with the words of the recording, or any other text. */
const scriptOf = (words: readonly Word[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(""),
    fc.constant(words.map((word) => word.text).join(" ")),
    fc
      .array(fc.array(text, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 5 })
      .map((lines) => lines.map((line) => line.join(" ")).join("\n")),
    fc.constantFrom(
      "open",
      "������",
      "(((",
      "[we] *turn* `the` <b>key</b>",
      "we ".repeat(300),
      "# Title\n\n- we open.\n- the key",
    ),
    fc.string({ maxLength: 200, unit: "binary" }),
  );

/** A recording of 0.05 to 40 seconds, with or without frames, transcript and script. */
export const recordings: fc.Arbitrary<PlanInput> = fc
  .oneof(fc.integer({ min: 50_000, max: fromSeconds(3) }), fc.integer({ min: fromSeconds(3), max: fromSeconds(40) }))
  .chain((duration) =>
    fc
      .record({
        words: fc.oneof(fluentWords(duration), scatteredWords(duration)),
        hasTranscript: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
        speech: speechOf(duration),
        likeWords: fc.boolean(),
      })
      .chain(({ words, hasTranscript, speech: anywhere, likeWords }) => {
        const speech = likeWords ? spoken(words, duration) : anywhere;
        return fc
          .record({
            energy: energyOf(duration, speech),
            frames: framesOf(duration),
            options: optionsOf,
            script: scriptOf(words),
            language: fc.constantFrom(null, "en", "de"),
            seed: fc.nat(),
          })
          .map(({ energy, frames, ...rest }) => ({
            ...rest,
            analysis: {
              duration,
              speech,
              energy,
              transcript: hasTranscript ? { language: rest.language, words, utterances: [] } : null,
            },
            probed: {
              info: { type: "audio", demuxer: "wav", duration, startPts: 0, video: null, audio: [], timecode: null },
              frames,
            } satisfies ProbedMedia,
          }));
      }),
  );

function spoken(words: readonly Word[], duration: number): Span[] {
  const out: Span[] = [];
  for (const word of [...words].sort((a, b) => a.start - b.start)) {
    const [start, end] = [Math.max(0, word.start), Math.min(duration, word.end)];
    const last = out.at(-1);
    if (end <= start) continue;
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

/** Returns random numbers that are the same for the same request. */
function createRandom(seed: number, request: AlignmentRequest | RecognitionRequest | AudioPair | Span): () => number {
  let state = Number(BigInt.asUintN(32, BigInt(Bun.hash(`${seed}${JSON.stringify(request)}`))));
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Creates an aligner with random results that are the same for the same request. */
export function createRandomAligner(seed: number): (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]> {
  return async (requests) =>
    requests.map((request) => {
      const random = createRandom(seed, request);
      const { start, end } = request.window;
      const kind = random();
      if (kind > 0.95) return { words: [], meanLogProb: Number.NaN, tailLogProb: Number.NaN };
      const textWords = request.text.split(" ");
      const words = textWords.map((word, i) => {
        const share = kind < 0.5 ? i / textWords.length : random();
        const at = start + Math.floor(share * (end - start));
        const logProb = kind < 0.6 ? -random() : -12 * random();
        return { text: word, start: at, end: at + 1 + Math.floor(random() * 300_000), confidence: random(), logProb };
      });
      return { words, meanLogProb: kind < 0.6 ? -random() : -6 * random(), tailLogProb: -10 * random() };
    });
}

const RECOGNIZED_TEXTS = ["um", "Uh,", "topic", "the", "the", "measure", "Ah.", ""];

/** Creates a recognizer with random results that are the same for the same request. */
export function createRandomRecognizer(seed: number): (requests: RecognitionRequest[]) => Promise<Recognition[]> {
  return async (requests) =>
    requests.map((request) => {
      const random = createRandom(seed, request);
      const { start, end } = request.window;
      const words = Array.from({ length: Math.floor(4 * random()) }, () => {
        const at = start + Math.floor(random() * (end - start));
        const text = RECOGNIZED_TEXTS[Math.floor(random() * RECOGNIZED_TEXTS.length)]!;
        return { text, start: at, end: at + 1 + Math.floor(random() * 300_000), confidence: random() };
      });
      return { words, meanLogProb: words.length === 0 ? -Number.MAX_VALUE : -2 * random() };
    });
}

/** Creates a voice meter with random results that are the same for the same span. */
export function createRandomVoices(seed: number): (spans: Span[]) => Promise<VoiceFeatures[]> {
  return async (spans) =>
    spans.map((span) => {
      const random = createRandom(seed, span);
      return random() < 0.2
        ? null
        : { pitch: 70 + 300 * random(), level: -50 * random(), voiced: span.end - span.start };
    });
}

/** Creates a comparer of sounds with random results that are the same for the same pair. */
export function createRandomMatches(seed: number): (pairs: AudioPair[]) => Promise<(AudioMatch | null)[]> {
  return async (pairs) =>
    pairs.map((pair) => {
      const random = createRandom(seed, pair);
      const [distance, worst] = [random(), random()];
      const duration = random() * (pair.retake.end - pair.retake.start);
      return random() < 0.2 ? null : { distance, worst, duration };
    });
}
