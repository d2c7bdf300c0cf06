import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createEnergyMeter } from "../../../src/domain/energy";
import { createSpeechEngine } from "../../../src/speech/engine";
import { openAnalysisAudio } from "../../../src/speech/pcm";
import { NO_LOG } from "../../../src/speech/record-log";
import type { SpeechSegment } from "../../../src/speech/segmentation";
import { createTranscriberSelector, type TranscriberSelector } from "../../../src/speech/transcriber-selector";
import { temporaryFolder } from "../../temporary-folder";
import { type FakeAnswer, type FakeSherpa, fakeSherpa } from "./fake-sherpa";
import { installed } from "./models/test-models";

const SECOND = 1_000_000;
const nothing = () => {};

/** Eight seconds: a tone from 1 to 3 and from 5 to 7, each a separate segment. */
async function recording(folder: string) {
  const samples = Int16Array.from({ length: 8 * 16_000 }, (_, i) => {
    const seconds = i / 16_000;
    const sounds = (seconds >= 1 && seconds < 3) || (seconds >= 5 && seconds < 7);
    return sounds ? 8_000 * Math.sin(i / 5) : 0;
  });
  const path = join(folder, "audio.pcm");
  await Bun.write(path, samples);
  const pcm = await openAnalysisAudio({ path });
  const meter = createEnergyMeter(samples.length);
  meter.add(await pcm.read(0, samples.length));
  const segment = (start: number, end: number): SpeechSegment => ({
    start: start * SECOND - 150_000,
    end: end * SECOND + 150_000,
    speech: [{ start: start * SECOND, end: end * SECOND }],
  });
  return {
    audio: { pcm, energy: meter.contour() },
    segments: [segment(1, 3), segment(5, 7)],
    [Symbol.asyncDispose]: () => pcm.close(),
  };
}

/** Selects the transcriber of the language, otherwise of the detected one. */
async function selectFor(
  models: TranscriberSelector,
  given: string | null,
  ...detection: DropFirst<Parameters<TranscriberSelector["detect"]>>
) {
  const { code: language } = await models.detect(given, ...detection);
  const selected = await models.select(language);
  return selected && { language, ...selected };
}

type DropFirst<List extends unknown[]> = List extends [unknown, ...infer Rest] ? Rest : never;

const saying = (answers: FakeAnswer[], languages?: string[]): FakeSherpa =>
  fakeSherpa((stretch) => answers[stretch % answers.length] ?? {}, languages);

describe("selecting a transcriber", () => {
  test("English and unsupported languages do not load the library", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    const load = () => Promise.reject(new Error("loaded"));
    for (const modelsDir of [null, folder.path]) {
      const models = createTranscriberSelector(modelsDir, load);
      expect(await selectFor(models, "en", file.audio, file.segments, nothing)).toEqual({
        language: "en",
        installed: null,
      });
      expect(await selectFor(models, null, file.audio, file.segments, nothing)).toEqual({
        language: "en",
        installed: null,
      });
      expect(await selectFor(models, "de", file.audio, file.segments, nothing)).toBeNull();
    }
  });

  test("which languages the built-in recognizer transcribes is known without loading a model", async () => {
    await using folder = await temporaryFolder();
    await installed(folder.path, { name: "several", languages: ["de", "en", "zh"] });
    const models = createTranscriberSelector(folder.path, () => Promise.reject(new Error("loaded")));
    expect(["en", "de", "fr"].map(models.usesBuiltIn)).toEqual([true, false, false]);
  });

  test("a model that is added, removed or replaced while the process runs takes effect with the next recording", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    const sherpa = saying([{ text: "Guten Tag" }]);
    let loads = 0;
    const models = createTranscriberSelector(folder.path, async () => {
      loads++;
      return sherpa;
    });
    const choose = (language: string | null) => selectFor(models, language, file.audio, file.segments, nothing);
    expect(await choose("de")).toBeNull();
    await installed(folder.path, { name: "german", languages: ["de"] });
    expect((await choose("de"))?.installed?.capabilities).toEqual({
      languages: ["de"],
      wordTimes: "estimated",
      forcing: false,
    });
    await choose("de");
    expect([loads, sherpa.loaded.length]).toEqual([1, 1]);
    await installed(folder.path, { name: "european", kind: "transducer", languages: ["de", "fr"], preference: 90 });
    expect((await choose("de"))?.installed?.capabilities.wordTimes).toBe("tokens");
    await choose("fr");
    expect(sherpa.loaded).toHaveLength(3);
    await rm(join(folder.path, "european"), { recursive: true });
    await rm(join(folder.path, "german"), { recursive: true });
    expect(await choose("de")).toBeNull();
  });

  test("a model that cannot be loaded fails the recording, and is retried with the next", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    await installed(folder.path, { name: "german" });
    const sherpa = saying([{}]);
    const create = sherpa.OfflineRecognizer.createAsync;
    let tries = 0;
    sherpa.OfflineRecognizer.createAsync = (config) =>
      tries++ === 0 ? Promise.reject(new Error("no memory")) : create(config);
    const models = createTranscriberSelector(folder.path, async () => sherpa);
    await expect(selectFor(models, "de", file.audio, file.segments, nothing)).rejects.toThrow("no memory");
    expect((await selectFor(models, "de", file.audio, file.segments, nothing))?.language).toBe("de");
  });
});

