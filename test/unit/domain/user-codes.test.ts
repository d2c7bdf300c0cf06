import { expect, test } from "bun:test";
import { formatUserCode, parseUserCode, USER_CODE_LENGTH, USER_CODE_LETTERS } from "../../../src/domain/device-grant";
import { randomText } from "../../../src/lib/ids";

test.each<[typed: string, code: string | null]>([
  ["WDJB-MJHT", "WDJBMJHT"],
  ["wdjbmjht", "WDJBMJHT"],
  [" wdjb mjht\n", "WDJBMJHT"],
  ["W-D-J-B-M-J-H-T", "WDJBMJHT"],
  ["WDJB-MJH", null],
  ["WDJB-MJHTT", null],
  ["WDJA-MJHT", null],
  ["WDJY-MJHT", null],
  ["WDJ0-MJHT", null],
  ["", null],
  ["ＷDJB-MJHT", null],
  ["ßDJBMJHT", null],
])("%j", (typed, code) => {
  expect(parseUserCode(typed)).toBe(code);
});

test("a code is shown in two groups, without letters that could spell a word, and can be typed again", () => {
  for (let i = 0; i < 200; i++) {
    const code = randomText(USER_CODE_LETTERS, USER_CODE_LENGTH);
    expect(formatUserCode(code)).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    expect(parseUserCode(formatUserCode(code).toLowerCase())).toBe(code);
  }
});

test("every letter is about equally frequent", () => {
  const text = randomText(USER_CODE_LETTERS, 40_000);
  const counts = [...USER_CODE_LETTERS].map((letter) => text.split(letter).length - 1);
  for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(300);
});
