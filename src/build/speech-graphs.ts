/**
 * Builds the graphs for speech recognition from the model files in npm packages:
 * `bun src/build/speech-graphs.ts [FOLDER]`.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "../lib/atomic-file";
import { readModel } from "./onnx";
import { buildDecoder, buildEncoder } from "./speech-moonshine";
import { buildVoiceDetector } from "./speech-vad";
import { getDecoderBranches } from "./speech-weights";

const ROOT = join(import.meta.dir, "../..");
const MOONSHINE = "node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized";
const SOURCES = {
  encoder: `${MOONSHINE}/encoder_model.onnx`,
  decoder: `${MOONSHINE}/decoder_model_merged.onnx`,
  vad: "node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx",
};
/** The files of the built-in recognizer. */
export const SPEECH_GRAPHS = ["encoder.onnx", "decoder.onnx", "silero_vad.onnx"] as const;
const SCRIPTS = ["graphs", "moonshine", "vad", "weights", "graph-builder"].map((name) => `src/build/speech-${name}.ts`);
const STAMP = ".inputs.sha256";

/**
 * Writes the files of `SPEECH_GRAPHS` atomically into `outDir`, which is created if needed. Does nothing when they
 * exist and neither the model files nor these scripts have changed. Throws when a model file is not the expected one.
 */
export async function prepareSpeechGraphs(outDir: string): Promise<void> {
  const paths = [...Object.values(SOURCES), ...SCRIPTS, "src/build/onnx.ts", "src/build/onnx-writer.ts"];
  const contents = await Promise.all(paths.map((p) => readFile(join(ROOT, p))));
  const hash = new Bun.CryptoHasher("sha256");
  for (const content of contents) hash.update(content);
  const stamp = hash.digest("hex");
  if (await isCurrent(outDir, stamp)) return;

  const [encoderFile, decoderFile, vadFile] = contents;
  const encoder = { graph: readModel(encoderFile!), outer: null };
  const { first, next } = getDecoderBranches(readModel(decoderFile!));
  const graphs: Record<(typeof SPEECH_GRAPHS)[number], Uint8Array> = {
    "encoder.onnx": buildEncoder(encoder, first),
    "decoder.onnx": buildDecoder(next),
    "silero_vad.onnx": buildVoiceDetector(readModel(vadFile!)),
  };
  for (const name of SPEECH_GRAPHS) await writeAtomic(join(outDir, name), graphs[name]);
  await writeAtomic(join(outDir, STAMP), stamp);
}

async function isCurrent(outDir: string, stamp: string): Promise<boolean> {
  const present = await Promise.all(SPEECH_GRAPHS.map((name) => Bun.file(join(outDir, name)).exists()));
  if (present.includes(false)) return false;
  return (await readFile(join(outDir, STAMP), "utf8").catch(() => "")) === stamp;
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(ROOT, "dist/assets/speech");
  await prepareSpeechGraphs(folder);
  console.log(`${folder}: speech graphs are up to date`);
}
