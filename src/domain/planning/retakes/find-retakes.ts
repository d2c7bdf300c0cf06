/**
 * Retakes found without a script: somebody begins, stops, and begins again. What was said first then matches the beginning of what is
 * said next. Sentences that only begin alike stay.
 */

import type { Word } from "../../speech";
import { rememberingDistance } from "../../text/normal";
import { fromSeconds } from "../../time";
import { createPace, type PlanSteps } from "../context";
import { beginnings, type HeardWord, pauseBefore, UNHEARD } from "../tokens";
import type { Echo, Echoes } from "./acoustic-repetitions";
import { isFragment } from "./broken-off-words";
import { type Judgement, judgeRepeat } from "./decide-repetition";
import { isWeighty } from "./different-words";
import { isRemark } from "./remarks";
import type { Repeat, Scene } from "./repetition";

/** Words `[from, to)` of the transcript that were said again from word `again` on. `remark`: talk between two takes. */
export type Retake = { from: number; to: number; again: number; kind: "retake" | "remark" };
/** Words `[from, to)` that look like a retake, but not surely. */
export type Doubt = { from: number; to: number; review: string };
export type Retakes = { retakes: Retake[]; doubts: Doubt[] };

const LONGEST_BACK = fromSeconds(45);
const LONGEST_BACK_WORDS = 130;
/** Share of an attempt's words that may differ from the words of the later take. */
const TOLERATED = 0.24;
/** What follows a phrase that matches is another phrase, perhaps talk about the take, when so much of it differs. */
const OTHER_PHRASE = 0.5;
/** Sound after the last word that fits, if no longer than this, is that word's. */
const REST = fromSeconds(0.3);
/** Of words that a recogniser is so sure of few are misspelled; this share of an attempt is not chance. */
const SURE = 0.8;
const SURE_SHARE = 0.3;
const UNCLEAR = 0.45;
const APART = fromSeconds(0.3);
const ENDING_SURE = 0.7;
/** After so many words that fit, a last one that does not was misheard. */
const LONG_ECHO = 8;
const AROUND = 2;
/** After so many words that fit, the same word at the end is no chance. */
const ENDS_ALIKE = 4;

/**
 * Finds the retakes in a transcript's words (sorted) and their heard words. `echoes`: what the sound said about attempts whose spelling
 * does not tell.
 */
export function* findRetakes(
  words: readonly Word[],
  heard: readonly HeardWord[],
  echoes: Echoes = { found: [], different: [] },
): PlanSteps<Retakes> {
  const pace = createPace();
  const starts = heard.map(() => false);
  for (const i of beginnings(words, heard)) starts[i] = true;
  const scene: Scene = { words, heard, starts, gone: new Uint8Array(heard.length), near: rememberingDistance() };
  const heardAgain = new Map(echoes.found.map((echo) => [place(echo.from, echo.again), echo]));
  const different = new Set(echoes.different.map((pair) => place(pair.from, pair.again)));
  const found: Retakes = { retakes: [], doubts: [] };
  for (let again = 1; again < heard.length; again++) {
    if (!starts[again] && !isRepetition(heard, again)) continue;
    for (let from = again - 1; from >= 0 && withinReach(heard, from, again); from--) {
      if (heard[again - 1]!.word === heard[again]!.word || !isOpen(scene, from, again)) continue;
      if (pace((again - from) ** 2)) yield [];
      const here = place(from, again);
      const repeats = [sameSpelling(scene, from, again, different.has(here)), sameSound(scene, heardAgain.get(here))];
      const { repeat, verdict } = firstVerdict(scene, repeats);
      if (repeat) note(found, scene, repeat, verdict);
    }
  }
  return found;
}

/** Whether an attempt may begin here: where nothing is gone yet, or where only a part of what was said then is. */
function isOpen({ gone, starts }: Scene, from: number, again: number): boolean {
  if (!gone[from]) return true;
  if (!starts[from] || gone[from - 1]) return false;
  for (let i = from; i < again; i++) if (!gone[i]) return true;
  return false;
}

const place = (from: number, again: number) => `${from}-${again}`;

/** The word before, or the two before, are said again. */
function isRepetition(heard: readonly HeardWord[], i: number): boolean {
  const normal = (k: number) => heard[k]?.normal;
  return normal(i - 1) === normal(i) || (i >= 2 && normal(i - 2) === normal(i) && normal(i - 1) === normal(i + 1));
}

const withinReach = (heard: readonly HeardWord[], from: number, again: number) =>
  again - from <= LONGEST_BACK_WORDS && heard[again]!.start - heard[from]!.start <= LONGEST_BACK;

/** Writes down what was decided on a repeat. */
function note(found: Retakes, { heard, gone }: Scene, { from, end, again }: Repeat, verdict: Judgement): void {
  const first = heard[from]!.word;
  if (verdict === "different") return;
  if (verdict === "doubt") {
    found.doubts.push({ from: first, to: heard[end - 1]!.word + 1, review: "resembles what is said next" });
    return;
  }
  const { to, rest } = verdict;
  gone.fill(1, from, to);
  // Said a third time, more of it may be known to be the same.
  found.retakes = found.retakes.filter((other) => other.from !== first || other.kind !== "retake");
  found.retakes.push({ from: first, to: heard[to - 1]!.word + 1, again: heard[again]!.word, kind: "retake" });
  if (rest === "kept" || to >= again) return;
  gone.fill(1, to, again);
  const [start, stop] = [heard[to]!.word, heard[again - 1]!.word + 1];
  found.retakes.push({
    from: start,
    to: stop,
    again: heard[again]!.word,
    kind: rest === "remark" ? "remark" : "retake",
  });
}

