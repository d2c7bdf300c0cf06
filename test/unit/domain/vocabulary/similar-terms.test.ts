import { expect, test } from "bun:test";
import { prepareTerms } from "../../../../src/domain/vocabulary/terms";

test("a search ends at its bound although all terms have the same letters", () => {
  let seed = 1;
  const pick = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 12;
  };
  // A vowel after each consonant: equal letters in a row would be one phone.
  const syllables = Array.from({ length: 39 }, () => `${"bdfgklmnprst"[pick()]!}a`);
  const terms = Array.from({ length: 2_000 }, () => syllables.toSorted(() => (pick() < 6 ? -1 : 1)).join(""));
  const { findSimilar } = prepareTerms(terms.map((text) => ({ text, spoken_as: [] })));
  const isFound = (text: string) =>
    findSimilar(text).some(({ term, distance }) => term.texts[0] === text && distance === 0);
  // A million pairs of phones are those of 165 terms.
  expect(terms.slice(0, 100).every(isFound)).toBe(true);
  expect(terms.slice(1_900).some(isFound)).toBe(false);
});
