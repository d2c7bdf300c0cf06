/** Limits how long to wait for something that may never happen, such as a response from a network folder. */

/** Returns the result of `waiting`, or that of `onLate` if it takes longer than `ms`. A late result is ignored. */
export async function withTimeLimit<T>(waiting: Promise<T>, ms: number, onLate: () => T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([waiting, late.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}
