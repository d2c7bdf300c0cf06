/** Thresholds of cuts: where they are, and what stays beside them. */
import { toValues } from "./threshold-table";

export const CUTTING_THRESHOLDS = {
  minJoinPause: [0.08, "s", "joins with a pause, from joins that sound breathless"],
  guard: [0.03, "s", "silence beside speech that belongs to it, also where it can no longer be detected"],
  minListedSilence: [0.3, "s", "silence beside a removed span that is listed by itself"],
  maxMove: [
    0.12,
    "s",
    "how far a cut may move into a removed span",
    "cases-04-rapid-stutter, recordings-01-phone-interview",
  ],
  maxFarMove: [0.3, "s", "how far it may move if nothing nearer is quiet"],
  maxMovedShare: [0.4, "share", "how far it may move, as a share of the span"],
  maxGiven: [
    0.08,
    "s",
    "how far it may move into a kept span, or into a filler",
    "cases-04-rapid-stutter, real-gecko_demo",
  ],
  maxGivenShare: [
    0.2,
    "share",
    "how far it may move into a kept span, or into a filler, as a share of it",
    "real-gecko_demo",
  ],
  minDipDb: [1, "dB", "dips between words, from full voice", "real-gecko_demo"],
  dipHops: [20, "hops", "the surroundings of a dip", "real-pca_call, real-gecko_demo"],
  minimumHops: [4, "hops", "energy minima, from fluctuation"],
  dbPerHop: [0.3, "dB", "near cuts, from quieter ones: what 5 ms are worth", "cases-04-rapid-stutter, real-lecture_a"],
  uncleanDb: [100, "dB", "cuts at a minimum or in a pause, from all others", "real-pca_call, real-gecko_demo"],
  voiceShare: [
    0.75,
    "share",
    "the level of loud parts of speech: a percentile",
    "cases-01-hiss-at-10-db, recordings-01-phone-interview",
  ],
  maxGapBeforeWord: [
    0.16,
    "s",
    "sounds without words that belong to the word after them",
    "recordings-03-scottish-lecture, real-lecture_a",
  ],
  maxAttached: [
    0.24,
    "s",
    "sounds without words that belong to a word, by their length and by the gap to it",
    "recordings-03-scottish-lecture, real-lecture_a",
  ],
  minRemoval: [0.061, "s", "removals, from splices that are more audible than what they remove"],
} as const;

export const CUTTING = toValues(CUTTING_THRESHOLDS);
