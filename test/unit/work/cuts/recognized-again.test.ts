import { expect, test } from "bun:test";
import { findRecognizerLanguage, measureRecognitions } from "../../../../src/work/cuts/recognized-again";

const window = (start: number, end: number) => ({ window: { start, end } });

test("second recognitions are counted with their audio and their time", async () => {
  const { recognize, recognized } = measureRecognitions(async (requests) => {
    await Bun.sleep(5);
    return requests.map(() => ({ words: [], meanLogProb: -1 }));
  });
  expect(await recognize([window(0, 2_000_000), window(5_000_000, 6_500_000)])).toHaveLength(2);
  await recognize([window(0, 1_000_000)]);
  expect(recognized).toMatchObject({ windows: 3, audio_ms: 4_500 });
  expect(recognized.duration_ms).toBeGreaterThanOrEqual(9);
});

test("a recording is recognized again by the recognizer that transcribed it", () => {
  const transcript = { language: "de", words: [], utterances: [] };
  expect(findRecognizerLanguage({ ...transcript, forcing: false })).toBe("de");
  expect(findRecognizerLanguage(transcript)).toBeNull();
  expect(findRecognizerLanguage(null)).toBeNull();
});
