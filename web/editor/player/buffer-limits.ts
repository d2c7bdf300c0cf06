/** Amounts of media in the buffers around the playhead, in microseconds. */
export const AHEAD = 30_000_000;
/** Minimum and maximum amount of media to keep behind the playhead. */
export const MIN_BEHIND = 20_000_000;
export const MAX_BEHIND = 40_000_000;
/** Minimum while the buffer is full. A removal extends to the next keyframe, which must not be after the playhead. */
export const MIN_BEHIND_WHEN_FULL = 1_000_000;
/**
 * Duration that the browser has already decoded, at normal speed. An edit within it becomes audible only after a seek.
 */
export const DECODED = 300_000;
/** Duration from the playhead on that is not replaced when the preview takes the place of the source. */
export const KEPT_AHEAD = 1_000_000;
/** Maximum distance between the playhead and a likely edit for which pieces are preloaded. */
export const MAX_PREPARED_DISTANCE = 10_000_000;
/**
 * Duration that is loaded first after a jump, at normal speed. `MIN_LANDING` is the part of a piece that must remain
 * for the following pieces to be delayed.
 */
export const LANDING = 1_500_000;
export const MIN_LANDING = 1_000_000;
/**
 * A jump to the start of a piece lands this far inside it, because frames that are decoded but not shown may precede
 * the first one.
 */
export const NUDGE = 1_000;
