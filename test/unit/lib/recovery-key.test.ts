import { expect, test } from "bun:test";
import fc from "fast-check";
import { createRecoveryKey, formatRecoveryKey, parseRecoveryKey } from "../../../src/lib/recovery-key";

test("a key is eight groups, and each one is different", () => {
  expect(createRecoveryKey()).toMatch(/^([0-9A-HJKMNP-TV-Z]{7}-){7}[0-9A-HJKMNP-TV-Z]{7}$/);
  expect(createRecoveryKey()).not.toBe(createRecoveryKey());
});

test("a key is read as it was written, also typed by hand", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      const text = formatRecoveryKey(key);
      expect(parseRecoveryKey(text)).toEqual(key);
      const typed = ` ${text.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l")}\n`;
      expect(parseRecoveryKey(typed)).toEqual(key);
    }),
  );
});

test("each mistyped character is found, and the message does not repeat the key", () => {
  const text = createRecoveryKey();
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom(..."0123456789ABCDEFGHJKMNPQRSTVWXYZ*ÄU"), (at, character) => {
      fc.pre(text[at] !== "-" && text[at] !== character);
      const typed = text.slice(0, at) + character + text.slice(at + 1);
      expect(() => parseRecoveryKey(typed)).toThrow(/^Recovery key (is mistyped|contains)/);
    }),
  );
  expect(() => parseRecoveryKey(text.slice(1))).toThrow("A recovery key has 56 characters, but this one has 55.");
  expect(() => parseRecoveryKey("")).toThrow("this one has 0");
});
