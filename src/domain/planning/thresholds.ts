/**
 * Thresholds as data: each with its unit, and with what it separates. Here are those of the stages that both planners
 * share.
 */
import { fromSeconds } from "../time";

/** A value in its unit, what it separates, and recordings of the cut-quality benchmark that need it. */
export type Threshold = readonly [value: number, unit: string, separates: string, recordings?: string];

/** Returns the values of thresholds for the code: seconds as ticks, others as they are. */
export const toValues = <Key extends string>(
  thresholds: Readonly<Record<Key, Threshold>>,
): Readonly<Record<Key, number>> =>
  Object.fromEntries(
    Object.entries<Threshold>(thresholds).map(([key, [value, unit]]) => [
      key,
      unit === "s" ? fromSeconds(value) : value,
    ]),
  ) as Record<Key, number>;

/** Thresholds that several stages share, because they separate the same kind of thing. */
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
  maxComparedWords: [60, "words", "words between takes that are compared, and around a refrain"],
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
    "long words, which identify a phrase, from short ones: answers, parts of compounds, misrecognized fillers",
  ],
  maxSlowerFactor: [
    1.6,
    "ratio",
    "takes at another pace, from other sentences, from several lines, and from words stretched over others",
    "recordings-02-tiled-kitchen",
  ],
  maxLate: [
    0.35,
    "s",
    "takes at another pace, from other sentences and from words stretched over others",
    "recordings-02-tiled-kitchen",
  ],
  minLengthRatio: [0.75, "ratio", "complete takes and lines, from interrupted ones: relative length"],
  maxFiller: [1.2, "s", "fillers and other short removals, from stretches that hide words"],
  padding: [0.15, "s", "silence around what is aligned"],
  clearAlignment: [
    -1.5,
    "log probability",
    "texts that certainly sound like the audio, from those that need evidence",
    "cases-02-stairwell",
  ],
  minAlignment: [
    -1.9,
    "log probability",
    "lines and fillers that are spoken, from other sounds",
    "recordings-08-two-hosts, eval-11-real-reader",
  ],
  minPossibleAlignment: [
    -4.5,
    "log probability",
    "sounds that may be a filler or a misrecognized text, from other sounds",
    "cases-01-hiss-at-10-db, cases-02-stairwell",
  ],
  maxMisfit: [
    -6,
    "log probability",
    "words that are not spoken, from misrecognized ones",
    "eval-11-real-reader, eval-12-real-reader-asides, recordings-06-fan-heater",
  ],
} as const;

export const COMMON = /* @__PURE__ */ toValues(COMMON_THRESHOLDS);

