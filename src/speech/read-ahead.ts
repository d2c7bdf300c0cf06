/** Starts work before its result is needed. */

/**
 * Returns a function that returns the result of each of `items`, which are asked for in order, and starts the work on the next `depth` ones.
 * Results that nobody asks for are dropped, and so are their errors.
 */
export function createReadAhead<Item, Result>(
  items: readonly Item[],
  depth: number,
  start: (item: Item) => Promise<Result>,
): (n: number) => Promise<Result> {
  const started = new Map<number, Promise<Result>>();
  let next = 0;
  return async (n) => {
    for (; next < items.length && next <= n + depth; next++) {
      const result = start(items[next]!);
      result.catch(() => {});
      started.set(next, result);
    }
    const result = started.get(n)!;
    started.delete(n);
    return result;
  };
}
