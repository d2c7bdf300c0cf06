/** Runs an asynchronous function on several items at the same time, and yields the results in the order of the items. */

/** `width`: maximum number of items that are worked on; `maxCost`: of their costs together, unless there is only one. */
export type MapLimits<T> = { width: number; maxCost: number; toCost(item: T): number };

/** Takes an item when the limits allow it. After an error or an early end, what has started is waited for. */
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
      // It is awaited later: until then, a rejection is not unhandled.
      result.catch(() => {});
      running.push({ result, cost });
      total += cost;
    }
    while (running.length > 0) yield await takeFirst();
  } finally {
    await Promise.allSettled(running.map(({ result }) => result));
  }
}
