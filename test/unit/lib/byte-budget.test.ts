import { expect, test } from "bun:test";
import { createByteBudget } from "../../../src/lib/byte-budget";

test("bytes are limited for each key and in all, and given back once", () => {
  const budget = createByteBudget({ maxBytes: 10, maxBytesPerKey: 6 });
  const first = budget.take("a", 6)!;
  expect(budget.take("a", 1)).toBeNull();
  const second = budget.take("b", 4)!;
  expect(budget.take("c", 1)).toBeNull();
  first();
  first();
  expect(budget.take("c", 7)).toBeNull();
  const third = budget.take("c", 6);
  expect([third !== null, budget.take("b", 1)]).toEqual([true, null]);
  second();
  expect(budget.take("b", 4)).not.toBeNull();
});
