import { expect, test } from "bun:test";
import { describeForeign } from "../../../web/editor/transcript/foreign";

test.each([
  [1740, "en", "29 minutes are probably not in English."],
  [95, "de", "2 minutes are probably not in German."],
  [40.2, "en", "40 seconds are probably not in English."],
  [1, "en", "1 second is probably not in English."],
])("%d seconds of %s", (seconds, code, text) => {
  expect(describeForeign(seconds, code)).toBe(text);
});
