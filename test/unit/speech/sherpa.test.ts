/**
 * The real library, on the only weights for it that a package carries: Moonshine's, which take the way of a model
 * without token times.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import llama from "llama-tokenizer-js";
import { createEnergyMeter } from "../../../src/domain/energy";
import type { Word } from "../../../src/domain/speech";
import { createSpeechEngine } from "../../../src/speech/engine";
import { installFromFile } from "../../../src/speech/models/install";
import { MANIFEST_NAME } from "../../../src/speech/models/manifest";
import { openAnalysisAudio } from "../../../src/speech/pcm";
import { NO_LOG } from "../../../src/speech/record-log";
import { createTranscriberSelector } from "../../../src/speech/transcriber-selector";
import { openVoice } from "../../fixtures/flite";
import { type TemporaryFolder, temporaryFolder } from "../../temporary-folder";
import { speechDir } from "./graphs";

const WEIGHTS = join(
  dirname(Bun.resolveSync("@moonshine-ai/moonshine-js/package.json", import.meta.dir)),
  "dist/model/tiny/quantized",
);
const TEXT = "Welcome to the workshop. Today we are building a small bookshelf.";

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
  const source = join(folder.path, "source");
  await mkdir(source);
  for (const name of ["encoder_model.onnx", "decoder_model_merged.onnx"])
    await copyFile(join(WEIGHTS, name), join(source, name));
  const lines = llama.vocabById.map((piece, id) => `${Buffer.from(piece).toString("base64")} ${id}`);
  await Bun.write(join(source, "tokens.txt"), `${lines.join("\n")}\n`);
  const files = [
    { role: "encoder", name: "encoder_model.onnx" },
    { role: "decoder", name: "decoder_model_merged.onnx" },
    { role: "tokens", name: "tokens.txt" },
  ];
  // Declared for another language, because English never uses an installed model.
  await Bun.write(
    join(source, MANIFEST_NAME),
    JSON.stringify({ name: "moonshine", kind: "moonshine", languages: ["gd"], files }),
  );
  await installFromFile(source, { modelsDir: join(folder.path, "models") });
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Without spaces, because the synthetic voice varies slightly and "bookshelf" is sometimes recognized as two words. */
const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "");

/** The text in a file, with half a second of silence around it, and where its words are. */
async function spoken() {
  const { samples, words } = openVoice("slt")(TEXT, { stretch: 1, pitch: 1 });
  const path = join(folder.path, "audio.pcm");
  await Bun.write(
    path,
    Int16Array.from([...new Array(8_000).fill(0), ...samples, ...new Array(8_000).fill(0)], (v) => v * 32_767),
  );
  return { path, words: words.map((word) => ({ ...word, start: word.start + 0.5, end: word.end + 0.5 })) };
}

test("an installed model transcribes with accurate word times, and the process stays responsive", async () => {
  const { path, words: said } = await spoken();
  const pcm = await openAnalysisAudio({ path });
  try {
    const meter = createEnergyMeter(pcm.samples);
    meter.add(await pcm.read(0, pcm.samples));
    const audio = { pcm, energy: meter.contour() };
    const end = Math.round((pcm.samples / 16_000) * 1_000_000);
    const speech = [{ start: Math.round(said[0]!.start * 1e6), end: Math.round(said.at(-1)!.end * 1e6) }];
    const chosen = await createTranscriberSelector(join(folder.path, "models")).select("gd");
    let turns = 0;
    const clock = setInterval(() => turns++, 1);
    const reported: Word[] = [];
    const onWords = (next: Word[]) => void reported.push(...next);
    const work = { check: () => {}, onProgress: () => {}, onWords, log: NO_LOG };
    const { words, utterances } = await chosen!.installed!.transcribe(audio, [{ start: 0, end, speech }], work);
    clearInterval(clock);
    expect(turns).toBeGreaterThan(5);
    expect(plain(words.map((word) => word.text).join(" "))).toBe(plain(TEXT));
    expect(utterances).toHaveLength(1);
    expect(reported).toEqual(words);
    // Words are found by the letters before them, because one word may be recognized as two.
    const startAfter = new Map(said.map((word, i) => [plain(TEXT.split(" ").slice(0, i).join("")).length, word.start]));
    let letters = 0;
    const errors = words
      .flatMap((word) => {
        const start = startAfter.get(letters);
        letters += plain(word.text).length;
        return start === undefined ? [] : [Math.abs(word.start / 1e6 - start)];
      })
      .sort((a, b) => a - b);
    expect(errors.length).toBeGreaterThanOrEqual(said.length - 2);
    expect(errors[errors.length >> 1]).toBeLessThan(0.15);
    expect(errors.at(-1)).toBeLessThan(0.5);
  } finally {
    await pcm.close();
  }
}, 180_000);

test("the engine transcribes a recording with the model for its language, and reports what that cannot do", async () => {
  const { path } = await spoken();
  const modelsDir = join(folder.path, "models");
  const engine = createSpeechEngine({
    command: [process.execPath, join(import.meta.dir, "process-entry.ts"), await speechDir()],
    modelsDir,
  });
  try {
    expect([engine.canTranscribe("gd"), engine.canTranscribe("de"), engine.canTranscribe("en")]).toEqual([
      true,
      false,
      true,
    ]);
    const transcribed = await engine.analyze({ path }, { language: "gd" });
    expect(transcribed.transcript).toMatchObject({ language: "gd", forcing: false, wordTimes: "estimated" });
    expect(plain(transcribed.transcript!.words.map((word) => word.text).join(" "))).toBe(plain(TEXT));
    const [again] = await engine.recognize({ path }, [{ window: { start: 400_000, end: 2_300_000 } }], {
      language: "gd",
    });
    expect(plain(again!.words.map((word) => word.text).join(" "))).toStartWith(plain("welcome to the"));
    expect(again!.words[0]!.start).toBeGreaterThan(400_000);
    const builtIn = await engine.analyze({ path }, { language: null });
    expect(builtIn.transcript).toMatchObject({ language: "en" });
    expect(builtIn.transcript).not.toHaveProperty("forcing");
    expect((await engine.analyze({ path }, { language: "de" })).transcript).toBeNull();
  } finally {
    await engine.close();
  }
}, 180_000);
