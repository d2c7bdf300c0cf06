/** The real recognizer, on real and synthetic audio, in its process. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SpeechAnalysis, SpeechEngine, Word } from "../../../src/domain/speech";
import type { Span } from "../../../src/domain/time";
import { createSpeechEngine } from "../../../src/speech/engine";
import { speechDir } from "./graphs";
import {
  concatenated,
  music,
  noise,
  pcmFile,
  REAL_TEXT,
  rawFile,
  realRecording,
  scaled,
  silence,
  tone,
} from "./test-audio";

let engine: SpeechEngine;
let pid = 0;
const crashes: object[] = [];
let recording: Float32Array;
/** Where the libraries of the process may keep files. */
let cache: string;

beforeAll(async () => {
  recording = await realRecording();
  cache = await mkdtemp(join(tmpdir(), "offcut-speech-cache-"));
  engine = createSpeechEngine({
    command: [process.execPath, join(import.meta.dir, "process-entry.ts"), await speechDir()],
    env: { XDG_CACHE_HOME: cache },
    log: (event, fields) => {
      if (event === "speech.started" && "pid" in fields) pid = Number(fields.pid);
      if (event === "speech.crashed") crashes.push(fields);
    },
  });
});
afterAll(async () => {
  await engine.close();
  await rm(cache, { recursive: true });
});

const analyzeSamples = async (samples: Float32Array): Promise<SpeechAnalysis> =>
  engine.analyze(await pcmFile(samples), { language: "en" });
const textOf = ({ transcript }: SpeechAnalysis) => transcript!.utterances.map((u) => u.text).join(" ");
const spoken = (text: string) => text.toLowerCase().replace(/[^a-z ]/g, "");
/** Returns how many words of the spoken text the transcript lacks. */
const missed = (text: string): number => {
  const words = spoken(text).split(" ");
  return spoken(REAL_TEXT)
    .split(" ")
    .filter((word) => !words.includes(word)).length;
};
const at = (start: number, end: number): Span => ({ start: start * 1e6, end: end * 1e6 });

describe("resuming an analysis", () => {
  test("interrupted and resumed, or paused for others: the result is the same, its words come in order, and no work is repeated", async () => {
    const long = await pcmFile(concatenated(...Array.from({ length: 8 }, () => recording)));
    const whole = await engine.analyze(long, { language: "en" });
    const progressPath = `${long.path}.progress`;
    const abort = new AbortController();
    let reached = 0;
    let hasText = false;
    const first = engine.analyze(long, {
      language: "en",
      progressPath,
      signal: abort.signal,
      onProgress: (share) => {
        reached = share;
      },
      onSaved: () => {
        hasText ||= reached > 0.2;
        if (hasText) abort.abort(new Error("enough"));
      },
    });
    await expect(first).rejects.toThrow("enough");
    const shares: number[] = [];
    const reports: { from: number; words: Word[] }[] = [];
    const onWords = (words: Word[], from: number) => reports.push({ from, words });
    const [resumed] = await Promise.all([
      engine.analyze(long, {
        language: "en",
        owner: "anna",
        progressPath,
        onWords,
        onProgress: (share) => shares.push(share),
      }),
      analyzeSamples(recording),
    ]);
    expect(JSON.stringify({ ...resumed, energy: [...resumed.energy] })).toBe(
      JSON.stringify({ ...whole, energy: [...whole.energy] }),
    );
    expect(shares[0]!).toBeGreaterThan(0.2);
    expect(reports.length).toBeGreaterThan(1);
    expect(reports.flatMap(({ words }) => words)).toEqual(whole.transcript!.words);
    expect(reports.map(({ from }) => from)).toEqual(
      reports.map((_, n) => reports.slice(0, n).reduce((sum, { words }) => sum + words.length, 0)),
    );
  }, 120_000);
});

