/** Yields to timers and requests. A loop over data in memory would otherwise block them until it ends. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
