/** Runs an asynchronous function on several items concurrently, and yields the results in the order of the items. */

/** `width` is the maximum number of items in progress. `maxCost` limits their total cost, unless there is only one. */
export type MapLimits<T> = { width: number; maxCost: number; toCost(item: T): number };

/** Starts an item when the limits allow it. After an error or an early end, waits for the items that have started. */
export async function* mapInOrder<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  { width, maxCost, toCost }: MapLimits<T>,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: { result: Promise<R>; cost: number }[] = [];
  let total = 0;
  const takeFirst = (): Promise<R> => {
    const first = running.shift()!;
    total -= first.cost;
    return first.result;
  };
  try {
    for await (const item of items) {
      const cost = toCost(item);
      while (running.length > 0 && (running.length >= width || total + cost > maxCost)) yield await takeFirst();
      const result = run(item);
      // The promise is awaited later. Until then, a rejection must not count as unhandled.
      result.catch(() => {});
      running.push({ result, cost });
      total += cost;
    }
    while (running.length > 0) yield await takeFirst();
  } finally {
    await Promise.allSettled(running.map(({ result }) => result));
  }
}
