/** Thresholds as data: each with its unit, and with what it separates. */
import { fromSeconds } from "../time";

/** A value in its unit, what it separates, and recordings of the cut-quality benchmark that need it. */
export type Threshold = readonly [value: number, unit: string, separates: string, recordings?: string];

/** Returns the values of thresholds for the code: seconds as ticks, others as they are. */
const toValues = <Key extends string>(thresholds: Readonly<Record<Key, Threshold>>): Readonly<Record<Key, number>> =>
  Object.fromEntries(
    Object.entries<Threshold>(thresholds).map(([key, [value, unit]]) => [
      key,
      unit === "s" ? fromSeconds(value) : value,
    ]),
  ) as Record<Key, number>;

/** Thresholds that several stages share, because they separate the same kind of thing. */
const COMMON_THRESHOLDS = {
  minConfidence: [0.5, "confidence", "words, from those that a recognizer makes up or writes for a filler"],
  minWordConfidence: [0.6, "confidence", "words, from interrupted ones and from fillers", "cases-01-hiss-at-10-db"],
  likelyWordConfidence: [
    0.7,
    "confidence",
    "words, from fillers that were recognized as one; another ending of a sentence, from a misrecognized one",
    "real-2002-139469-0000, cases-01-hiss-at-10-db",
  ],
  sureWordConfidence: [
    0.8,
    "confidence",
    "words that were surely said, from misrecognized ones and from fillers",
    "cases-01-hiss-at-10-db, recordings-03-scottish-lecture",
  ],
  precision: [0.025, "s", "sounds, from clicks; how exact the edges of sounds and words are"],
  minDuration: [
    0.09,
    "s",
    "pauses, sounds, takes and removals, from the closure or release of a consonant; how far a cut may move into a kept span",
    "cases-05-numbers, cases-01-hiss-at-10-db",
  ],
  edge: [
    0.12,
    "s",
    "fading edges of words and the silence around takes; a pause before a silent word, from the closure of a consonant; how far a cut may move into a removed span",
    "real-pca_call, real-lecture_a, cases-04-rapid-stutter",
  ],
  maxFluentGap: [
    0.15,
    "s",
    "words that follow each other fluently, from a word or a phrase after a pause",
    "cases-12-words-apart, recordings-03-scottish-lecture",
  ],
  minWordDuration: [0.25, "s", "fillers and voice without words, from short words and word ends; near marks"],
  minPause: [
    0.25,
    "s",
    "pauses between phrases, from those inside words and beside sounds that belong to a word",
    "cases-02-stairwell, cases-03-paraphrased",
  ],
  minTakePause: [
    0.3,
    "s",
    "pauses between takes, around lone sounds and beside removed spans, from those in a sentence",
    "cases-01-hiss-at-10-db, cases-07-stops-at-the-last-word",
  ],
  minSentencePause: [
    0.5,
    "s",
    "sentences and words that stand alone, from phrases of one sentence and from stutters; the first or last word of a line, from others",
    "cases-06-two-good-takes, cases-07-stops-at-the-last-word",
  ],
  minPhrase: [0.5, "s", "phrases, and stretches that may contain a word, from single words and from noise"],
  longPause: [1, "s", "lines, from several lines; also the pause before the first word", "eval-02-product-update"],
  maxFiller: [1.2, "s", "fillers and other short removals, from stretches that hide words"],
  voiceSample: [1.5, "s", "enough of a voice to judge it, and to decide whether it was understood"],
  padding: [0.15, "s", "silence around what is aligned"],
  maxLate: [
    0.35,
    "s",
    "takes at another pace, from other sentences and from words stretched over others",
    "recordings-02-tiled-kitchen",
  ],
  maxSlowerFactor: [
    1.6,
    "ratio",
    "takes and words at another pace, from other sentences, from several lines, and from words stretched over others",
    "recordings-02-tiled-kitchen",
  ],
  minBelowVoiceDb: [8, "dB", "pauses, fading ends of words, hum and the noise of the room, from the voice"],
  minLevelChangeDb: [
    6,
    "dB",
    "other speakers, background voices and sounds in a gap, from what is around them",
    "real-gecko_demo, eval-04-fast-speaker",
  ],
  minContrastDb: [
    20,
    "dB",
    "speech, from its background: fillers that can be judged, noise that hides edges, levels that are quiet enough for a cut",
    "real-gecko_demo, real-pca_call",
  ],
  surroundingHops: [20, "hops", "the background of a span and the surroundings of a dip", "real-pca_call"],
  maxComparedWords: [60, "words", "words between takes that are compared, around a refrain and in a line"],
  sentenceWords: [
    12,
    "words",
    "as long as a sentence: words between takes, words that identify a take or show the local pace",
    "recordings-07-refrain",
  ],
  manyWords: [
    6,
    "words",
    "takes with a slip, from a coincidence; short takes and words that a take may have besides the matching ones",
    "recordings-07-refrain, real-2033-164914-0008",
  ],
  minSureMatchWords: [4, "words", "takes and repeated phrases, from a coincidence", "real-pca_call"],
  maxSlipWords: [
    2,
    "words",
    "slips, stutters and misrecognized words beside a take, from other speech; phrases in place of words of the script, from remarks",
    "cases-04-rapid-stutter, real-pca_call",
  ],
  longWordCharacters: [
    5,
    "characters",
    "long words, which identify a phrase, from short ones: answers, parts of compounds, misrecognized fillers",
  ],
  minShare: [
    0.3,
    "share",
    "a part of the words, the voice or the duration, from a coincidence and noise; the clearest part of the speech",
    "cases-01-hiss-at-10-db, cases-02-stairwell",
  ],
  minSameShare: [
    0.5,
    "share",
    "takes of a line, speech in its place and phrases that are repeated, from other sentences",
    "recordings-06-fan-heater, cases-02-stairwell",
  ],
  minLengthRatio: [0.75, "ratio", "complete takes and lines, from interrupted and overlapping ones: relative length"],
  minCompleteShare: [
    0.85,
    "share",
    "whole takes, takes that are certain by their text alone, and stretches of voice or noise, from parts of them",
    "recordings-02-tiled-kitchen, cases-01-hiss-at-10-db",
  ],
  clearAlignment: [
    -1.5,
    "log probability",
    "texts that certainly sound like the audio, from those that need evidence; words in noise, from those that a recognizer makes up",
    "cases-02-stairwell, cases-03-paraphrased",
  ],
  minAlignment: [-1.9, "log probability", "spoken lines and fillers, from other sounds", "recordings-08-two-hosts"],
  minPossibleAlignment: [-4.5, "log probability", "sounds that may be a filler or a misrecognized text, from others"],
  maxMisfit: [-6, "log probability", "words that are not spoken, from misrecognized ones", "eval-11-real-reader"],
} as const;

