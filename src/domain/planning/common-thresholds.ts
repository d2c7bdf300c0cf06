/** Thresholds that several stages share, because they separate the same kind of thing. */
import { toValues } from "./threshold-table";

export const COMMON_THRESHOLDS = {
  minConfidence: [0.5, "confidence", "words, from those that a recognizer makes up or writes for a filler"],
  minWordConfidence: [
    0.6,
    "confidence",
    "words, from interrupted ones and from fillers",
    "cases-01-hiss-at-10-db, recordings-08-two-hosts, recordings-03-scottish-lecture",
  ],
  sureWordConfidence: [
    0.8,
    "confidence",
    "words that were surely said, from misrecognized ones and from fillers",
    "cases-01-hiss-at-10-db, recordings-03-scottish-lecture",
  ],
  maxFluentGap: [
    0.15,
    "s",
    "words that follow each other fluently, from a word or a phrase after a pause",
    "cases-12-words-apart, recordings-03-scottish-lecture",
  ],
  minPause: [0.25, "s", "pauses between phrases, from those inside words", "cases-02-stairwell, cases-03-paraphrased"],
  minTakePause: [
    0.3,
    "s",
    "pauses between takes and around lone sounds, from those in a sentence",
    "cases-01-hiss-at-10-db, cases-07-stops-at-the-last-word, real-2002-139469-0000",
  ],
  longPause: [1, "s", "lines, from several lines; also the pause before the first word", "eval-02-product-update"],
  minBelowVoiceDb: [8, "dB", "pauses, fading ends of words and the noise of the room, from the voice"],
  minLevelChangeDb: [
    6,
    "dB",
    "other speakers, background voices and sounds in a gap, from what is around them",
    "real-gecko_demo, eval-04-fast-speaker",
  ],
  minContrastDb: [
    20,
    "dB",
    "speech, from its background: fillers that can be judged, levels that are quiet enough for a cut",
    "real-gecko_demo",
  ],
  maxComparedWords: [60, "words", "words of takes that are compared"],
  maxAddedWords: [6, "words", "words that a take may have besides the matching ones"],
  minSureMatchWords: [
    4,
    "words",
    "takes and repeated phrases, from a coincidence",
    "real-pca_call, cases-01-hiss-at-10-db, cases-02-stairwell",
  ],
  maxSlipWords: [
    2,
    "words",
    "slips, stutters and misrecognized words beside a take, from other speech",
    "cases-04-rapid-stutter, real-pca_call, recordings-05-quiz",
  ],
  longWordCharacters: [
    5,
    "characters",
    "long words, from short ones: answers, parts of compounds, misrecognized fillers",
  ],
  maxSlowerFactor: [
    1.6,
    "ratio",
    "takes at another pace, from other sentences, from several lines, and from words stretched over others",
    "recordings-02-tiled-kitchen",
  ],
  minLengthRatio: [0.75, "ratio", "complete takes and lines, from interrupted ones: relative length"],
  maxFiller: [1.2, "s", "fillers and other short removals, from stretches that hide words"],
  padding: [0.15, "s", "silence around what is aligned"],
} as const;

export const COMMON = toValues(COMMON_THRESHOLDS);
