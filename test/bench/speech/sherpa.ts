/** Runs the same weights in `sherpa-onnx-node`, for comparison. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import llama from "llama-tokenizer-js";

const MODELS = join(import.meta.dir, "../../../node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized");

/**
 * Loads the model files of the Moonshine package. `scratch` is a folder for the token list that sherpa-onnx needs.
 * Returns a function that transcribes samples.
 */
export async function loadSherpa(scratch: string, threads: number): Promise<(samples: Float32Array) => string> {
  const { OfflineRecognizer } = await import("sherpa-onnx-node");
  const tokens = join(scratch, "tokens.txt");
  const lines = llama.vocabById.map((piece, id) => `${Buffer.from(piece).toString("base64")} ${id}`);
  await writeFile(tokens, `${lines.join("\n")}\n`);
  const recognizer = new OfflineRecognizer({
    modelConfig: {
      moonshine: {
        encoder: join(MODELS, "encoder_model.onnx"),
        mergedDecoder: join(MODELS, "decoder_model_merged.onnx"),
      },
      tokens,
      numThreads: threads,
      provider: "cpu",
      debug: 0,
    },
  });
  return (samples) => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ sampleRate: 16_000, samples });
    recognizer.decode(stream);
    return recognizer.getResult(stream).text;
  };
}
