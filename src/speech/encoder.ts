/** The encoder of the Moonshine recognizer, on its prepared graph. */
import { join } from "node:path";
import { type EncodedAudio, FRAME_VALUES, LAYERS } from "./cross-attention";
import { getFloats, loadGraph, toFloatTensor } from "./onnx-session";
import { padSamples } from "./pcm";

/** Encodes samples: 16 kHz mono, -1 to 1. */
export type Encode = (samples: Float32Array) => Promise<EncodedAudio>;

/** The first convolutions need at least this much audio. */
const MIN_SAMPLES = 4_800;

/** Loads the encoder from its prepared graph. */
export async function loadEncoder(folder: string): Promise<Encode> {
  const graph = await loadGraph(join(folder, "encoder.onnx"));
  return async (samples) => {
    const padded = padSamples(samples, MIN_SAMPLES);
    const out = await graph.run({ samples: toFloatTensor(padded, [1, padded.length]) });
    const keys = getFloats(out, "keys");
    return {
      frames: keys.length / (LAYERS * FRAME_VALUES),
      seconds: samples.length / 16_000,
      keys,
      values: getFloats(out, "values"),
    };
  };
}
