/** Prepares the recogniser's graphs from the model files that npm packages carry. `bun src/build/speech-graphs.ts [FOLDER]`. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SPEECH_GRAPHS } from "../speech/graph-files";
import { readModel } from "./onnx";
import { buildDecoder, buildEncoder } from "./speech-moonshine";
import { buildVoiceDetector } from "./speech-vad";
import { decoderBranches } from "./speech-weights";

const ROOT = join(import.meta.dir, "../..");
const MOONSHINE = "node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized";
const SOURCES = {
  encoder: `${MOONSHINE}/encoder_model.onnx`,
  decoder: `${MOONSHINE}/decoder_model_merged.onnx`,
  vad: "node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx",
};
const SCRIPTS = ["graphs", "moonshine", "vad", "weights", "graph-builder"].map((name) => `src/build/speech-${name}.ts`);
const STAMP = ".inputs.sha256";

/**
 * Writes the files of `SPEECH_GRAPHS` into `outDir` (made when missing), each whole or not at all. Does nothing when they are
 * there and neither the packages' files nor the scripts have changed. Throws when a package's model is not the one expected.
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
  const { first, next } = decoderBranches(readModel(decoderFile!));
  const graphs: Record<(typeof SPEECH_GRAPHS)[number], Uint8Array> = {
    "encoder.onnx": buildEncoder(encoder, first),
    "decoder.onnx": buildDecoder(next),
    "silero_vad.onnx": buildVoiceDetector(readModel(vadFile!)),
  };
  await mkdir(outDir, { recursive: true });
  for (const name of SPEECH_GRAPHS) await writeWhole(join(outDir, name), graphs[name]);
  await writeWhole(join(outDir, STAMP), new TextEncoder().encode(stamp));
}

async function isCurrent(outDir: string, stamp: string): Promise<boolean> {
  const present = await Promise.all(SPEECH_GRAPHS.map((name) => Bun.file(join(outDir, name)).exists()));
  if (present.includes(false)) return false;
  return (await readFile(join(outDir, STAMP), "utf8").catch(() => "")) === stamp;
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  await writeFile(draft, bytes);
  await rename(draft, path);
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(ROOT, "dist/assets/speech");
  await prepareSpeechGraphs(folder);
  console.log(`speech graphs in ${folder}`);
}
