/** Second recognitions by the real recognizer, on real audio, in its process. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { AnalysisAudioFile, Recognition, SpeechEngine } from "../../../src/domain/speech";
import type { Span } from "../../../src/domain/time";
import { createSpeechEngine } from "../../../src/speech/engine";
import { speechDir } from "./graphs";
import { concatenated, pcmFile, realRecording, silence } from "./test-audio";

let engine: SpeechEngine;
let file: AnalysisAudioFile;

beforeAll(async () => {
  file = await pcmFile(concatenated(await realRecording(), silence(3)));
  engine = createSpeechEngine({
    command: [process.execPath, join(import.meta.dir, "process-entry.ts"), await speechDir()],
  });
});
afterAll(() => engine.close());

const at = (start: number, end: number): Span => ({ start: start * 1e6, end: end * 1e6 });
const recognize = (...windows: Span[]) =>
  engine.recognize(
    file,
    windows.map((window) => ({ window })),
  );
const textOf = ({ words }: Recognition) => words.map(({ text }) => text.toLowerCase().replace(/[^a-z]/g, "")).join(" ");

describe("recognizing windows", () => {
  test("returns the words of each window with times in the recording, confidences and the mean log probability", async () => {
    const [second, first] = await recognize(at(7.9, 11), at(0, 2.4));
    expect(textOf(second!)).toContain("what you can do for your country");
    expect(textOf(first!)).toContain("my fellow americans");
    for (const { words, meanLogProb } of [first!, second!]) {
      expect(meanLogProb).toBeGreaterThan(-0.6);
      for (const [i, word] of words.entries()) {
        expect(word.start).toBeGreaterThanOrEqual(words[i - 1]?.end ?? 0);
        expect(word.end).toBeGreaterThan(word.start);
        expect(word.confidence).toBeGreaterThan(0.2);
      }
    }
    expect(second!.words.find((word) => /^what/i.test(word.text))!.start).toBeGreaterThan(8_000_000);
    expect(second!.words.at(-1)!.end).toBeLessThanOrEqual(11_000_000);
  });

  test("the order and the lengths of the other windows do not matter", async () => {
    const [alone] = await recognize(at(3, 7.5));
    const together = (await recognize(at(0, 2.4), at(8, 9), at(3, 7.5), at(0, 11))).at(2)!;
    expect(textOf(together)).toBe(textOf(alone!));
    for (const [i, word] of together.words.entries())
      expect(Math.abs(word.start - alone!.words[i]!.start)).toBeLessThan(50_000);
  });

  test("windows can be aligned after they have been recognized together", async () => {
    const windows = [at(0.1, 2.5), at(3.1, 5.5)];
    const requests = windows.map((window) => ({ window, text: "and so my fellow americans" }));
    const before = await engine.forcedAlign(file, requests);
    await recognize(...windows);
    expect(await engine.forcedAlign(file, requests)).toEqual(before);
  });

  test("silence, empty windows and windows beyond the recording have no words", async () => {
    const results = await recognize(at(11.5, 13.5), at(5, 5), at(6, 5), at(20, 30));
    for (const { words, meanLogProb } of results) if (words.length > 0) expect(meanLogProb).toBeLessThan(-0.6);
    const [whole] = await recognize(at(-5, 100));
    expect(textOf(whole!)).toContain("ask not what your country");
  });

  test("with a language without a model, no words are returned", async () => {
    const [nothing] = await engine.recognize(file, [{ window: at(0, 2.4) }], { language: "de" });
    expect(nothing!.words).toEqual([]);
    expect(nothing!.meanLogProb).toBeLessThan(-1e6);
  });
});
