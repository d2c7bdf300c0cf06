/** Finds where recognized words may be terms of a vocabulary. Pure. */
import type { Word } from "../speech";
import { MAX_TERM_CHARACTERS, toFormKey } from "./entries";
import { measureDistance, toPhones, toPronunciation } from "./phones";
import type { SimilarTerm, Term, Terms } from "./terms";

/** Words that a term replaces: from the first to before the last, and their new texts. */
export type Replacement = { from: number; to: number; texts: string[] };

/** `similar` is null if the words are a listed form of the term that is replaced without a look at the audio. */
export type TermCandidate = Replacement & { term: Term; similar: Similarity | null };

/**
 * `confidence`: how sure the recognizer was of the words, 0 to 1. `isDoubtful`: it may have misheard them. `isCommon`:
 * all of them are frequent words.
 */
export type Similarity = { distance: number; confidence: number; isDoubtful: boolean; isCommon: boolean };

export type CandidateRules = {
  /** Returns whether a word in lower case is frequent in the language. */
  isCommon: (word: string) => boolean;
  /** Returns whether words are a common word, or function words only: the audio decides whether they are a term. */
  isCommonForm: (form: string, startsSentence: boolean) => boolean;
  /** Keys of words that stay: those of the script. */
  kept: ReadonlySet<string>;
};

/**
 * A recognizer may write a term as this many words more than it has. Letters in a row, which spell it, are one word.
 */
const MAX_EXTRA_WORDS = 3;
/** A spelled term may have this many letters more than it is written with. */
const MAX_EXTRA_LETTERS = 3;
/** Maximum number of letters of a spelled term that is found by its sound: each search takes milliseconds. */
const MAX_SIMILAR_LETTERS = 12;
/** A longer pause between two words ends a term. */
const MAX_PAUSE_TICKS = 700_000;
/** Confidence above which a word counts as correctly recognized. */
const MAX_CONFIDENCE = 0.88;
/**
 * Confidence below which a rare word, or words that include a doubtful one, may be a term that differs only in
 * spelling.
 */
const MAX_SPELLING_CONFIDENCE = 0.97;
const MAX_SPELLING_DISTANCE = 0.2;
/** The last of several words may be recognized this clearly, because a term can end like a word. */
const MAX_LAST_CONFIDENCE = 0.93;

type SplitWord = { lead: string; core: string; trail: string; key: string; endsSentence: boolean };
type Run = { from: number; to: number; key: string; words: readonly Word[]; tokens: readonly SplitWord[] };

