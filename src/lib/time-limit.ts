/** Waiting for something that may never come, such as a response of a network folder. */

/** Returns the result of `waiting`, or that of `onLate` when it takes longer than `ms`. A late result is ignored. */
export async function withTimeLimit<T>(waiting: Promise<T>, ms: number, onLate: () => T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([waiting, late.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}
