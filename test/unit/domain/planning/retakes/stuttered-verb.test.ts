import { expect, test } from "bun:test";
import { removed } from "./spoken";

test.each([
  ["before its object", "I have been getting getting one of these", "stutter.word: getting"],
  ["before an infinitive", "so we are trying trying to sell it", "stutter.word: trying"],
  ["with a short pause", "she was going / going to the shop", "stutter.word: going"],
])("a verb said twice %s is a stutter", (_, text, expected) => {
  expect(removed(text)).toBe(expected);
});

test.each([
  ["without an object", "and it kept running running. Then it stopped"],
  ["with a comma, for emphasis", "it is going, going gone"],
  ["three times", "we were walking walking walking the dog"],
  ["joined by and", "she kept talking talking and then left"],
  ["an adjective before a noun", "what an amazing amazing day"],
  ["no verb", "there is nothing nothing that helps"],
])("what is repeated on purpose stays: %s", (_, text) => {
  expect(removed(text)).toBe("");
});
