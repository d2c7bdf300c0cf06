/** Recordings as data: words with times, energy and alignments, as a recognizer that makes no mistakes reports them. */
import { AppError } from "../../../../../src/domain/errors";
import type { ProbedMedia } from "../../../../../src/domain/media";
import { CUT_MODES, type Plan } from "../../../../../src/domain/plan";
import type { PlanSteps } from "../../../../../src/domain/planning/context";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { parseScript, type ScriptedRecording } from "../../../../../src/domain/planning/scripted/script-lines";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import {
  type AlignmentRequest,
  type AudioMatch,
  ENERGY_HOP,
  type ForcedAlignment,
  type SpeechAnalysis,
  type Word,
} from "../../../../../src/domain/speech";
import { measureWordDistance, normalizeWords } from "../../../../../src/domain/text/normalize";
import { alignWords } from "../../../../../src/domain/text/word-alignment";
import { planCut } from "../../../../../src/work/cuts/plan-cut";

const WORD_TICKS = 300_000;
const PAUSE_TICKS = 600_000;
const LEAD_IN_TICKS = 1_000_000;
const SPOKEN_LOG_PROB = -0.3;
const UNSPOKEN_LOG_PROB = -8;

/** Returns a recording of words of 0.3 s; `/` is a pause of 0.6 s. */
export function createRecording(text: string): SpeechAnalysis {
  const words: Word[] = [];
  let at = LEAD_IN_TICKS;
  for (const part of text.split(/\s+/).filter(Boolean)) {
    if (part === "/") at += PAUSE_TICKS;
    else {
      words.push({ text: part, start: at, end: at + WORD_TICKS, confidence: 0.95 });
      at += WORD_TICKS;
    }
  }
  return createRecordingOf(words);
}

/**
 * Returns a recording of the words in the form "word start end confidence | …", the times in hundredths of a second.
 */
export function createRecordedWords(text: string): SpeechAnalysis {
  const words = text.split("|").map((part) => {
    const [word, start, end, confidence] = part.trim().split(" ");
    return {
      text: word!,
      start: Number(start) * 10_000,
      end: Number(end) * 10_000,
      confidence: Number(confidence) / 100,
    };
  });
  return createRecordingOf(words);
}

/**
 * Returns a recording of words of 0.3 s: `/` is a pause of 0.6 s, `,` one of 0.2 s. A word with `?` was recognized with
 * a confidence of 0.4. Each `~` of a word is a second of voice without words.
 */
export function record(text: string, script: string): ScriptedRecording {
  let late = 0;
  const said = createRecording(text.replaceAll(/[?,]/g, "")).transcript!.words;
  const marks = text.split(/\s+/).filter((part) => part !== "/");
  const words = said.map((word, i) => {
    const [start, end] = [word.start + late, word.end + late];
    if (marks[i]!.includes(",")) late += 200_000;
    const voice = 1_000_000 * word.text.split("~").length - 1_000_000;
    if (voice > 0) {
      late += voice - 300_000;
      return { text: "", start, end: start + voice, confidence: 0 };
    }
    return { ...word, start, end, confidence: marks[i]!.includes("?") ? 0.4 : 0.95 };
  });
  const duration = words.at(-1)!.end + 1_000_000;
  const activity = { duration, speechRegions: words, noiseRegions: [], energy: new Float32Array(0), contrast: 50 };
  return { words, tokens: tokenize(words, "en"), lines: parseScript(script, "en"), activity, lexicon: ENGLISH };
}

/** Runs a planner step that makes no queries. Returns its result. */
export const run = <Result>(steps: Generator<unknown, Result>): Result => {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
};

function createRecordingOf(words: Word[]): SpeechAnalysis {
  const duration = words.at(-1)!.end + LEAD_IN_TICKS;
  const energy = new Float32Array(duration / ENERGY_HOP).fill(-70);
  for (const { start, end } of words) energy.fill(-20, start / ENERGY_HOP, end / ENERGY_HOP);
  const speech = words.map(({ start, end }) => ({ start, end }));
  return { duration, speech, energy, transcript: { language: "en", words, utterances: [] } };
}

/**
 * Aligns a text with the words in a window: those that are spoken there, in order, are likely, and the others are not.
 */