describe("language detection", () => {
  test("finds the language of most of the speech, which selects the transcriber", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    await installed(folder.path, { name: "whisper", languages: ["en", "de", "fr", "jv"] });
    const long: SpeechSegment[] = [...file.segments, { start: 0, end: 8 * SECOND, speech: [] }];
    const select = async (languages: string[]) => {
      const sherpa = saying([{}], languages);
      const models = createTranscriberSelector(folder.path, async () => sherpa);
      const chosen = await selectFor(models, null, file.audio, long, nothing);
      return [chosen?.language ?? null, chosen?.installed ? "installed" : "built-in", sherpa.detectors.length];
    };
    const detect = (languages: string[]) =>
      createTranscriberSelector(folder.path, async () => saying([{}], languages)).detect(
        null,
        file.audio,
        long,
        nothing,
      );
    expect(await detect(["xx", "xx", "xx"])).toEqual({ code: "xx", share: 1 });
    expect((await detect(["fr", "de", "de"])).share).toBeWithin(0.5, 1);
    expect(await detect(["", "", ""])).toEqual({ code: "en", share: null });
    // The longest segment is probed first and weighs most.
    expect(await select(["fr", "de", "de"])).toEqual(["fr", "installed", 1]);
    expect(await select(["de", "de", "fr"])).toEqual(["de", "installed", 1]);
    expect(await select(["en", "en", "de"])).toEqual(["en", "built-in", 1]);
    expect(await select(["jw", "jw", "jw"])).toEqual(["jv", "installed", 1]);
    expect(await select(["", "", ""])).toEqual(["en", "built-in", 1]);
    expect(await select(["xx", "xx", "xx"])).toEqual([null, "built-in", 1]);
    expect(await select(["", "de", "fr"])).toEqual(["en", "built-in", 1]);
  });

  test("SenseVoice names the language in its results; without speech nothing is loaded", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    await installed(folder.path, { name: "eastern", kind: "sense-voice", languages: ["zh", "ja"] });
    const sherpa = saying([{ lang: "<|ja|>" }, { lang: "" }]);
    const models = createTranscriberSelector(folder.path, async () => sherpa);
    expect((await selectFor(models, null, file.audio, [], nothing))?.language).toBe("en");
    expect(sherpa.loaded).toHaveLength(0);
    expect((await selectFor(models, null, file.audio, file.segments, nothing))?.language).toBe("ja");
  });

  test("when the library cannot be loaded, English recordings work and those for an installed model fail", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    await installed(folder.path, { name: "whisper", languages: ["en", "de"] });
    const models = createTranscriberSelector(folder.path, () => Promise.reject(new Error("too old a system")));
    expect((await selectFor(models, null, file.audio, file.segments, nothing))?.language).toBe("en");
    await expect(selectFor(models, "de", file.audio, file.segments, nothing)).rejects.toThrow("too old a system");
  });

  test("the engine requests detection only when a model supports it", async () => {
    await using folder = await temporaryFolder();
    const command = [process.execPath, join(import.meta.dir, "fake-process.ts")];
    const engine = createSpeechEngine({ command, modelsDir: folder.path });
    const asked = async (language: string | null) =>
      (await engine.analyze({ path: "answer" }, { language })).transcript?.language ?? null;
    try {
      expect([await asked(null), await asked("de")]).toEqual(["en", null]);
      await installed(folder.path, { name: "whisper", languages: ["de", "fr"] });
      expect([await asked(null), await asked("de"), await asked("de-AT"), await asked("ja")]).toEqual([
        "auto",
        "de",
        "de-AT",
        null,
      ]);
      expect([engine.canTranscribe("fr"), engine.canTranscribe("ja"), engine.canTranscribe(null)]).toEqual([
        true,
        false,
        true,
      ]);
    } finally {
      await engine.close();
    }
  });

  test("stops when asked to", async () => {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    await installed(folder.path, { name: "whisper", languages: ["en", "de"] });
    const models = createTranscriberSelector(folder.path, async () => saying([{}], ["de", "de"]));
    const stop = () => {
      throw new Error("stopped");
    };
    await expect(selectFor(models, null, file.audio, file.segments, stop)).rejects.toThrow("stopped");
  });
});

