/** What planning knows about a language: its fillers, its function words, and how speakers announce a retake. */
import { normalizeWords } from "../../text/normalize";

/** Classes of function words. Their words are normalized. */
type WordClass =
  | "articles"
  | "possessives"
  | "pronouns"
  | "conjunctions"
  | "prepositions"
  | "auxiliaries"
  | "adverbs"
  | "questionWords";

/** Patterns match normalized words, or phrases of them. A set without words has no effect. */
export type Lexicon = Record<WordClass, ReadonlySet<string>> & {
  language: string;
  fillers: RegExp;
  /** Fillers that are also names, exclamations or other words: removed only with a pause on both sides. */
  ambiguousFillers: RegExp;
  /** Fillers with which a listener also answers. */
  answers: RegExp;
  /** How fillers are written for forced alignment, and the short words that a recognizer writes for them. */
  fillerTexts: readonly string[];
  shortWords: readonly string[];
  /** Longer words that fillers are recognized as, and that are rarely spoken alone. */
  fillerHomophones: ReadonlySet<string>;
  /** Words that are little more than a vowel. */
  vowelWords: ReadonlySet<string>;
  /** Function words that grammar doubles: "that that", "had had". */
  doubledWords: ReadonlySet<string>;
  /** Words of one letter that are not the name of a letter. */
  letterWords: ReadonlySet<string>;
  numberWords: ReadonlySet<string>;
  /** Words that sound like digits, and that recognizers write instead. */
  digitHomophones: ReadonlySet<string>;
  /** Words that are typical of a remark about the recording, such as an apology. */
  remarkCues: RegExp;
  /** Short phrases that are sentences of their own, which a longer one may repeat: "Thank you. Thank you very much." */
  completePhrases: RegExp;
  /** Verbs that are repeated before their object, and words that only look like one. */
  stutteredVerbs: RegExp;
  notVerbs: ReadonlySet<string>;
};

/** Matches nothing. */
const NEVER = /(?!)/;
const NO_WORDS: ReadonlySet<string> = new Set();

/** The lexicon of a language that has none: pauses and repetitions decide alone. */
export const createEmptyLexicon = (language: string): Lexicon => ({
  language,
  fillers: NEVER,
  ambiguousFillers: NEVER,
  answers: NEVER,
  fillerTexts: [],
  shortWords: [],
  fillerHomophones: NO_WORDS,
  vowelWords: NO_WORDS,
  articles: NO_WORDS,
  possessives: NO_WORDS,
  pronouns: NO_WORDS,
  conjunctions: NO_WORDS,
  prepositions: NO_WORDS,
  auxiliaries: NO_WORDS,
  adverbs: NO_WORDS,
  questionWords: NO_WORDS,
  doubledWords: NO_WORDS,
  letterWords: NO_WORDS,
  numberWords: NO_WORDS,
  digitHomophones: NO_WORDS,
  remarkCues: NEVER,
  completePhrases: NEVER,
  stutteredVerbs: NEVER,
  notVerbs: NO_WORDS,
});

/** Returns the normalized words of a list. */
export const toWordSet = (language: string, list: string): ReadonlySet<string> =>
  new Set(list.split(" ").flatMap((word) => normalizeWords(word, language)));

/** Returns whether a word is spelled like a filler. */
export function isFillerText(text: string, { fillers, language }: Lexicon): boolean {
  const normal = normalizeWords(text, language);
  return normal.length === 1 && fillers.test(normal[0]!);
}

const DETERMINERS = ["articles", "possessives", "conjunctions"] as const;
const OPEN = [...DETERMINERS, "prepositions", "auxiliaries"] as const;
const FUNCTION = [...OPEN, "pronouns", "adverbs"] as const;
const STUTTERED = [...FUNCTION, "questionWords"] as const;

/** Returns a function that returns whether a word is in one of the classes. The united classes are cached. */
function createClassCheck(classes: readonly WordClass[]): (normal: string, lexicon: Lexicon) => boolean {
  const known = new WeakMap<Lexicon, ReadonlySet<string>>();
  return (normal, lexicon) => {
    const words = known.get(lexicon) ?? new Set(classes.flatMap((name) => [...lexicon[name]]));
    known.set(lexicon, words);
    return words.has(normal);
  };
}

/** Returns whether a phrase that stops at this normalized word is unfinished. */
export const isDanglingWord = createClassCheck(DETERMINERS);

/** Returns whether a normalized word hardly ever ends a sentence. */
export const isOpenWord = createClassCheck(OPEN);

const isFunctionWord = createClassCheck(FUNCTION);
const isStuttered = createClassCheck(STUTTERED);

/** Returns whether a normalized word has a meaning of its own. Function words are easily confused. */
export const isContentWord = (normal: string, lexicon: Lexicon): boolean => !isFunctionWord(normal, lexicon);

/** Returns whether a normalized word is never repeated for emphasis. */
export const isStutterWord = (normal: string, lexicon: Lexicon): boolean =>
  isStuttered(normal, lexicon) && !lexicon.doubledWords.has(normal);

/** Returns whether normalized words contain one that is typical of a remark about the recording. */
export const hasRemarkCue = (text: string, { remarkCues }: Lexicon): boolean => remarkCues.test(text);
