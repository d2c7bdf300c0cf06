/** Finds the level at which an encoded file has its target loudness. */
import { predictLoudness } from "../../domain/limited-loudness";
import { type Loudness, type LoudnessSteps, measureSteps } from "../../domain/loudness";
import { yieldToEventLoop } from "../../lib/event-loop";
import { CLIPPED_DB, type OutputLevel } from "./leveler";
import { RELEASE_SECONDS } from "./limiter";

/** Maximum true peak, in dBTP (EBU R128). */
export const MAX_PEAK_DBTP = -1;
/** The encoder's own error adds to peaks. */
const CODEC_MARGIN_DB = 0.3;
const CEILING_DBTP = MAX_PEAK_DBTP - CODEC_MARGIN_DB;
/** A result that differs less from the target is accepted. The meter shows tenths. */
const TOLERANCE_LU = 0.15;
const MAX_ATTEMPTS = 6;
/** For peaks only, which should be below the maximum. */
const MAX_PEAK_ATTEMPTS = 7;
/** Minimum rise in loudness per decibel of gain. Below it, more gain only distorts. */
const MIN_RISE = 0.1;
const MIN_RAISE_DB = 0.2;
/** Amount by which the ceiling is lowered beyond the measured excess, for each file that has been encoded. */
const PEAK_STEP_DB = 0.1;
const MAX_EXCEEDING_SHARE = 0.03;
/** A step is not longer than if a decibel of gain added this much. */
const MIN_SLOPE = 0.25;
/** More gain only amplifies noise. */
const MAX_GAIN_DB = 50;
/**
 * Maximum gain above the one that needs no limiter. Higher gains cause audible pumping. A clipper allows more, because
 * it leaves less to the limiter.
 */
const MAX_LIMITED_DB = 6;
const MAX_CLIPPED_DB = 14;
/** Approximate share of the loudness lost to a limiter that the clipper keeps. */
const CLIPPER_GAIN = 0.65;
/** Steps of the search in a prediction: to a hundredth of a decibel. */
const BISECTIONS = 11;

export const toFactor = (decibels: number): number => 10 ** (decibels / 20);

/**
 * Gains are in decibels. `fine`: steps of 10 ms of a recording that is not silent. A prediction for a day of audio
 * takes a while, so each one first yields to the event loop.
 */
function createSearch(fine: LoudnessSteps, target: number, signal: AbortSignal | undefined) {
  const base = Math.min(MAX_GAIN_DB, target - predictLoudness(fine, null).integrated!);
  const predictions = new Map<string, number>();
  const predict = async (gain: number, above: number): Promise<number> => {
    const key = `${gain} ${above}`;
    const known = predictions.get(key);
    if (known !== undefined) return known;
    await yieldToEventLoop();
    signal?.throwIfAborted();
    const limiter = { gain: toFactor(gain), ceiling: toFactor(CEILING_DBTP + above), release: RELEASE_SECONDS };
    const predicted = predictLoudness(fine, limiter).integrated ?? target;
    predictions.set(key, predicted);
    return predicted;
  };
  const predictAt = async (gain: number, isClipped: boolean): Promise<number> => {
    const limited = await predict(gain, 0);
    return isClipped ? limited + CLIPPER_GAIN * ((await predict(gain, CLIPPED_DB)) - limited) : limited;
  };
  const getMaxGain = (isClipped: boolean) =>
    Math.min(MAX_GAIN_DB, base + (isClipped ? MAX_CLIPPED_DB : MAX_LIMITED_DB));
  return {
    getMaxGain,
    predictLoudness: predictAt,
    /** Whether the clipper reaches a loudness that the limiter alone does not. */
    async isClipperUseful(): Promise<boolean> {
      const limited = await predictAt(getMaxGain(false), false);
      return (await predictAt(getMaxGain(true), true)) > limited + TOLERANCE_LU;
    },
    /** Returns the first gain, or the next one after a file that is louder by `offset` than predicted. */
    async predictGain(isClipped: boolean, offset = 0): Promise<number> {
      let [low, high] = [base - Math.max(0, Math.min(MAX_LIMITED_DB, offset)), getMaxGain(isClipped)];
      // Without peaks above the ceiling, one gain is exact.
      if ((await predictAt(low, isClipped)) + offset >= target - 0.01) return low;
      for (let n = 0; n < BISECTIONS; n++) {
        const middle = (low + high) / 2;
        if ((await predictAt(middle, isClipped)) + offset < target) low = middle;
        else high = middle;
      }
      return high;
    },
  };
}

/**
 * Calls `encode`, which returns the steps of the file, until it is the target or comes no closer. The clipper is used
 * only where the limiter alone is not enough. `fine`: steps of 10 ms of a recording that is not silent. Returns the
 * loudness of the last file, whose peak may still exceed the maximum. Errors: those of `encode`; the signal's reason.
 */