export function createAligner({ transcript }: SpeechAnalysis) {
  return ({ window, text, mute = [] }: AlignmentRequest): ForcedAlignment => {
    const isInside = (span: Word, { start, end }: { start: number; end: number }) =>
      (span.start + span.end) / 2 >= start && (span.start + span.end) / 2 < end;
    const spoken = transcript!.words.filter(
      (word) => isInside(word, window) && !mute.some((span) => isInside(word, span)),
    );
    const texts = text.split(/\s+/).filter((word) => normalizeWords(word).length > 0);
    const { pairs } = alignWords(
      texts.map((word) => normalizeWords(word).join("")),
      spoken.map((word) => normalizeWords(word.text).join("")),
      (a, b) => (measureWordDistance(a, b) < 0.3 ? 0 : 1),
    );
    let at = window.start;
    const words = texts.map((word, k) => {
      const own = spoken[pairs[k]!];
      const next = spoken[pairs.slice(k + 1).find((pair) => pair >= 0) ?? -1]?.start ?? window.end;
      const span = own ?? { start: at, end: Math.max(at + 1, Math.min(next, at + WORD_TICKS)) };
      at = span.end;
      const logProb = own ? SPOKEN_LOG_PROB : UNSPOKEN_LOG_PROB;
      return { text: word, start: span.start, end: span.end, confidence: own ? 0.9 : 0, logProb };
    });
    const mean = words.reduce((sum, word) => sum + word.logProb, 0) / Math.max(1, words.length);
    const tail = Math.min(...words.slice(-1).map((word) => word.logProb));
    return { words, meanLogProb: mean, tailLogProb: tail };
  };
}

/**
 * Runs a planner step in which each word of every text aligns with this log probability, or each text like this, and in
 * which all takes compare like this. Returns its result.
 */
export function runWithAlignments<Result>(
  steps: PlanSteps<Result>,
  alignment: number | ((request: AlignmentRequest) => ForcedAlignment),
  match: AudioMatch | null = null,
): Result {
  const alignAlike =
    (logProb: number) =>
    ({ window, text }: AlignmentRequest): ForcedAlignment => ({
      words: text.split(" ").map((word) => ({ text: word, ...window, confidence: 0.9, logProb })),
      meanLogProb: logProb,
      tailLogProb: logProb,
    });
  const alignText = typeof alignment === "number" ? alignAlike(alignment) : alignment;
  let step = steps.next(null);
  while (!step.done) {
    const query = step.value;
    if (query?.kind === "align") step = steps.next({ kind: "align", results: query.requests.map(alignText) });
    else if (query?.kind === "compare_audio")
      step = steps.next({ kind: "compare_audio", results: query.requests.map(() => match) });
    else throw new Error("Unexpected query.");
  }
  return step.value;
}

/**
 * Cuts a recording with its script; null when the script is refused. Without `isAlignable` the planner has the text
 * alone.
 */
export async function cutWithScript(
  analysis: SpeechAnalysis,
  script: string,
  isAlignable = true,
  language = "en",
): Promise<Plan | null> {
  const probed = {
    info: {
      type: "audio",
      demuxer: "wav",
      duration: analysis.duration,
      startPts: 0,
      video: null,
      audio: [],
      timecode: null,
    },
    frames: null,
  } satisfies ProbedMedia;
  const align = createAligner(analysis);
  const transcript = isAlignable ? analysis.transcript : { ...analysis.transcript!, forcing: false as const };
  try {
    return await planCut({
      analysis: { ...analysis, transcript },
      probed,
      script,
      options: CUT_MODES.natural,
      language,
      forcedAlign: async (requests) => requests.map(align),
      recognize: async (requests) => requests.map(() => ({ words: [], meanLogProb: -1 })),
      measureVoices: async (spans) => spans.map(() => ({ pitch: 120, level: -20, voiced: 0 })),
      compareAudio: async (pairs) => pairs.map(() => null),
    });
  } catch (error) {
    if (error instanceof AppError && error.code === "script_mismatch") return null;
    throw error;
  }
}

/** Returns the words of a recording that are whole in the segments of a plan. */
export function listKeptWords(analysis: SpeechAnalysis, plan: Plan): string {
  const isKept = (word: Word) => plan.segments.some((one) => one.start <= word.start && word.end <= one.end);
  return analysis
    .transcript!.words.filter(isKept)
    .map((word) => word.text)
    .join(" ");
}
