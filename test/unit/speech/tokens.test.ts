import { expect, test } from "bun:test";
import { textOf, tokensOf } from "../../../src/speech/tokens";

test.each([
  ["Hello, all.", "Hello, all."],
  ["Hello all,, and welcome.", "Hello all, and welcome."],
  ["Wait... what?!", "Wait... what?!"],
])("the text of the tokens of %j", (given, text) => {
  expect(textOf([1, ...tokensOf(given), 2])).toBe(text);
});