/** Thresholds of audio activity, and of which voice was understood. */
const ACTIVITY_THRESHOLDS = {
  voiceEdge: [
    0.3,
    "s",
    "edges of words beside the voice, from noise away from it; a gap that shows the noise of the room; how far a cut may move",
    "cases-01-hiss-at-10-db, cases-02-stairwell",
  ],
  overRoomSpreads: [3, "ratio", "voice, from varying noise: multiples of its distance from median to 10th percentile"],
  surroundings: [5, "s", "voice and background near a span, from those elsewhere", "real-gecko_demo"],
  clearContrastDb: [45, "dB", "recordings in which the edges of words are clear"],
  edgeMarginPerDb: [2500, "ticks", "hidden edges of words: margin for each dB of contrast that is missing"],
  maxEdgeMargin: [0.05, "s", "hidden edges of words, from pauses"],
  clippedLevel: [-3.5, "dB", "clipped audio: an unclipped waveform is never this loud for 15 ms"],
  minClearLogProb: [-0.3, "log probability", "lowest level of clear speech, also in recordings with little of it"],
  garbledLogProb: [
    -0.9,
    "log probability",
    "garbled speech; words nearer to it than to the recording's clear speech were not understood",
  ],
  maxLoopWords: [8, "words", "phrases that a recognizer repeats at once, from takes of a line"],
  maxTakes: [6, "count", "takes of a line, from phrases that a recognizer repeats throughout a recording"],
  minRepeatedLogProb: [-0.2, "log probability", "speech in which a phrase is repeated more often than takes are"],
  minCoveredShare: [0.2, "share", "voice with words, from voice in which almost none was recognized"],
  maxNoiseShare: [0.8, "share", "speech with noise, from music and applause"],
  languageSample: [300, "s", "the beginning of a recording, by which its language is judged"],
  maxWord: [
    2,
    "s",
    "words with usable times; context in which sounds are recognized again",
    "recordings-03-scottish-lecture, real-say_jose",
  ],
  minRestartPause: [0.14, "s", "pauses at which a phrase may start over"],
  minStretchedRatio: [3, "ratio", "words stretched over others, from long ones: relative duration by letters"],
  maxBelowSpeechDb: [15, "dB", "faint speech, from noise"],
  maxWindow: [
    10,
    "s",
    "windows that are recognized again; music, from a sentence that was not recognized",
    "cases-01-hiss-at-10-db, recordings-01-phone-interview",
  ],
  maxRecognizedShare: [0.03, "share", "limit of the audio that is recognized again, of the recording"],
  minBudget: [60, "s", "audio that is recognized again in a short recording", "recordings-03-scottish-lecture"],
  minVoiced: [0.15, "s", "syllables, from breath, steps, keys and hiss"],
} as const;

