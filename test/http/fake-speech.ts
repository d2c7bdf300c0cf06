/**
 * A recognizer for tests: it reads the audio and returns one made-up word for each span that is not silent. The same
 * audio always returns the same words. A test can hold its calls to control when a job continues.
 */
import {
  type AlignmentRequest,
  type AnalysisAudioFile,
  ENERGY_HOP,
  type ForcedAlignment,
  PCM_SAMPLE_RATE_HZ,
  type SpeechAnalysis,
  type SpeechEngine,
  type Utterance,
  type Word,
} from "../../src/domain/speech";
import { type Span, TICKS_PER_SECOND } from "../../src/domain/time";
import { allSamples } from "../analysis-audio";
import type { TestRecording } from "../unit/work/cuts/test-recording";

/** A held call: `reached` resolves when a job waits in it, `release` lets this job and later ones continue. */
export type Hold = { reached: Promise<void>; release(): void };

export type FakeSpeech = SpeechEngine & {
  /** Makes the next calls of this method wait until they are released or aborted. */
  hold(method: "analyze" | "forcedAlign" | "recognize"): Hold;
  /** Makes the next call of `analyze` fail with this error. */
  failNext(error: Error): void;
  analyzed: number;
  /** Words that the next calls of `analyze` report before they wait. */
  early: readonly Word[];
  /** If set, calls return what is said in this recording instead of made-up words. */
  spoken: Pick<TestRecording, "analysis" | "forcedAlign" | "recognize"> | null;
};

const QUIET_DB = -50;
const MAX_GAP_TICKS: number = 0.1 * TICKS_PER_SECOND;
const ENGLISH = { code: "en", confidence: 0.98 };
const WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"];

/** Creates the recognizer. It supports English and not the language `xx`. */
export function fakeSpeech(): FakeSpeech {
  const holds = new Map<string, { arrive: () => void; go: Promise<void> }>();
  const failures: Error[] = [];

  async function pass(method: string, signal: AbortSignal | undefined, onSaved?: () => void): Promise<void> {
    const hold = holds.get(method);
    if (hold) {
      hold.arrive();
      onSaved?.();
      const aborted = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
      await Promise.race([hold.go, aborted.promise]);
    }
    signal?.throwIfAborted();
  }

  const engine: FakeSpeech = {
    analyzed: 0,
    early: [],
    spoken: null,
    hold: (method) => {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      holds.set(method, { arrive: reached.resolve, go: released.promise });
      return {
        reached: reached.promise,
        release: () => {
          holds.delete(method);
          released.resolve();
        },
      };
    },
    failNext: (error) => failures.push(error),
    warmUp: () => {},
    canTranscribe: (language) => language !== "xx",
    analyze: async (pcm, options) => {
      if (engine.early.length > 0) options.onWords?.([...engine.early], 0);
      await pass("analyze", options.signal, options.onSaved);
      engine.analyzed++;
      const failure = failures.shift();
      if (failure) throw failure;
      const analysis =
        engine.spoken === null ? await analyzePcm(pcm) : { ...engine.spoken.analysis, language: ENGLISH };
      options.onProgress?.(1);
      return engine.canTranscribe(options.language) ? analysis : { ...analysis, transcript: null, language: null };
    },
    forcedAlign: async (_, requests, options) => {
      await pass("forcedAlign", options?.signal);
      return engine.spoken?.forcedAlign([...requests]) ?? requests.map(forced);
    },
    recognize: async (pcm, requests, options) => {
      await pass("recognize", options?.signal);
      if (engine.spoken !== null) return engine.spoken.recognize([...requests]);
      const { transcript } = await analyzePcm(pcm);
      return requests.map(({ window }) => ({
        words: transcript!.words.filter((word) => window.start <= word.start && word.end <= window.end),
        meanLogProb: -0.2,
      }));
    },
    close: async () => {},
  };
  return engine;
}

async function analyzePcm(pcm: AnalysisAudioFile): Promise<SpeechAnalysis> {
  const samples = await allSamples(pcm.path);
  const energy = contour(samples);
  const speech = loudSpans(energy);
  const words = speech.map(
    (span, n): Word => ({ text: WORDS[n % WORDS.length]!, start: span.start, end: span.end, confidence: 0.9 }),
  );
  const utterances = words.map((word): Utterance => ({ ...word, meanLogProb: -0.2 }));
  return {
    duration: Math.round((samples.length * TICKS_PER_SECOND) / PCM_SAMPLE_RATE_HZ),
    speech,
    energy,
    transcript: { language: "en", words, utterances },
    language: ENGLISH,
  };
}

function contour(samples: Int16Array): Float32Array {
  const hop = (PCM_SAMPLE_RATE_HZ * ENERGY_HOP) / TICKS_PER_SECOND;
  return Float32Array.from({ length: Math.ceil(samples.length / hop) }, (_, n) => {
    const frame = samples.subarray(n * hop, (n + 1) * hop);
    const power = frame.reduce((sum, sample) => sum + (sample / 32768) ** 2, 0) / frame.length;
    return 10 * Math.log10(power + 1e-10);
  });
}

function loudSpans(energy: Float32Array): Span[] {
  const spans: Span[] = [];
  energy.forEach((level, n) => {
    if (level < QUIET_DB) return;
    const [start, end] = [n * ENERGY_HOP, (n + 1) * ENERGY_HOP];
    const last = spans.at(-1);
    if (last && start - last.end <= MAX_GAP_TICKS) last.end = end;
    else spans.push({ start, end });
  });
  return spans;
}

/** Spreads the text evenly over its window. It matches if it contains one of the made-up words. */
function forced({ window, text }: AlignmentRequest): ForcedAlignment {
  const words = text.split(/\s+/).filter(Boolean);
  const logProb = words.some((word) => WORDS.includes(word.toLowerCase())) ? -0.2 : -6;
  const step = (window.end - window.start) / Math.max(1, words.length);
  return {
    words: words.map((word, n) => ({
      text: word,
      start: Math.round(window.start + n * step),
      end: Math.round(window.start + (n + 1) * step),
      confidence: Math.exp(logProb),
      logProb,
    })),
    meanLogProb: logProb,
    tailLogProb: logProb,
  };
}