describe("transcribing", () => {
  async function transcribed(kind: "whisper" | "transducer", answers: FakeAnswer[], language = "de") {
    await using folder = await temporaryFolder();
    await using file = await recording(folder.path);
    await installed(folder.path, { name: "model", kind, languages: ["de", "ja"] });
    const sherpa = saying(answers);
    const chosen = await createTranscriberSelector(folder.path, async () => sherpa).select(language);
    const shares: number[] = [];
    const recognition = await chosen!.installed!.transcribe(file.audio, file.segments, {
      check: nothing,
      onProgress: (share) => shares.push(share),
      log: NO_LOG,
    });
    return { ...recognition, shares, sherpa };
  }

  test("words with token times get times of the recording, snapped to silences", async () => {
    const answer = {
      text: "Guten Tag.",
      tokens: [" Guten", " Tag", "."],
      timestamps: [0.24, 1.2, 1.9],
      durations: [0.9, 0.8, 0.1],
      ys_log_probs: [-0.1, -0.2, -0.6],
    };
    const { words, utterances, shares, sherpa } = await transcribed("transducer", [answer, {}]);
    expect(words.map((word) => word.text)).toEqual(["Guten", "Tag."]);
    expect(Math.abs(words[0]!.start - SECOND)).toBeLessThan(30_000);
    expect(Math.abs(words[1]!.end - 3 * SECOND)).toBeLessThan(30_000);
    expect(words[1]!.confidence).toBeCloseTo(Math.exp(-0.4));
    expect(utterances).toEqual([
      { start: 850_000, end: 3_150_000, text: "Guten Tag.", meanLogProb: expect.closeTo(-0.3) },
    ]);
    expect(shares).toEqual([0.5, 1]);
    expect(sherpa.segmentSamples).toEqual([2.3 * 16_000, 2.3 * 16_000]);
  });

  test("words without times are distributed over the speech", async () => {
    const { words, utterances } = await transcribed("whisper", [{ text: "Guten Tag" }, { text: "Auf Wiedersehen" }]);
    expect(words.map((word) => word.text)).toEqual(["Guten", "Tag", "Auf", "Wiedersehen"]);
    expect(words.map((word) => Math.round(word.start / SECOND))).toEqual([
      1,
      expect.any(Number),
      5,
      expect.any(Number),
    ]);
    expect(Math.abs(words[3]!.end - 7 * SECOND)).toBeLessThan(30_000);
    expect(utterances.map((one) => one.text)).toEqual(["Guten Tag", "Auf Wiedersehen"]);
    for (const word of words) expect(word.end).toBeGreaterThan(word.start);
  });

  test("an endless phrase is kept once, and more words than anybody can speak are dropped", async () => {
    const loop = "Vielen Dank fürs Zuschauen. ".repeat(30).trim();
    const flood = Array.from({ length: 60 }, (_, i) => `w${i}`).join(" ");
    const { words, utterances } = await transcribed("whisper", [{ text: loop }, { text: flood }]);
    expect(words.map((word) => word.text)).toEqual(["Vielen", "Dank", "fürs", "Zuschauen."]);
    expect(utterances).toHaveLength(1);
  });

  test("a model is configured with its files, language and kind", async () => {
    const { sherpa } = await transcribed("transducer", [{}]);
    const { modelConfig } = sherpa.loaded[0]!;
    expect(modelConfig).toMatchObject({ modelType: "nemo_transducer", debug: 0, provider: "cpu" });
    expect(modelConfig.tokens).toEndWith("/model/tokens.onnx");
    const whisper = (await transcribed("whisper", [{}])).sherpa.loaded[0]!.modelConfig.whisper;
    expect(whisper).toMatchObject({ language: "de", task: "transcribe" });
    const regional = (await transcribed("whisper", [{}], "de-AT")).sherpa.loaded[0]!.modelConfig.whisper;
    expect(regional).toMatchObject({ language: "de" });
  });
});