/** Thresholds of cuts: where they are. */
const CUTTING_THRESHOLDS = {
  minRemoval: [0.061, "s", "removals, from splices that are more audible than what they remove"],
  maxGivenShare: [0.2, "share", "how far a cut may move, as a share of that span", "real-gecko_demo"],
  minDipDb: [1, "dB", "dips between words, from full voice", "real-gecko_demo"],
  minimumHops: [4, "hops", "energy minima, from fluctuation"],
  dbPerHop: [0.3, "dB", "near cuts, from quieter ones: what 5 ms are worth", "cases-04-rapid-stutter, real-lecture_a"],
  voiceShare: [0.75, "share", "the level of loud parts of speech: a percentile", "cases-01-hiss-at-10-db"],
  maxGapBeforeWord: [
    0.16,
    "s",
    "sounds without words that belong to the word after them",
    "recordings-03-scottish-lecture, real-lecture_a",
  ],
} as const;

/** Thresholds of fillers. */
const FILLERS_THRESHOLDS = {
  minDifference: [1, "log probability", "fillers, from words that sound like the audio too"],
  maxLagIsolated: [1.6, "log probability", "the same for isolated sounds, and for words that sound like fillers"],
  maxLagOpenWord: [0.5, "log probability", "the same for isolated articles, and for words that open a phrase"],
  maxWordlessFiller: [0.9, "s", "fillers without a word in a line, from longer speech"],
  minPitchChangeSemitones: [
    4,
    "semitones",
    "listeners, from a speaker in a lower voice",
    "real-pca_call, real-gecko_demo",
  ],
  minConfidence: [0.2, "confidence", "words that a second recognition finds in other sounds"],
} as const;

/** Thresholds of retakes. */
const RETAKES_THRESHOLDS = {
  maxDistance: [45, "s", "retakes, from words that occur again later"],
  maxEarlierStarts: [4, "count", "earlier starts of a phrase or a line: takes to compare, pauses inside the line"],
  maxClose: [3.5, "s", "takes right before a pause that may be misrecognized as anything"],
  spokenWord: [-3, "log probability", "words that are spoken, from words that are not", "cases-01-hiss-at-10-db"],
  minMean: [-2.4, "log probability", "takes that are repeated, from other sentences", "recordings-08-two-hosts"],
  maxAudioDistance: [
    0.5,
    "ratio",
    "phrases that sound alike, from others: distance of their audio, relative to its usual one",
  ],
  maxWorstAudioDistance: [0.65, "ratio", "phrases that sound alike, from those with another word"],
  maxWorstUnclearDistance: [0.55, "ratio", "the same, where the take or the retake has no words"],
  maxWorstAnnouncedDistance: [0.85, "ratio", "the same, after a remark"],
  maxExchangeLoss: [
    4,
    "log probability",
    "two recognitions of the same sounds, from other words: what both lose in the other's place",
  ],
  maxSpellingDistance: [
    0.2,
    "word distance",
    "takes and endings in other spellings, from those with other words: distance for each word",
    "fluent-jfk, real-2033-164914-0008",
  ],
  maxSameWordDistance: [0.3, "word distance", "two spellings of a word, from similar words", "cases-03-paraphrased"],
  maxSimilarWordDistance: [0.6, "word distance", "similar words, from different ones"],
  maxExactCost: [0.01, "cost", "exact repetitions, from similar ones", "cases-02-stairwell"],
  minPrefixCharacters: [3, "characters", "interrupted words, from short words", "cases-08-look-alikes"],
  maxShortPhraseWords: [3, "words", "phrases that are repeated for emphasis, from takes", "cases-01-hiss-at-10-db"],
  minSimilarShare: [
    0.65,
    "share",
    "takes with the words of a line or of a retake, from a coincidence; numbers, from sentences with a number",
    "cases-01-hiss-at-10-db, cases-02-stairwell",
  ],
  minFinalLengthening: [1.35, "ratio", "the last word of a sentence, from the same word inside one"],
  maxBetween: [8, "s", "retakes after other words, from sentences that start alike"],
  maxRemarkWords: [9, "words", "remarks about the recording, from talk"],
  minChantItems: [3, "count", "chants and refrains, from retakes", "cases-04-rapid-stutter, real-pca_call"],
  wordContext: [0.8, "s", "context in which the voice of a single word is measured", "real-phone_sample"],
  minPitchChangeSemitones: [3, "semitones", "other speakers, from another take", "real-pca_call, real-gecko_demo"],
  minLongPause: [0.6, "s", "sentences of their own, although no sentence ends before them"],
  laterTakeBonus: [0.12, "worth", "the last take, from an earlier one: its bonus", "cases-06-two-good-takes"],
  qualityWeight: [0.4, "worth", "the last take, from a better one: what quality is worth"],
} as const;