describe("analysis", () => {
  test("a real recording: text, words in order within speech, utterances, energy", async () => {
    const analysis = await analyzeSamples(recording);
    expect(missed(textOf(analysis))).toBeLessThanOrEqual(4);
    expect(analysis.duration).toBe(11_000_000);
    expect(analysis.language).toEqual({ code: "en", confidence: 1 });
    expect(analysis.energy.length).toBe(2_200);
    const { words } = analysis.transcript!;
    expect(Math.abs(words.length - 22)).toBeLessThanOrEqual(2);
    for (const [i, word] of words.entries()) {
      expect(word.start).toBeGreaterThanOrEqual(words[i - 1]?.end ?? 0);
      expect(word.end).toBeGreaterThan(word.start);
      expect(word.confidence).toBeGreaterThan(0.2);
    }
    // The second half starts after a long pause.
    const again = words.findLast((w) => /^as/i.test(w.text))!;
    expect(Math.abs(again.start - 8_130_000)).toBeLessThan(120_000);
  });

  test("an unsupported language: voice activity and energy, no transcript", async () => {
    const analysis = await engine.analyze(await pcmFile(recording), { language: "de" });
    expect([analysis.transcript, analysis.language]).toEqual([null, null]);
    expect(analysis.speech.length).toBeGreaterThan(2);
    expect(analysis.energy.length).toBe(2_200);
  });

  test("progress grows to 1", async () => {
    const shares: number[] = [];
    const long = concatenated(...Array.from({ length: 4 }, () => recording));
    await engine.analyze(await pcmFile(long), { language: "en", onProgress: (share) => shares.push(share) });
    expect(shares.length).toBeGreaterThan(0);
    expect(shares).toEqual([...new Set(shares)].sort((a, b) => a - b));
    expect(shares.at(-1)!).toBeLessThanOrEqual(1);
  });

  test.each([
    ["nothing", () => new Float32Array(0)],
    ["one sample", () => new Float32Array(1)],
    ["silence", () => silence(5)],
    ["faint noise", () => noise(5, 0.0005)],
    ["loud noise", () => noise(5, 0.5)],
    ["a tone", () => tone(5, 440, 0.3)],
    ["a low tone", () => tone(5, 150, 0.3)],
    ["music", () => music(6)],
  ])("no words are hallucinated on %s", async (_, makeAudio) => {
    expect((await analyzeSamples(makeAudio())).transcript).toEqual({ language: "en", words: [], utterances: [] });
  });

  test.each([
    ["a whisper", (x: Float32Array) => scaled(x, 0.003), 4],
    ["clipping", (x: Float32Array) => scaled(x, 6), 4],
    ["background noise", (x: Float32Array) => x.map((v, i) => v + noiseAt(i, 0.01)), 3],
    // 8 kHz: every second sample, and between them the mean of the neighbors.
    ["a telephone", (x: Float32Array) => x.map((v, i) => (i % 2 === 0 ? v : (x[i - 1]! + (x[i + 1] ?? 0)) / 2)), 4],
    ["shouting", (x: Float32Array) => scaled(x, 2.5), 4],
  ])("speech is recognized through %s", async (_, change, mayDiffer) => {
    expect(missed(textOf(await analyzeSamples(change(recording))))).toBeLessThanOrEqual(mayDiffer);
  });

  test("two voices at once and rapid repetitions end without a loop of words", async () => {
    const both = recording.map((v, i) => 0.6 * v + 0.6 * (recording[i - 27_200] ?? 0));
    const phrase = recording.subarray(Math.round(3.3 * 16_000), Math.round(4.3 * 16_000));
    const repeats = concatenated(...Array.from({ length: 12 }, () => phrase));
    for (const samples of [both, repeats]) {
      const { words } = (await analyzeSamples(samples)).transcript!;
      // No speaker says more than six words per second.
      expect(words.length).toBeLessThanOrEqual((samples.length / 16_000) * 6);
      expect(words).toEqual([...words].sort((a, b) => a.start - b.start));
    }
  });

  test("a minute without a pause is transcribed in segments that are not too long", async () => {
    const nonstop = concatenated(...Array.from({ length: 5 }, () => withoutPauses(recording)));
    const analysis = await analyzeSamples(nonstop);
    for (const u of analysis.transcript!.utterances) expect(u.end - u.start).toBeLessThanOrEqual(28_000_000);
    expect(analysis.transcript!.words.length).toBeGreaterThan(75);
  });

  test("an odd byte at the end is ignored", async () => {
    const file = await rawFile(new Uint8Array(32_001));
    expect((await engine.analyze(file, { language: "en" })).duration).toBe(1_000_000);
  });

  test("a missing file is an error, not a crash", async () => {
    await expect(engine.analyze({ path: "/no/such/file" }, { language: "en" })).rejects.toMatchObject({
      code: "processing_failed",
    });
    expect(crashes).toEqual([]);
  });
});

const noiseSamples = noise(12, 1);
const noiseAt = (i: number, level: number): number => noiseSamples[i]! * level;