export async function searchLevel(
  fine: LoudnessSteps,
  target: number,
  encode: (level: OutputLevel) => Promise<LoudnessSteps>,
  signal?: AbortSignal,
): Promise<Loudness> {
  const search = createSearch(fine, target, signal);
  const limited = await search.predictLoudness(search.getMaxGain(false), false);
  let isClipped = limited < target - TOLERANCE_LU && (await search.isClipperUseful());
  let gain = await search.predictGain(isClipped);
  let ceiling = CEILING_DBTP;
  let lowered: Float32Array | null = null;
  let before: EncodedLevel | null = null;
  let [soft, loud]: (EncodedLevel | null)[] = [];
  for (let attempt = 1; ; attempt++) {
    const steps = await encode({ gain: toFactor(gain), ceiling: toFactor(ceiling), lowered, isClipped });
    const encoded = measureSteps(steps);
    const integrated = encoded.integrated ?? target;
    const error = target - integrated;
    const isBelow = (encoded.peak ?? MAX_PEAK_DBTP) <= MAX_PEAK_DBTP;
    const maxGain = search.getMaxGain(isClipped);
    const raised = before === null ? 0 : gain - before.gain;
    const risen = before === null ? 0 : integrated - before.integrated;
    // The limiter turns down all that more gain adds.
    const isSaturated = error > 0 && ((raised > MIN_RAISE_DB && risen < MIN_RISE * raised) || gain >= maxGain);
    const isBest = Math.abs(error) <= TOLERANCE_LU || (isSaturated && (isClipped || !(await search.isClipperUseful())));
    const isLast = attempt >= MAX_ATTEMPTS;
    if (((isBest || isLast) && isBelow) || attempt === MAX_PEAK_ATTEMPTS) return encoded;
    // An encoder that exceeds it in many places, as at a low bitrate for many channels, does so in others the next
    // time.
    if (countExcesses(steps) > MAX_EXCEEDING_SHARE * steps.peaks.length) {
      ceiling -= encoded.peak! - MAX_PEAK_DBTP + attempt * PEAK_STEP_DB;
    } else if (!isBelow) {
      lowered = lowerCeiling(steps.peaks, lowered, attempt * PEAK_STEP_DB);
    }
    if (isBest || isLast) continue;
    if (isSaturated) {
      isClipped = true;
      [before, soft, loud] = [null, null, null];
      gain = await search.predictGain(true);
      continue;
    }
    const here = { gain, integrated };
    if (error > 0) soft = here;
    else loud = here;
    const offset = integrated - (await search.predictLoudness(gain, isClipped));
    gain = Math.min(
      maxGain,
      before === null ? await search.predictGain(isClipped, offset) : estimateGain(target, here, before, soft, loud),
    );
    before = here;
  }
}

const MAX_PEAK = toFactor(MAX_PEAK_DBTP);
const countExcesses = ({ peaks }: LoudnessSteps): number => peaks.filter((peak) => peak > MAX_PEAK).length;

/**
 * Returns lower factors of the ceiling where the encoder has exceeded the maximum, and beside it: its frames may be
 * shifted.
 */
function lowerCeiling(peaks: Float32Array, before: Float32Array | null, marginDb: number): Float32Array {
  const lowered = before?.slice() ?? new Float32Array(peaks.length).fill(1);
  for (const [n, peak] of peaks.entries()) {
    if (peak <= MAX_PEAK) continue;
    const factor = MAX_PEAK / (peak * toFactor(marginDb));
    for (let step = Math.max(0, n - 1); step <= Math.min(lowered.length - 1, n + 1); step++)
      lowered[step] = Math.min(lowered[step]!, (before?.[step] ?? 1) * factor);
  }
  return lowered;
}

type EncodedLevel = { gain: number; integrated: number };

/** Returns the gain between a file that is too soft and one that is too loud, or else beyond the last two. */
function estimateGain(
  target: number,
  here: EncodedLevel,
  before: EncodedLevel,
  soft: EncodedLevel | null | undefined,
  loud: EncodedLevel | null | undefined,
): number {
  if (soft && loud && soft.gain < loud.gain)
    return soft.gain + ((loud.gain - soft.gain) * (target - soft.integrated)) / (loud.integrated - soft.integrated);
  // The more the limiter turns down, the less a decibel of gain adds.
  const slope = (here.integrated - before.integrated) / (here.gain - before.gain);
  const limitedSlope = Number.isFinite(slope) ? Math.min(1, Math.max(MIN_SLOPE, slope)) : 1;
  return here.gain + (target - here.integrated) / limitedSlope;
}
