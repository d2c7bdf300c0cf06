/** The words that are passed on while speech is analyzed. */
import { expect, test } from "bun:test";
import { getMediaFolder } from "../../../../src/blobs/folders";
import type { SpeechEngine, Word } from "../../../../src/domain/speech";
import { analyzeSpeech, type WordsCheckpoint } from "../../../../src/work/jobs/analyze-speech";
import { until } from "../../../until";

const say = (...texts: string[]): Word[] => texts.map((text) => ({ text, start: 0, end: 1, confidence: 1 }));

/** Analyzes with an engine that reports words and then fails. `checkpoint` receives the words that are passed on. */
async function analyze(
  report: (add: (words: Word[], from: number) => void) => Promise<void>,
  checkpoint: (sent: WordsCheckpoint) => Promise<void>,
): Promise<void> {
  const engine: Pick<SpeechEngine, "analyze"> = {
    analyze: async (_, { onWords }) => {
      await report(onWords!);
      throw new Error("stopped");
    },
  };
  const context = { owner: "", workDir: "/nonexistent", checkpoint };
  const settings = { language: null, vocabulary: [], transcribes: true, reportsWords: true };
  const running = analyzeSpeech({
    ...settings,
    engine: engine as SpeechEngine,
    context,
    files: getMediaFolder("/nonexistent"),
    signal: new AbortController().signal,
    canYield: () => false,
    onProgress: () => {},
  });
  await expect(running).rejects.toThrow("stopped");
}

test("words whose report failed are in the next one", async () => {
  const reports: [number, string][] = [];
  let isFailing = true;
  const checkpoint = async ({ from, words }: WordsCheckpoint) => {
    reports.push([from, words.map(({ text }) => text).join(" ")]);
    if (isFailing) throw new Error("database is locked");
  };
  await analyze(async (add) => {
    add(say("one", "two"), 0);
    await until("the failed report", async () => reports.length === 1);
    isFailing = false;
    add(say("three"), 2);
    await until("the report", async () => reports.length === 2);
    add(say("four"), 3);
    await until("the last report", async () => reports.length === 3);
  }, checkpoint);
  expect(reports).toEqual([
    [0, "one two"],
    [0, "one two three"],
    [3, "four"],
  ]);
});

test("recognition that starts again during a report is reported from the first word on", async () => {
  const reports: [number, string][] = [];
  const held = Promise.withResolvers<void>();
  const checkpoint = async ({ from, words }: WordsCheckpoint) => {
    reports.push([from, words.map(({ text }) => text).join(" ")]);
    if (reports.length === 1) await held.promise;
  };
  await analyze(async (add) => {
    add(say("one", "two"), 0);
    add(say("uno"), 0);
    held.resolve();
    await until("the report", async () => reports.length === 2);
    add(say("due"), 1);
    await until("the last report", async () => reports.length === 3);
  }, checkpoint);
  expect(reports).toEqual([
    [0, "one two"],
    [0, "uno"],
    [1, "due"],
  ]);
});
