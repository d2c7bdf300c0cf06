/** Whether the tests run at full size, with `OFFCUT_FULL=1`, or at the size that CI has time for. */
export const isFullSize = process.env.OFFCUT_FULL === "1";

/** Returns the first value with `OFFCUT_FULL=1`, otherwise the second: `const HISTORIES = fullOr(10_000, 500)`. */
export const fullOr = <T>(full: T, ci: T): T => (isFullSize ? full : ci);
