import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { prepareSpeechGraphs, SPEECH_GRAPHS } from "../../../src/build/speech-graphs";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { hasExactProducts } from "../../../src/speech/onnx-session";
import { detokenize } from "../../../src/speech/tokens";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { REAL_TEXT, realRecording } from "../speech/test-audio";

const MODULES = join(import.meta.dir, "../../../node_modules");
const MOONSHINE = join(MODULES, "@moonshine-ai/moonshine-js/dist/model/tiny/quantized");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offcut-graphs-"));
  await prepareSpeechGraphs(folder);
});
afterAll(() => rm(folder, { recursive: true }));

const writtenAt = async () => (await stat(join(folder, "decoder.onnx"))).mtimeMs;

/** Transcribes by greedy decoding with the merged decoder of the package, one step at a time. */
async function mergedText(samples: Float32Array): Promise<string> {
  const encoder = await InferenceSession.create(join(MOONSHINE, "encoder_model.onnx"), { logSeverityLevel: 3 });
  const decoder = await InferenceSession.create(join(MOONSHINE, "decoder_model_merged.onnx"), { logSeverityLevel: 3 });
  const encoded = await encoder.run({ input_values: new Tensor("float32", samples, [1, samples.length]) });
  const past: Record<string, Tensor> = {};
  for (const name of decoder.inputNames)
    if (name.startsWith("past")) past[name] = new Tensor("float32", new Float32Array(0), [1, 8, 0, 36]);
  const tokens = [1];
  while (tokens.at(-1) !== 2 && tokens.length < 80) {
    const first = tokens.length === 1;
    const out = await decoder.run({
      input_ids: new Tensor("int64", BigInt64Array.of(BigInt(tokens.at(-1)!)), [1, 1]),
      encoder_hidden_states: encoded.last_hidden_state!,
      use_cache_branch: new Tensor("bool", [!first], [1]),
      ...past,
    });
    for (const [name, value] of Object.entries(out))
      if (name.startsWith("present") && (first || name.includes("decoder")))
        past[name.replace("present", "past_key_values")] = value;
    const scores = out.logits!.data as Float32Array;
    tokens.push(scores.indexOf(Math.max(...scores)));
  }
  return detokenize(tokens);
}

describe("speech graphs", () => {
  test("the folder contains the graphs and no temporary files", async () => {
    const files = (await readdir(folder)).filter((name) => !name.startsWith("."));
    expect(files.sort()).toEqual([...SPEECH_GRAPHS].sort());
  });

  test("a second run writes nothing", async () => {
    const before = await writtenAt();
    await prepareSpeechGraphs(folder);
    expect(await writtenAt()).toBe(before);
  });

  test("a missing graph or a different stamp rebuilds the graphs", async () => {
    await rm(join(folder, "encoder.onnx"));
    await prepareSpeechGraphs(folder);
    expect(await readdir(folder)).toContain("encoder.onnx");
    const before = await writtenAt();
    await writeFile(join(folder, ".inputs.sha256"), "other");
    await prepareSpeechGraphs(folder);
    expect(await writtenAt()).toBeGreaterThan(before);
  });

  test("the graphs transcribe the same text as the merged model of the package", async () => {
    const samples = await realRecording();
    const moonshine = await loadMoonshine(folder);
    const [decoded] = await moonshine.listDecoders()[0]!([await moonshine.encode(samples)]);
    const text = detokenize(decoded!.tokens);
    expect(text).toBe(await mergedText(samples));
    expect(text).toBe(REAL_TEXT);
  });

  test("the encoder returns the same bytes as with weights in uint8, whose products are exact on all processors", async () => {
    const samples = (await realRecording()).subarray(0, 16_000 * 4);
    const session = {
      logSeverityLevel: 3,
      intraOpNumThreads: 1,
      extra: { session: { x64quantprecision: "1" } },
    } as const;
    const exact = await InferenceSession.create(join(folder, "encoder.onnx"), session);
    const { keys } = await exact.run({ samples: new Tensor("float32", samples, [1, samples.length]) });
    const encoded = await (await loadMoonshine(folder)).encode(samples);
    expect(Buffer.from(encoded.keys.buffer).equals(Buffer.from((keys!.data as Float32Array).buffer))).toBeTrue();
  });

  test.each([
    ["avx2 avx512bw avx512_vnni", true],
    ["avx2 avx_vnni", true],
    ["avx2 avx512bw avx_vnni", false],
    ["avx2 avx512bw", false],
    ["avx2", false],
  ])("a processor with %p has exact products: %p", (flags, expected) => {
    const processor = `processor\t: 0\nmodel name\t: avx512_vnni\nflags\t\t: fpu ${flags} sse\nbugs\t\t:\n`;
    expect(hasExactProducts(processor)).toBe(expected);
  });

  test("a processor that cannot be read, or of another family, has no exact products", () => {
    expect(hasExactProducts("")).toBeFalse();
    expect(hasExactProducts("Features\t: asimd i8mm\n")).toBeFalse();
  });

  test("the voice detector returns the probabilities of the package's model for each window", async () => {
    const samples = (await realRecording()).subarray(0, 512 * 120);
    const run = (await loadVoiceDetector(folder)).start();
    const ours = [...(await run.add(samples.subarray(0, 512 * 50))), ...(await run.add(samples.subarray(512 * 50)))];
    const original = await InferenceSession.create(join(MODULES, "@ricky0123/vad-web/dist/silero_vad_v5.onnx"), {
      logSeverityLevel: 3,
    });
    let state = new Tensor("float32", new Float32Array(256), [2, 1, 128]);
    const window = new Float32Array(576);
    for (const [i, probability] of ours.entries()) {
      window.copyWithin(0, 512);
      window.set(samples.subarray(i * 512, (i + 1) * 512), 64);
      const out = await original.run({
        input: new Tensor("float32", window, [1, 576]),
        sr: new Tensor("int64", BigInt64Array.of(16_000n), []),
        state,
      });
      state = out.stateN as typeof state;
      expect(probability).toBeCloseTo((out.output!.data as Float32Array)[0]!, 4);
    }
  });
});