const SPOKEN = /[\p{L}\p{M}\p{N}]/u;
const LETTER = /^\p{Script=Latin}$/u;
const POSSESSIVE = /['’]s$/iu;
/** A period after these does not end a sentence. */
const ABBREVIATION = /^(?:\p{L}|mr|mrs|ms|dr|st|prof)$/iu;

function splitWord(text: string): SplitWord {
  const characters = [...text.trim()];
  const first = characters.findIndex((character) => SPOKEN.test(character));
  const last = characters.findLastIndex((character) => SPOKEN.test(character));
  const cut = (from: number, to?: number): string => characters.slice(from, to).join("");
  const [lead, core, trail] = first < 0 ? [cut(0), "", ""] : [cut(0, first), cut(first, last + 1), cut(last + 1)];
  const endsSentence = /[!?…。！？]/.test(trail) || (trail.includes(".") && !ABBREVIATION.test(core));
  return { lead, core, trail, key: toFormKey(core), endsSentence };
}

/**
 * Lists where words may be terms: yields the candidates of each run of words, in order of its first word. No candidate
 * crosses the end of a sentence or a pause, or contains a word that stays. With a large vocabulary a run takes
 * milliseconds, so the caller can do other work between two runs.
 */
export function* listCandidates(
  words: readonly Word[],
  terms: Terms,
  rules: CandidateRules,
): Generator<TermCandidate[], void> {
  const tokens = words.map(({ text }) => splitWord(text));
  for (let from = 0; from < words.length; from++) {
    let key = "";
    let count = 0;
    let letters = 0;
    for (let to = from + 1; to <= words.length; to++) {
      const token = tokens[to - 1]!;
      if (token.key === "" || rules.kept.has(token.key)) break;
      if (to - from > 1 && isDivided(words, tokens, to - 1)) break;
      const isLetter = LETTER.test(token.core);
      if (isLetter) letters++;
      if (to - from === 1 || !isLetter || !LETTER.test(tokens[to - 2]!.core)) count++;
      key += token.key;
      if (count > terms.maxWords + MAX_EXTRA_WORDS || key.length > MAX_TERM_CHARACTERS) break;
      if (letters > terms.maxCharacters + MAX_EXTRA_LETTERS) break;
      const run = { from, to, key, words, tokens };
      const listed = findListed(run, terms, rules);
      if (listed?.similar === null) yield [listed];
      else if (listed) yield [listed, ...listSimilar(run, terms, rules).filter(({ term }) => term !== listed.term)];
      else if (letters <= MAX_SIMILAR_LETTERS) yield listSimilar(run, terms, rules);
    }
  }
}

/** Returns whether a sentence ends, or a pause is, before the word. */
const isDivided = (words: readonly Word[], tokens: readonly SplitWord[], index: number): boolean =>
  tokens[index - 1]!.endsSentence || words[index]!.start - words[index - 1]!.end > MAX_PAUSE_TICKS;

/**
 * Returns the term that has the words as a listed form; null without one. A frequent word is only replaced if an entry
 * lists it as a spoken form, and with another word only if the audio fits that one.
 */
function findListed(run: Run, { forms }: Terms, { isCommon, isCommonForm }: CandidateRules): TermCandidate | null {
  const { from, to, key, tokens } = run;
  const isPossessive = POSSESSIVE.test(tokens[to - 1]!.core);
  const form = forms.has(key) || !isPossessive ? key : key.slice(0, -1);
  const term = forms.get(form);
  if (!term) return null;
  const isFrequent = to - from === 1 && isCommon(tokens[from]!.core.toLowerCase());
  if (isFrequent && !term.spoken.has(form)) return null;
  const listed = { ...toReplacement(run, term, form !== key), term, similar: null };
  const text = tokens.slice(from, to).map(({ core }) => core);
  const startsSentence = from === 0 || tokens[from - 1]!.endsSentence;
  if (form === term.key || !isCommonForm(text.join(" "), startsSentence)) return listed;
  const distance = measureDistance(term.pronunciation, toPronunciation(toPhones(text.join(""))));
  const similar = { distance, confidence: measureConfidence(run), isDoubtful: false, isCommon: true };
  return { ...listed, similar };
}

/** Returns the mean confidence of words, weighted by their lengths. */
function measureConfidence({ from, to, words, tokens }: Run): number {
  const parts = tokens.slice(from, to);
  const length = parts.reduce((sum, { core }) => sum + core.length, 0);
  return parts.reduce((sum, { core }, i) => sum + (core.length / length) * words[from + i]!.confidence, 0);
}

/** Lists the terms that doubtful words sound like, and the terms that rare words spell differently. */
function listSimilar(run: Run, { findSimilar }: Terms, { isCommon }: CandidateRules): TermCandidate[] {
  const { from, to, words, tokens } = run;
  const parts = tokens.slice(from, to);
  const [first, last] = [words[from]!, words[to - 1]!];
  const confidence = measureConfidence(run);
  const isDoubtful =
    Math.max(confidence, Math.min(first.confidence, last.confidence)) <= MAX_CONFIDENCE &&
    (to - from === 1 || last.confidence <= MAX_LAST_CONFIDENCE);
  const isClear = to - from > 1 && words.slice(from, to).every((word) => word.confidence > MAX_CONFIDENCE);
  if (!isDoubtful && (isClear || confidence > MAX_SPELLING_CONFIDENCE)) return [];
  const areCommon = parts.every(({ core }) => isCommon(core.toLowerCase()));
  if (!isDoubtful && areCommon) return [];
  const isPossessive = POSSESSIVE.test(parts.at(-1)!.core);
  const text = parts.map(({ core }) => core.replace(POSSESSIVE, "")).join("");
  return findSimilar(text, isDoubtful ? undefined : MAX_SPELLING_DISTANCE).map(({ term, distance }: SimilarTerm) => ({
    ...toReplacement(run, term, isPossessive),
    term,
    similar: { distance, confidence, isDoubtful, isCommon: areCommon },
  }));
}

/** Returns the candidate for only the words from the first to before the last. Its similarity stays. */
export function narrowCandidate(
  words: readonly Word[],
  candidate: TermCandidate,
  { from, to }: Pick<Replacement, "from" | "to">,
): TermCandidate {
  const start = Math.max(0, from - 1);
  const near = words.slice(start, to + 1);
  const tokens = near.map(({ text }) => splitWord(text));
  const run = { from: from - start, to: to - start, key: "", words: near, tokens };
  const isPossessive = POSSESSIVE.test(tokens[run.to - 1]!.core);
  return { ...candidate, from, to, texts: toReplacement(run, candidate.term, isPossessive).texts };
}

/**
 * Returns the term with the punctuation around the words, and with a capital letter where they start a sentence with
 * one.
 */
function toReplacement(run: Run, term: Term, isPossessive: boolean): Replacement {
  const { from, to, tokens } = run;
  const [first, last] = [tokens[from]!, tokens[to - 1]!];
  const texts = [...term.texts];
  const startsSentence = from === 0 || tokens[from - 1]!.endsSentence;
  const isLowerCase = texts.every((text) => text === text.toLowerCase());
  if (startsSentence && isLowerCase && /^\p{Lu}/u.test(first.core))
    texts[0] = texts[0]!.replace(/^./u, (letter) => letter.toUpperCase());
  texts[0] = `${first.lead}${texts[0]}`;
  const owner = isPossessive ? (POSSESSIVE.exec(last.core)?.[0] ?? "") : "";
  const trail = hasAbbreviation(run, term) ? "" : last.trail;
  // The period of "Inc." also ends a sentence, and "A.." is a letter at its end.
  const isRepeated = trail === ".." || (owner === "" && term.texts.at(-1)!.endsWith(".") && trail.startsWith("."));
  texts[texts.length - 1] += `${owner}${isRepeated ? trail.slice(1) : trail}`;
  return { from, to, texts };
}

/**
 * Returns whether the period after the words belongs to an abbreviation that the term does not have, and the sentence
 * continues.
 */
function hasAbbreviation({ from, to, tokens, words }: Run, { texts }: Term): boolean {
  const [last, next] = [tokens[to - 1]!, tokens[to]];
  if (last.trail !== "." || last.endsSentence || toFormKey(texts.at(-1)!) === last.key) return false;
  if (next === undefined || isDivided(words, tokens, to)) return false;
  // Another letter in a row of abbreviated ones may belong to the same name.
  const isRow = to - from > 1 && tokens[to - 2]!.trail === "." && LETTER.test(next.core) && next.trail.startsWith(".");
  return isRow || /^\p{Ll}/u.test(next.core);
}
