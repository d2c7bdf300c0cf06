import { expect, test } from "bun:test";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { listRepetitionPairs } from "../../../../../src/domain/planning/retakes/repetition-pairs";
import { findPhraseStarts, tokenize } from "../../../../../src/domain/planning/tokens";
import { spoken } from "./spoken";

/** Returns the tokens at which the takes start that are compared by audio with the last phrase. */
function listTakes(text: string): number[] {
  const words = spoken(text);
  const pairs = listRepetitionPairs(words, tokenize(words, "en"), ENGLISH);
  const last = pairs.at(-1)?.retakeStart ?? -1;
  return pairs.filter(({ retakeStart }) => retakeStart === last).map(({ from }) => from);
}

test.each([
  ["right before the pause", "gray~1 stones~2 / late birds sing", [0]],
  ["longer than three and a half seconds", "gray~1.2 stones~2.2 / late birds sing", []],
])("a take with other words is compared if it is short: %s", (_, text, expected) => {
  expect(listTakes(text)).toEqual(expected);
});

test.each([
  ["similar to", "lantern~1 stones~2.2 / western birds sing", [0]],
  ["different from", "lantern~1 stones~2.2 / shoulder birds sing", []],
])("a longer take that starts with a long word %s the retake's word", (_, text, expected) => {
  expect(listTakes(text)).toEqual(expected);
});

test("a phrase is compared with the last four takes that start alike", () => {
  const take = "late birds sing";
  expect(listTakes(Array.from({ length: 6 }, () => take).join(" / "))).toEqual([3, 6, 9, 12]);
});

test.each([
  [130_000, [0]],
  [150_000, [0, 1]],
])("a phrase starts after a pause of 140 ms: %p µs", (pause, expected) => {
  const [first, second] = spoken("late birds");
  const words = [first!, { ...second!, start: second!.start + pause, end: second!.end + pause }];
  expect(findPhraseStarts(words, tokenize(words, "en"))).toEqual(expected);
});
