/** Thresholds of fillers. */
import { toValues } from "../threshold-table";

export const FILLERS_THRESHOLDS = {
  minPause: [0.06, "s", "fillers between words, from words that run into each other"],
  minStretched: [0.28, "s", "fillers without a pause, from short words"],
  minFiller: [0.09, "s", "fillers, from the release of a consonant"],
  maxWordlessFiller: [0.9, "s", "fillers without a word in a line, from longer speech"],
  minFillerAlignment: [-4.5, "log probability", "sounds that may be a filler"],
  minLeadOverWord: [0.5, "log probability", "fillers, from the word that was recognized"],
  maxLagBehindShortWord: [1, "log probability", "fillers, from short words that were not recognized"],
  maxLagIsolated: [1.6, "log probability", "the same for isolated sounds"],
  maxLagBehindHomophone: [3, "log probability", 'fillers, from "thumb" and other words that sound like them'],
  maxConfidence: [0.68, "confidence", "fillers that were recognized as a word, from words", "real-2002-139469-0000"],
  minSpelled: [0.45, "s", '"hmm" that a synthetic voice spells'],
  minSpelledAlignment: [-2.35, "log probability", '"hmm" that a synthetic voice spells, from words'],
  secondContext: [2, "s", "context of a second recognition", "recordings-03-scottish-lecture, real-say_jose"],
  minSureAlignment: [-2, "log probability", "fillers without a second recognition", "recordings-05-quiz"],
  goodAlignment: [-1.6, "log probability", "sounds that align well with a filler"],
  minConfidence: [0.2, "confidence", "words that a second recognition finds in other sounds"],
  listenerContext: [1.2, "s", "the voice of the speaker beside an answer"],
  minContourChangeDb: [4, "dB", "sounds at another level, of which the voice is measured"],
  minPitchChangeSemitones: [
    5,
    "semitones",
    "listeners, from a speaker who hesitates in a lower voice",
    "real-pca_call, real-gecko_demo",
  ],
} as const;

export const FILLERS = toValues(FILLERS_THRESHOLDS);
