import { expect, test } from "bun:test";
import { isUuid, newId, randomToken } from "../../../src/lib/ids";

test("IDs are UUIDv7 in the order of creation", () => {
  const ids = Array.from({ length: 10_000 }, newId);
  expect(ids.every((id) => isUuid(id) && id[14] === "7")).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ["01890a5d-ac96-774b-bcce-b302099a8057", true],
  ["01890A5D-AC96-774B-BCCE-B302099A8057", true],
  ["01890a5d-ac96-774b-bcce-b302099a805", false],
  ["01890a5d-ac96-774b-bcce-b302099a80577", false],
  ["01890a5dac96774bbcceb302099a8057", false],
  ["01890a5d-ac96-774b-bcce-b302099a805g", false],
  ["01890a5d-ac96-774b-bcce-b302099a8057\n", false],
  ["../../../../../../../../../../etc/passwd", false],
  ["", false],
])("%j is a UUID: %p", (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});

test("random tokens have the length, and letters and digits are uniformly distributed", () => {
  const token = randomToken(62_000);
  expect(token).toMatch(/^[0-9A-Za-z]{62000}$/);
  const counts = new Map<string, number>();
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // 1,000 each on average; seven standard deviations either way.
  expect(Math.min(...counts.values())).toBeGreaterThan(780);
  expect(Math.max(...counts.values())).toBeLessThan(1_220);
});
