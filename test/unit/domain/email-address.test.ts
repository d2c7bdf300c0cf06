import { expect, test } from "bun:test";
import { parseEmailAddress } from "../../../src/domain/email-address";

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