/** Thresholds of planning with a script: candidates, the path through them, and the takes on it. */
const SCRIPT_THRESHOLDS = {
  minMatchScore: [0.35, "similarity", "stretches that may be a take of a line, from other words"],
  maxMatches: [40000, "count", "limit of the matches of all lines"],
  maxMatchesPerLine: [40, "count", "limit of the matches of a line"],
  maxTrialsPerLine: [10, "count", "phrases with which a missing line is aligned"],
  minMatchesPerLine: [3, "count", "matches of a line in a long script"],
  minBudget: [600, "s", "audio that is aligned in a short recording", "cases-02-stairwell, cases-06-two-good-takes"],
  maxTimesDuration: [8, "ratio", "limit of the audio that is aligned, to the recording"],
  maxWindow: [27, "s", "windows that a recognizer aligns"],
  usualTicksPerCharacter: [70000, "ticks", "the pace of speech, if no line is found"],
  lostWordCost: [
    0.8,
    "cost",
    "words of the script that are not found; headings and asides, from speech that resembles them",
    "cases-01-hiss-at-10-db, eval-03-cooking-room-echo",
  ],
  leftOutCost: [
    0.3,
    "cost",
    "words that are said once and kept though the script lacks them, from those that a retake has",
    "recordings-01-phone-interview, recordings-08-two-hosts",
  ],
  keptWordCost: [0.7, "cost", "words that a script or a line does not have", "eval-03-cooking-room-echo"],
  fluentJoinCost: [1.6, "cost", "joins without a pause, which are audible", "cases-02-stairwell, eval-01-home-studio"],
  insideLineCost: [
    0.6,
    "cost",
    "takes of a whole line, from parts of several takes and from takes with words that it lacks",
    "cases-03-paraphrased, cases-04-rapid-stutter",
  ],
  maxUnspokenShare: [0.15, "share", "lines with a word that differs, from other sentences"],
  minReplacedRatio: [0.4, "ratio", "speech in place of a line, from single words"],
  clearGain: [0.3, "log probability", "parts that a line certainly lacks, from those that it may have"],
  minScriptShare: [0.25, "share", "the script of a recording, from that of another one of the same series"],
  minSpreadShare: [0.15, "share", "the script of a recording, from that of another one", "recordings-06-fan-heater"],
  minBoundedCells: [10000000, "count", "searches that are bounded by the lines before and after"],
  marginWords: [700, "words", "how far a bounded search looks"],
  minSentencePause: [0.35, "s", "sentences, and isolated words beside a line", "cases-02-stairwell, cases-05-numbers"],
  maxWordsRatio: [2, "ratio", "words in place of those of the script, from other speech"],
  maxQualityLoss: [0.1, "similarity", "the last take out of order or attempt, from a better one"],
  maxSimilarityLoss: [0.2, "similarity", "takes of a line that does not align, from worse ones", "eval-11-real-reader"],
  maxSqueezedShare: [0.35, "share", "lines spoken to their end, from those that stop: duration of the last words"],
} as const;

export const COMMON = /* @__PURE__ */ toValues(COMMON_THRESHOLDS);
export const ACTIVITY = /* @__PURE__ */ toValues(ACTIVITY_THRESHOLDS);
export const CUTTING = /* @__PURE__ */ toValues(CUTTING_THRESHOLDS);
export const FILLERS = /* @__PURE__ */ toValues(FILLERS_THRESHOLDS);
export const RETAKES = /* @__PURE__ */ toValues(RETAKES_THRESHOLDS);
export const SCRIPT = /* @__PURE__ */ toValues(SCRIPT_THRESHOLDS);

/** A stage's thresholds as documented, and as the code reads them. */
type StageThresholds = {
  stage: string;
  thresholds: Readonly<Record<string, Threshold>>;
  values: Readonly<Record<string, number>>;
};

export const STAGE_THRESHOLDS: readonly StageThresholds[] = [
  { stage: "common", thresholds: COMMON_THRESHOLDS, values: COMMON },
  { stage: "activity", thresholds: ACTIVITY_THRESHOLDS, values: ACTIVITY },
  { stage: "cutting", thresholds: CUTTING_THRESHOLDS, values: CUTTING },
  { stage: "fillers", thresholds: FILLERS_THRESHOLDS, values: FILLERS },
  { stage: "retakes", thresholds: RETAKES_THRESHOLDS, values: RETAKES },
  { stage: "script", thresholds: SCRIPT_THRESHOLDS, values: SCRIPT },
];
