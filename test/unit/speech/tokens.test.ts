import { expect, test } from "bun:test";
import { detokenize, tokenize } from "../../../src/speech/tokens";

test.each([
  ["Hello, all.", "Hello, all."],
  ["Hello all,, and welcome.", "Hello all, and welcome."],
  ["Wait... what?!", "Wait... what?!"],
])("the text of the tokens of %j", (given, text) => {
  expect(detokenize([1, ...tokenize(given), 2])).toBe(text);
});
