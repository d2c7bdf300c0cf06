/** A recording made of words for the tests of the planner, as a perfect recognizer would transcribe it. */
import type { AlignmentRequest, ForcedAlignment, SpeechAnalysis, Word } from "../../../src/domain/speech";
import { normalizeWords } from "../../../src/domain/text/normalize";
import { fromSeconds, type Span } from "../../../src/domain/time";

/** Spoken text, seconds of silence, or seconds of a sound without words. */
export type Moment = string | number | { hum: number } | { click: number };

export type World = {
  listening: SpeechAnalysis;
  force: (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>;
  /** The requests that were made. */
  asked: AlignmentRequest[];
  /** When a word (the n-th with this spelling) is spoken. */
  when: (text: string, nth?: number) => Span;
};

const LETTER = 0.055;
const LOUD = -20;
const QUIET = -75;

/** Creates a recording from consecutive moments. The words of one text follow each other closely. */
export function recording(...moments: Moment[]): World {
  const words: Word[] = [];
  const speech: Span[] = [];
  const sounds: Span[] = [];
  let at = 0;
  for (const moment of moments) {
    if (typeof moment === "number") at += fromSeconds(moment);
    else if (typeof moment === "string") {
      const start = at;
      for (const text of moment.split(" ")) {
        const length = fromSeconds(Math.max(0.12, LETTER * text.length));
        words.push({ text, start: at, end: at + length, confidence: 0.95 });
        at += length;
      }
      speech.push({ start, end: at });
      sounds.push({ start, end: at });
    } else {
      const length = fromSeconds("hum" in moment ? moment.hum : moment.click);
      if ("hum" in moment) speech.push({ start: at, end: at + length });
      sounds.push({ start: at, end: at + length });
      at += length;
    }
  }
  const energy = new Float32Array(Math.ceil(at / 5_000)).fill(QUIET);
  for (const sound of sounds) energy.fill(LOUD, Math.round(sound.start / 5_000), Math.round(sound.end / 5_000));
  const asked: AlignmentRequest[] = [];
  return {
    listening: { duration: at, speech, energy, transcript: { language: "en", words, utterances: [] } },
    asked,
    force: async (requests) => {
      asked.push(...requests);
      return requests.map((request) => listen(words, sounds, request));
    },
    when: (text, nth = 0) => words.filter((word) => word.text === text)[nth]!,
  };
}

const inside = (span: Span, other: Span) =>
  Math.min(span.end, other.end) - Math.max(span.start, other.start) > (span.end - span.start) / 2;

/** Words that are spoken in the window in this order align well; others do not. A sound without words resembles "um". */
function listen(
  words: readonly Word[],
  sounds: readonly Span[],
  { window, text, mute = [] }: AlignmentRequest,
): ForcedAlignment {
  const heard = words.filter((word) => inside(word, window) && !mute.some((span) => inside(word, span)));
  const told = text.split(" ").filter((word) => normalizeWords(word).length > 0);
  const same = (i: number, j: number) => normalizeWords(told[i]!).join() === normalizeWords(heard[j]!.text).join();
  const longest = Array.from({ length: told.length + 1 }, () => new Array<number>(heard.length + 1).fill(0));
  for (let i = told.length - 1; i >= 0; i--)
    for (let j = heard.length - 1; j >= 0; j--)
      longest[i]![j] = same(i, j) ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  let j = 0;
  let at = window.start;
  const hum = heard.length === 0 && sounds.some((sound) => inside(sound, window) && sound.end - sound.start < 900_000);
  const forced = told.map((word, i) => {
    while (j < heard.length && !(same(i, j) && longest[i]![j] === longest[i + 1]![j + 1]! + 1)) {
      if (longest[i + 1]![j] === longest[i]![j]) break;
      j++;
    }
    const found = j < heard.length && same(i, j) ? heard[j++]! : null;
    const fits = found !== null || (hum && /^(?:um|uh|hmm)\b/i.test(word));
    const start = found?.start ?? at;
    at = found?.end ?? Math.min(window.end, at + 10_000);
    return {
      text: word,
      start,
      end: Math.max(at, start + 1),
      confidence: fits ? 0.9 : 0.01,
      logProb: fits ? -0.1 : -9,
    };
  });
  const logProbs = forced.map((word) => word.logProb);
  const mean = logProbs.reduce((sum, value) => sum + value, 0) / Math.max(1, logProbs.length);
  return { words: forced, meanLogProb: mean, tailLogProb: Math.min(...logProbs.slice(-3)) };
}
