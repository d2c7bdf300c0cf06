/** Limits how long to wait for something that may never happen, such as a response from a network folder. */
import { stretchLimit } from "./process";

/**
 * Returns the result of `waiting`, or that of `onLate` if it takes longer than `ms`, stretched for this process. A late
 * result is ignored.
 */
export async function withTimeLimit<T>(waiting: Promise<T>, ms: number, onLate: () => T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, stretchLimit(ms));
  try {
    return await Promise.race([waiting, late.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}