/** Thresholds of audio activity, and of which voice was understood. */
export const ACTIVITY_THRESHOLDS = {
  minRegion: [0.025, "s", "sounds, from clicks"],
  minRegionGap: [
    0.09,
    "s",
    'pauses, from the closure of a "t" or "k" inside a word',
    "cases-05-numbers, cases-01-hiss-at-10-db",
  ],
  maxFade: [0.12, "s", "fading edges of words, from the sound after them", "real-lecture_a"],
  voiceEdge: [
    0.3,
    "s",
    "edges of words beside the voice, from noise away from it; also a gap that shows the noise of the room",
    "cases-01-hiss-at-10-db, cases-02-stairwell",
  ],
  roomEdge: [0.06, "s", "the noise of the room, from the voice that fades into a gap"],
  maxRoomDistanceDb: [25, "dB", "noise that hides the edges of words, from silence"],
  minOverRoomDb: [3, "dB", "voice, from steady noise"],
  overRoomSpreads: [3, "ratio", "voice, from varying noise: multiples of its distance from median to 10th percentile"],
  minQuietFrames: [20, "hops", "a background that can be judged, from too little of it"],
  surroundings: [
    5,
    "s",
    "the voice and the background near a span, from those of the whole recording",
    "real-gecko_demo, cases-01-hiss-at-10-db",
  ],
  clearContrastDb: [45, "dB", "recordings in which the edges of words are clear"],
  edgeMarginPerDb: [2500, "ticks", "hidden edges of words: margin for each dB of contrast that is missing"],
  maxEdgeMargin: [0.05, "s", "hidden edges of words, from pauses"],
  clippedLevel: [-3.5, "dB", "clipped audio: an unclipped waveform is never this loud for 15 ms"],
  minMeanLogProb: [
    -0.55,
    "log probability",
    "recordings that were understood, from other languages and noise",
    "cases-01-hiss-at-10-db",
  ],
  minExceptionLogProb: [-0.2, "log probability", "utterances that were understood, in a recording that was not"],
  minLocalLogProb: [
    -0.6,
    "log probability",
    "utterances that were understood, by themselves and their neighborhood",
    "cases-01-hiss-at-10-db",
  ],
  minBetweenLogProb: [-0.3, "log probability", "utterances that were understood, between two that were not"],
  neighborhood: [15, "s", "the neighborhood of an utterance", "cases-01-hiss-at-10-db, recordings-01-phone-interview"],
  minWordsForNgrams: [25, "words", "transcripts long enough to count repeated phrases"],
  maxRepeatedShare: [0.25, "share", "speech, from loops that a recognizer writes for noise"],
  minRetakesLogProb: [-0.35, "log probability", "retakes, from loops"],
  maxLoopWords: [8, "words", "loops, from phrases that occur again later"],
  minCoveredShare: [0.2, "share", "voice with words, from voice in which almost none was recognized"],
  minVoice: [1.5, "s", "enough voice to decide whether it was understood"],
  minLongVoice: [8, "s", "music, from a sentence that was not recognized"],
  languageSample: [300, "s", "the beginning of a recording, by which its language is judged"],
  maxWord: [2.5, "s", "words with usable times"],
  minVoicedShare: [
    1 / 3,
    "share",
    "voice, from noise and from words that a recognizer duplicates in silence: share of a stretch",
  ],
  minRestartPause: [0.14, "s", "pauses at which a phrase may start over"],
  minStretched: [0.5, "s", "words stretched over others, from long ones"],
  minStretchedRatio: [3, "ratio", "words stretched over others, from long ones: relative duration by letters"],
  minStretchedVoice: [0.9, "share", "words stretched over others, from words beside a pause"],
  paceWords: [12, "words", "words before and after one that show the local pace"],
  minStretch: [0.6, "s", "stretches removed as noise that may contain a word"],
  maxBelowSpeechDb: [15, "dB", "faint speech, from noise"],
  maxWindow: [10, "s", "windows that are recognized again"],
  maxRecognizedShare: [0.03, "share", "limit of the audio that is recognized again, of the recording"],
  minBudget: [
    60,
    "s",
    "audio that is recognized again in a short recording",
    "recordings-03-scottish-lecture, eval-01-home-studio",
  ],
  minLogProb: [-1.2, "log probability", "words in noise, from those that a recognizer makes up"],
  minVoiced: [0.15, "s", "syllables, from breath, steps, keys and hiss"],
  minRiseDb: [10, "dB", "syllables, from steady hum"],
  minUnrecognized: [0.25, "s", "voice without words that counts as a word, from the end of a word"],
  maxNoiseShare: [0.8, "share", "speech with noise, from music and applause"],
} as const;

export const ACTIVITY = /* @__PURE__ */ toValues(ACTIVITY_THRESHOLDS);

/** Thresholds of cuts: where they are, and what stays beside them. */
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
  maxGiven: [
    0.08,
    "s",
    "how far it may move into a kept span, or into a filler",
    "cases-04-rapid-stutter, real-gecko_demo",
  ],
  maxGivenShare: [0.2, "share", "how far it may move, as a share of the span into which it moves", "real-gecko_demo"],
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

export const CUTTING = /* @__PURE__ */ toValues(CUTTING_THRESHOLDS);

/** Thresholds of fillers. */
export const FILLERS_THRESHOLDS = {
  minPause: [0.06, "s", "fillers between words, from words that run into each other"],
  minStretched: [0.28, "s", "fillers without a pause, from short words"],
  minFiller: [0.09, "s", "fillers, from the release of a consonant"],
  maxWordlessFiller: [0.9, "s", "fillers without a word in a line, from longer speech"],
  minLeadOverWord: [0.5, "log probability", "fillers, from the word that was recognized"],
  maxLagBehindShortWord: [1, "log probability", "fillers, from short words that were not recognized"],
  maxLagIsolated: [1.6, "log probability", "the same for isolated sounds"],
  maxLagBehindHomophone: [3, "log probability", 'fillers, from "thumb" and other words that sound like them'],
  maxConfidence: [0.68, "confidence", "fillers that were recognized as a word, from words", "real-2002-139469-0000"],
  secondContext: [2, "s", "context of a second recognition", "recordings-03-scottish-lecture, real-say_jose"],
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

export const FILLERS = /* @__PURE__ */ toValues(FILLERS_THRESHOLDS);
