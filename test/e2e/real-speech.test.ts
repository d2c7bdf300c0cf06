/** One minute of real speech at 44.1 kHz: no fluent speech is cut, and every run returns the same plan. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { PlanJson } from "../../src/domain/plan-json";
import { normalizeWords } from "../../src/domain/text/normalize";
import { HAS_REAL_SPEECH, SPOKEN_TEXTS, writeRealSpeech } from "../fixtures/real-speech";
import { folderWithAssets } from "./extracted-assets";
import { HAS_SYSTEM_FFMPEG, IS_BUNDLED_PASS, runOffcut } from "./offcut";

const TIMEOUT_MS = 120_000;
const MIN_REMOVAL_SECONDS = 0.06;
/** The recording has 15 pauses of 0.9 s; 0.3 s of each stay. */
const MIN_REMOVED_PAUSES_SECONDS = 8;

/** The recognizer writes "ask not" as "As not". */
const MIN_WORD_SHARE = 0.95;

/** Returns the length of the longest sequence of words that is in both, in order. */
function countCommonWords(a: readonly string[], b: readonly string[]): number {
  let row = new Uint16Array(b.length + 1);
  for (const word of a) {
    const next = new Uint16Array(b.length + 1);
    for (const [k, other] of b.entries()) next[k + 1] = word === other ? row[k]! + 1 : Math.max(row[k + 1]!, next[k]!);
    row = next;
  }
  return row[b.length]!;
}

test.skipIf(IS_BUNDLED_PASS || !HAS_SYSTEM_FFMPEG || !HAS_REAL_SPEECH)(
  "a minute of real speech keeps its words, loses its pauses, and has the same plan in three runs",
  async () => {
    await using folder = await folderWithAssets();
    await writeRealSpeech(join(folder.path, "speech.wav"));
    const cut = async (name: string) => {
      const run = await runOffcut(["cut", "speech.wav", "--plan", name], { folder: folder.path });
      expect(run).toMatchObject({ code: 0 });
      return Bun.file(join(folder.path, name)).text();
    };
    // Two simultaneous runs: the load changes how the audio is divided between reads.
    const [first, second] = await Promise.all([cut("first.json"), cut("second.json")]);
    expect(second === first).toBe(true);
    expect((await cut("third.json")) === first).toBe(true);

    const plan = JSON.parse(first) as PlanJson;
    const spoken = normalizeWords(plan.segments.map(({ text }) => text).join(" "));
    const expected = SPOKEN_TEXTS.flatMap((text) => text.split(" "));
    expect(countCommonWords(expected, spoken)).toBeGreaterThanOrEqual(MIN_WORD_SHARE * expected.length);
    const cutSpans = plan.removed.filter(({ reason }) => reason !== "silence");
    expect(cutSpans.filter(({ text }) => text !== "")).toEqual([]);
    expect(cutSpans.filter(({ start, end }) => end - start < MIN_REMOVAL_SECONDS - 1e-6)).toEqual([]);
    expect(plan.source_duration - plan.kept_duration).toBeGreaterThan(MIN_REMOVED_PAUSES_SECONDS);
  },
  TIMEOUT_MS,
);
