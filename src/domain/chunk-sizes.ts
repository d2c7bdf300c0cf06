/** Chunk sizes of a render that runs at several places, and which place encodes which chunk. Pure. */

/** The speed of a place. `framesPerSecond` of one slot; null if it has not been measured. */
export type PlaceSpeed = { slots: number; framesPerSecond: number | null };

export const MIN_CHUNK_FRAMES = 48;
export const MAX_CHUNK_FRAMES = 900;
/**
 * Time for which a place of median speed encodes a chunk, and minimum time for the last chunks. The overhead of a chunk
 * is about half a second.
 */
const TARGET_SECONDS = 16;
const MIN_SECONDS = 1;
/**
 * Minimum size of the last chunks, as a share of the work of each slot. Ending at the same time is not worth smaller
 * ones.
 */
const MIN_SHARE_PER_SLOT = 0.015;
/**
 * A chunk is at most this share of the work that is left for each slot, so that the places end at about the same time.
 */
const MAX_SHARE_PER_SLOT = 0.5;

/** Returns the speed of a place in the middle, counting each slot; `fallback` when none has been measured. */
export function getMedianSpeed(places: readonly PlaceSpeed[], fallback: number): number {
  const speeds = places
    .flatMap(({ slots, framesPerSecond }) => (isSpeed(framesPerSecond) ? Array(slots).fill(framesPerSecond) : []))
    .sort((a, b) => a - b);
  return speeds[speeds.length >> 1] ?? fallback;
}

const isSpeed = (value: number | null): value is number => value !== null && Number.isFinite(value) && value > 0;

/**
 * Returns the sizes of chunks in frames, which add up to `frameCount`. They become smaller towards the end (guided
 * self-scheduling). With fewer frames than `MIN_CHUNK_FRAMES` there is one chunk.
 */
export function chooseChunkSizes(frameCount: number, places: readonly PlaceSpeed[], fallbackSpeed: number): number[] {
  const speed = getMedianSpeed(places, fallbackSpeed);
  const target = clamp(speed * TARGET_SECONDS, MIN_CHUNK_FRAMES, MAX_CHUNK_FRAMES);
  const slots = Math.max(
    1,
    sum(places, (place) => place.slots),
  );
  const smallest = Math.max(speed * MIN_SECONDS, (frameCount * MIN_SHARE_PER_SLOT) / slots);
  const min = clamp(smallest, MIN_CHUNK_FRAMES, MAX_CHUNK_FRAMES / 2);
  const sizes: number[] = [];
  for (let left = frameCount; left > 0; ) {
    const guided = Math.ceil(Math.max(min, Math.min(target, (left * MAX_SHARE_PER_SLOT) / slots)));
    // A rest that is too small for a chunk of its own joins the last one.
    const size = left - guided < min ? left : guided;
    sizes.push(size);
    left -= size;
  }
  return sizes;
}

/** A place with room, and the other places that work on the same render or have room for it. */
export type Rivals = {
  speed: number;
  others: readonly PlaceSpeed[];
  othersRunningFrames: number;
  fallbackSpeed: number;
};

/**
 * Returns the index of the chunk that a place gets, of the `waiting` ones with their frames; null when the other places
 * would have done all of them before this place has done the smallest. The largest chunks go first; a place slower than
 * the median gets one that takes it about as long as the largest takes a median place, or the smallest.
 */
export function chooseChunk(waiting: readonly number[], { speed, ...rivals }: Rivals): number | null {
  if (waiting.length === 0) return null;
  const { others, othersRunningFrames, fallbackSpeed } = rivals;
  const othersSpeed = sum(others, (place) => place.slots * (place.framesPerSecond ?? fallbackSpeed));
  const isFastest = others.every((place) => (place.framesPerSecond ?? fallbackSpeed) <= speed);
  const othersSeconds =
    othersSpeed === 0 ? Number.POSITIVE_INFINITY : (sum(waiting, (n) => n) + othersRunningFrames) / othersSpeed;
  const known = others.map(({ slots, framesPerSecond }) => ({
    slots,
    framesPerSecond: framesPerSecond ?? fallbackSpeed,
  }));
  const median = getMedianSpeed([...known, { slots: 1, framesPerSecond: speed }], speed);
  const limit = Math.max(...waiting) * Math.min(1, (speed / median) * MAX_LONGER);
  let best = 0;
  for (let n = 1; n < waiting.length; n++) if (isBetterFit(waiting[n]!, waiting[best]!, limit)) best = n;
  return isFastest || waiting[best]! / speed <= othersSeconds ? best : findSmall(waiting, speed * othersSeconds);
}

/** Maximum factor by which a slow place may exceed the target time of a chunk. */
const MAX_LONGER = 1.25;

/** Returns whether a chunk fits better: the largest one within the limit, otherwise the smallest. */
function isBetterFit(frames: number, best: number, limit: number): boolean {
  if (best > limit) return frames < best;
  return frames <= limit && frames > best;
}

/** Returns the index of the largest chunk of at most `maxFrames`; null when there is none. */
function findSmall(waiting: readonly number[], maxFrames: number): number | null {
  let best: number | null = null;
  for (const [n, frames] of waiting.entries())
    if (frames <= maxFrames && (best === null || frames > waiting[best]!)) best = n;
  return best;
}

/** A chunk that one place is encoding. `elapsedSeconds` since its start, `share` of it that is done. */
export type RunningChunk = { frames: number; speed: number; elapsedSeconds: number; share: number };

/** A second run must take at most this share of the time that the first one still needs. */
const MAX_DUPLICATE_SHARE = 0.6;
/** A smaller gain is not worth a second run. */
const MIN_SAVED_SECONDS = 1;

/**
 * Returns the index of the running chunk that an idle place of this speed should encode too, because it would finish it
 * much earlier; null if no second run saves enough.
 */
export function chooseDuplicate(running: readonly RunningChunk[], speed: number): number | null {
  let best: number | null = null;
  let mostSaved = MIN_SAVED_SECONDS;
  for (const [n, chunk] of running.entries()) {
    const left = estimateSecondsLeft(chunk);
    const needed = chunk.frames / speed;
    if (needed > left * MAX_DUPLICATE_SHARE || left - needed <= mostSaved) continue;
    mostSaved = left - needed;
    best = n;
  }
  return best;
}

/** Estimates from the speed of the place and from the progress of the chunk, and takes the longer time. */
export function estimateSecondsLeft({ frames, speed, elapsedSeconds, share }: RunningChunk): number {
  const done = Math.min(1, Math.max(0, share));
  const bySpeed = (frames * (1 - done)) / speed;
  // Before the first report, the whole time of the chunk may be overdue.
  const byProgress = done > 0 ? (elapsedSeconds * (1 - done)) / done : Math.max(0, elapsedSeconds - frames / speed);
  return Math.max(bySpeed, byProgress);
}

/** The weight of the newest value in the mean speed of a place. */
const SPEED_WEIGHT = 0.3;

/** Returns the exponential mean of a place's speed with a new measurement. Ignores an invalid `measured`. */
export function updateSpeed(mean: number | null, measured: number): number | null {
  if (!isSpeed(measured)) return mean;
  return mean === null ? measured : mean + (measured - mean) * SPEED_WEIGHT;
}

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));

const sum = <Item>(items: readonly Item[], get: (item: Item) => number): number =>
  items.reduce((total, item) => total + get(item), 0);