/** The first repeat that is not of different sentences; one in doubt only when no other is sure. */
function firstVerdict(
  scene: Scene,
  repeats: readonly (Repeat | null)[],
): { repeat: Repeat | null; verdict: Judgement } {
  let doubt: Repeat | null = null;
  for (const repeat of repeats) {
    const verdict = repeat ? judgeRepeat(scene, repeat) : "different";
    if (repeat && verdict === "doubt") doubt ??= repeat;
    else if (verdict !== "different") return { repeat, verdict };
  }
  return { repeat: doubt, verdict: doubt ? "doubt" : "different" };
}

/** The longest beginning of the words `[from, again)` that is spelled like a beginning of what follows `again`. */
function sameSpelling(scene: Scene, from: number, again: number, contradicted: boolean): Repeat | null {
  const { heard, near, starts } = scene;
  if (near(heard[from]!.normal, heard[again]!.normal) > 0.6) return null;
  const rows = again - from;
  const columns = Math.min(heard.length - again, rows + 6);
  let previous = Array.from({ length: columns + 1 }, (_, j) => j);
  let best: Repeat | null = null;
  /** The best repeat that ends with a phrase. */
  let phrase: Repeat | null = null;
  for (let i = 1; i <= rows; i++) {
    const word = heard[from + i - 1]!.normal;
    const row = [i];
    let lowest = i;
    let at = 0;
    let lastMatches = false;
    for (let j = 1; j <= columns; j++) {
      const distance = near(word, heard[again + j - 1]!.normal);
      const swap = previous[j - 1]! + distance;
      row.push(Math.min(swap, previous[j]! + 1, row[j - 1]! + 1));
      if (row[j]! >= lowest) continue;
      lowest = row[j]!;
      at = j;
      lastMatches = row[j] === swap && distance <= 0.6;
    }
    previous = row;
    if (lastMatches && lowest <= i * TOLERATED) {
      best = { from, again, end: from + i, matched: at, cost: lowest, contradicted, sounding: false };
      const beyond = phrase ? best.end - phrase.end : 0;
      if (starts[best.end] && (!phrase || lowest - phrase.cost <= OTHER_PHRASE * beyond)) phrase = best;
    }
    // However well it goes on: what begins otherwise is not the same.
    if (lowest > 0.75 + 0.3 * i) break;
  }
  return phrase && phrase.end < again && isRemark(scene, range(phrase.end, again)) ? phrase : best;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** What an echo says as a repeat. What was said beyond the words that fit must be a fragment: else it is another sentence. */
function sameSound(scene: Scene, echo: Echo | undefined): Repeat | null {
  if (!echo) return null;
  const { from, again, end, spoken } = echo;
  const contradicted = echo.weak && isSpelledSurely(scene, echo);
  if (isUnclearAttempt(scene, echo))
    return { from, again, end, matched: spoken, cost: 0, contradicted: false, sounding: true };
  const repeat = { from, again, end, matched: spoken, cost: 0.05 * spoken, contradicted, sounding: !echo.weak };
  if (echo.rest < REST) return endsOtherwise(scene, echo) ? { ...repeat, contradicted: true } : repeat;
  const last = scene.heard[end - 1]!.normal;
  const next = scene.heard.slice(again + spoken, again + spoken + AROUND);
  if (spoken >= ENDS_ALIKE && next.some((word) => scene.near(last, word.normal) <= 0.3)) return repeat;
  const left = Math.max(1, Math.min(end - from - 1, end - from - spoken));
  if (left > 2) return null;
  return isFragment(scene, { from: end - left, to: end }, repeat) ? repeat : null;
}

/** A single word that the recogniser did not make out, between pauses, in which it heard the beginning of what is said next. */
function isUnclearAttempt({ heard, words, starts }: Scene, { from, again, end, spoken, weak }: Echo): boolean {
  if (end - from !== 1 || !starts[from] || pauseBefore(heard, from) < APART || pauseBefore(heard, end) < APART)
    return false;
  const { normal, word } = heard[from]!;
  return normal !== UNHEARD && words[word]!.confidence < UNCLEAR && (spoken >= 2 || !weak) && end <= again;
}

/** Whether the attempt ends with a word, surely heard, that is not near where the words that fit end: they were drawn out over it. */
function endsOtherwise({ heard, words, near }: Scene, { from, again, end, spoken }: Echo): boolean {
  const last = heard[end - 1]!;
  if (end - from <= spoken || spoken >= LONG_ECHO || heard[again]!.normal === UNHEARD || !isWeighty(last.normal))
    return false;
  if (words[last.word]!.confidence < ENDING_SURE) return false;
  const around = heard.slice(Math.max(again, again + spoken - AROUND), again + spoken + AROUND);
  return around.every((word) => near(last.normal, word.normal) > 0.6);
}

/** Whether the recogniser was sure of words in the attempt that are not in the later take: then they are other words, not misspelled ones. */
function isSpelledSurely({ heard, words, near }: Scene, { from, again, end, spoken }: Echo): boolean {
  const later = heard.slice(again, again + spoken + 1);
  const others: number[] = [];
  let at = 0;
  for (let i = from; i < end; i++) {
    const found = later.findIndex((word, k) => k >= at && k <= at + 1 && near(heard[i]!.normal, word.normal) <= 0.6);
    if (found >= 0) at = found + 1;
    else others.push(words[heard[i]!.word]!.confidence);
  }
  const sure = others.filter((confidence) => confidence >= SURE).length;
  return sure >= 2 && sure >= SURE_SHARE * (end - from);
}
