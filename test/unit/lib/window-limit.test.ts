import { expect, test } from "bun:test";
import { createWindowLimit } from "../../../src/lib/window-limit";

test("occurrences count until they leave the window", () => {
  const limit = createWindowLimit(2, 100);
  limit.add("a", 0);
  expect(limit.waitMs("a", 0)).toBe(0);
  limit.add("a", 60);
  expect(limit.waitMs("a", 60)).toBe(40);
  expect(limit.waitMs("a", 100)).toBe(0);
  limit.add("a", 100);
  expect(limit.waitMs("a", 101)).toBe(59);
  limit.clear("a");
  expect(limit.waitMs("a", 101)).toBe(0);
  expect(limit.waitMs("b", 101)).toBe(0);
});

test("the first of very many keys are forgotten", () => {
  const limit = createWindowLimit(1, 1_000_000);
  for (let i = 0; i < 150_000; i++) limit.add(`key-${i}`, i / 1000);
  expect(limit.waitMs("key-149999", 150)).toBeGreaterThan(0);
  expect(limit.waitMs("key-0", 150)).toBe(0);
});