/** Joins the loud parts. */
function withoutPauses(samples: Float32Array): Float32Array {
  const blocks: Float32Array[] = [];
  for (let from = 0; from < samples.length; from += 1_600) {
    const block = samples.subarray(from, from + 1_600);
    if (Math.max(...block) > 0.08) blocks.push(block);
  }
  return concatenated(...blocks);
}

describe("forced alignment", () => {
  const WHOLE = at(0, 11);

  test("a spoken text scores high, another text low", async () => {
    const file = await pcmFile(recording);
    const [right, wrong, empty] = await engine.forcedAlign(file, [
      { window: WHOLE, text: REAL_TEXT },
      { window: WHOLE, text: "Curtains and carpets absorb the echo, so the voice sounds close and warm." },
      { window: WHOLE, text: "" },
    ]);
    expect(right!.meanLogProb).toBeGreaterThan(-0.6);
    expect(wrong!.meanLogProb).toBeLessThan(-3);
    expect(right!.words.map((w) => w.text).join(" ")).toBe(REAL_TEXT);
    for (const [i, word] of right!.words.entries())
      expect(word.start).toBeGreaterThanOrEqual(right!.words[i - 1]?.end ?? 0);
    expect(empty!.words).toEqual([]);
    expect(empty!.meanLogProb).toBeLessThan(-1);
  });

  test("the tail score shows whether the end was spoken", async () => {
    const file = await pcmFile(recording);
    const [whole, broken] = await engine.forcedAlign(file, [
      { window: WHOLE, text: REAL_TEXT },
      { window: at(0, 7.4), text: REAL_TEXT },
    ]);
    expect(whole!.tailLogProb).toBeGreaterThan(-1);
    expect(broken!.tailLogProb).toBeLessThan(-2);
  });

  test("muted spans are not aligned", async () => {
    const file = await pcmFile(recording);
    const window = at(3, 11);
    const text = "ask not what your country can do for you, ask what you can do for your country.";
    const [plain, muted] = await engine.forcedAlign(file, [
      { window, text },
      { window, text, mute: [at(5, 6.2)] },
    ]);
    expect(muted!.meanLogProb).toBeLessThan(plain!.meanLogProb - 0.1);
  });

  test("windows beyond the recording and empty windows are valid", async () => {
    const file = await pcmFile(recording);
    const forced = await engine.forcedAlign(file, [
      { window: at(-5, 100), text: REAL_TEXT },
      { window: at(20, 30), text: "hello" },
      { window: at(5, 5), text: "hello" },
      { window: at(6, 5), text: "hello" },
    ]);
    expect(forced[0]!.meanLogProb).toBeGreaterThan(-0.6);
    for (const nothing of forced.slice(1)) expect(nothing.meanLogProb).toBeLessThan(-1);
  });

  test("a result does not depend on the other requests, nor on the thread that encodes its window", async () => {
    const requests = [
      ...Array.from({ length: 9 }, (_, i) => ({ window: at(i, i + 2), text: "and so my fellow" })),
      { window: WHOLE, text: REAL_TEXT },
    ];
    const together = await engine.forcedAlign(await pcmFile(recording), requests);
    // Another file, because windows are kept.
    const file = await pcmFile(recording);
    for (const [i, request] of requests.entries())
      expect(await engine.forcedAlign(file, [request])).toEqual([together[i]!]);
  });
});

describe("the speech process", () => {
  test("a killed process is replaced and the recording is analyzed", async () => {
    const long = concatenated(...Array.from({ length: 12 }, () => recording));
    let kills = 0;
    const analysis = await engine.analyze(await pcmFile(long), {
      language: "en",
      onProgress: () => {
        if (kills === 0) process.kill(pid, "SIGKILL");
        kills++;
      },
    });
    expect(crashes).toHaveLength(1);
    expect(analysis.transcript!.words.length).toBeGreaterThan(200);
  }, 60_000);

  test("cancels a recording and continues with the next", async () => {
    const long = concatenated(...Array.from({ length: 12 }, () => recording));
    const abort = new AbortController();
    const reason = new Error("the user left");
    const before = pid;
    const analysis = engine.analyze(await pcmFile(long), {
      language: "en",
      signal: abort.signal,
      onProgress: () => abort.abort(reason),
    });
    await expect(analysis).rejects.toBe(reason);
    expect(missed(textOf(await analyzeSamples(recording)))).toBeLessThanOrEqual(4);
    expect(pid).toBe(before);
  });
});

test("the recognizer keeps no telemetry, which it would send to Microsoft", async () => {
  await analyzeSamples(recording.subarray(0, 16_000));
  expect(await readdir(cache)).not.toContain("Microsoft");
});
