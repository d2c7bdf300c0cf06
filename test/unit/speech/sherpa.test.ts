/** The real library, on the only weights for it that a package carries: Moonshine's, which take the way of a model without token times. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import llama from "llama-tokenizer-js";
import { createEnergyMeter } from "../../../src/speech/energy";
import { addFromFile } from "../../../src/speech/models/install";
import { MANIFEST } from "../../../src/speech/models/manifest";
import { openPcm } from "../../../src/speech/pcm";
import { createAddedModels } from "../../../src/speech/sherpa-models";
import { openVoice } from "../../fixtures/flite";
import { type TemporaryFolder, temporaryFolder } from "../../temporary-folder";

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
  // As if it were for another language: English never goes to an added model.
  await Bun.write(
    join(source, MANIFEST),
    JSON.stringify({ name: "moonshine", kind: "moonshine", languages: ["gd"], files }),
  );
  await addFromFile(source, { modelsDir: join(folder.path, "models") });
});
afterAll(() => folder[Symbol.asyncDispose]());

test("an added model transcribes, its words are near where they were spoken, and the child can listen meanwhile", async () => {
  const spoken = openVoice("slt")(TEXT, { stretch: 1, pitch: 1 });
  const path = join(folder.path, "sound.pcm");
  await Bun.write(
    path,
    Int16Array.from(spoken.samples, (value) => value * 32_767),
  );
  const pcm = await openPcm({ path });
  try {
    const meter = createEnergyMeter(pcm.samples);
    meter.add(await pcm.read(0, pcm.samples));
    const sound = { pcm, energy: meter.contour() };
    const end = Math.round((pcm.samples / 16_000) * 1_000_000);
    const speech = [
      { start: Math.round(spoken.words[0]!.start * 1e6), end: Math.round(spoken.words.at(-1)!.end * 1e6) },
    ];
    const chosen = await createAddedModels(join(folder.path, "models")).choose("gd", sound, [], () => {});
    let turns = 0;
    const clock = setInterval(() => turns++, 1);
    const { words, utterances } = await chosen!.added!.transcribe(
      sound,
      [{ start: 0, end, speech }],
      () => {},
      () => {},
    );
    clearInterval(clock);
    expect(turns).toBeGreaterThan(5);
    const plain = (text: string) => text.toLowerCase().replace(/[^a-z ]/g, "");
    expect(plain(words.map((word) => word.text).join(" "))).toBe(plain(TEXT));
    expect(utterances).toHaveLength(1);
    const errors = words.map((word, i) => Math.abs(word.start / 1e6 - spoken.words[i]!.start)).sort((a, b) => a - b);
    expect(errors[errors.length >> 1]).toBeLessThan(0.15);
    expect(errors.at(-1)).toBeLessThan(0.5);
  } finally {
    await pcm.close();
  }
}, 60_000);
