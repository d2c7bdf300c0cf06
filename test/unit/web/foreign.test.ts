import { expect, test } from "bun:test";
import { describeForeign, describeUntranscribed, findUntranscribed } from "../../../web/editor/transcript/foreign";

test.each([
  [1740, "en", "29 minutes are probably not in English."],
  [95, "de", "1 min 35 s are probably not in German."],
  [60.4, "de", "1 minute is probably not in German."],
  [40.2, "en", "40 seconds are probably not in English."],
  [1, "en", "1 second is probably not in English."],
])("%d seconds of %s", (seconds, code, text) => {
  expect(describeForeign(seconds, code)).toBe(text);
});

const asset = { audio_tracks: 1, has_transcript: false, language: null, language_detected: null };

test.each([
  [{ ...asset, language: "de" }, "This recording is in German."],
  [{ ...asset, language_detected: { code: "nl" } }, "This recording is probably in Dutch."],
  [{ ...asset, language_detected: { code: "xq" } }, "This recording is probably in another language."],
  [{ ...asset, has_transcript: true, language: "de" }, null],
  [{ ...asset, audio_tracks: 0, language: "de" }, null],
  [asset, null],
])("what was not transcribed of %j", (one, text) => {
  const code = findUntranscribed(one);
  expect(code && describeUntranscribed(one, code)).toBe(text);
});
