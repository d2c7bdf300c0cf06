import { expect, test } from "bun:test";
import { isPlainAddress, parseEmailAddress } from "../../../src/domain/email-address";

test.each([
  ["Anna@Example.test", "anna@example.test"],
  [" a@b ", "a@b"],
  ["o'brien+cut@example.test", "o'brien+cut@example.test"],
  ["jürgen@müller.example", "jürgen@müller.example"],
])("%p is an address", (text, address) => {
  expect(parseEmailAddress(text)).toBe(address);
});

test.each([
  ...["", "a", "a@", "@b", "a@b@c", "a b@c", "a@b\nBcc: c@d", "a@b\u0000", "<a@b>", '"a"@b', "a@b,c@d", "a@b;c"],
  `${"a".repeat(250)}@example.test`,
])("%p is none", (text) => {
  expect(parseEmailAddress(text)).toBeNull();
});

test.each([
  ["ada@studio.example", true],
  [" Jürgen@müller.example ", true],
  ["ада@студия.example", true],
  ["a\u200bda@studio.example", false],
  ["ada\u00ad@studio.example", false],
  ["ada\u202e@studio.example", false],
  ["ada\ufe0f@studio.example", false],
  ["\u3164ada@studio.example", false],
  ["ａda@studio.example", false],
  ["ﬁn@studio.example", false],
  ["a\u0308da@studio.example", false],
  ["\u212aarl@studio.example", false],
  // Dashboards and mail servers read these as ada@studio.example.
  ["ada@studio\u3002example", false],
  ["ada@studio%2eexample", false],
  ["ada@studio.example/x", false],
  ["ada@studio.example#x", false],
  ["ada@studio.example?x", false],
  ["ada@studio.example.", false],
  ["ada@localhost", true],
])("%p is plain: %p", (text, expected) => {
  expect(isPlainAddress(text)).toBe(expected);
});
