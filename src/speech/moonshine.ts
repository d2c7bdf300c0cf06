/** The Moonshine recognizer on its prepared graphs: encodes audio, decodes tokens, and scores given tokens. */
import { join } from "node:path";
import { computeMaxTokens, findLengthWithoutLoop } from "./loop-detection";
import {
  type Graph,
  type GraphInputs,
  getFloats,
  getIntegers,
  loadGraph,
  type TensorData,
  toFloatTensor,
  toIntegerTensor,
} from "./onnx-session";
import { padSamples } from "./pcm";
import { BEGIN_TOKEN, END_TOKEN } from "./tokens";

const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;
/** Number of values per frame in one layer's keys (or values). */
const FRAME_VALUES = HEADS * HEAD_SIZE;
/** The first convolutions need at least this much audio. */
const MIN_SAMPLES = 4_800;

/** Input of the decoder: `keys` [LAYERS, HEADS, HEAD_SIZE, frames] and `values` [LAYERS, HEADS, frames, HEAD_SIZE]. */
export type EncodedAudio = { frames: number; seconds: number; keys: Float32Array; values: Float32Array };

/**
 * Tokens with their log probabilities. `attention` (where a token is spoken) and `onset` (where its word starts) have a
 * row of `frames` for each token and one for the end token. `logProbs` also has the end token, unless decoding was
 * stopped before it, which `isLoop` reports.
 */
export type DecodedText = {
  tokens: number[];
  logProbs: Float32Array;
  attention: Float32Array;
  onset: Float32Array;
  frames: number;
  isLoop: boolean;
};

type OnStep = (position: number) => void | Promise<void>;

/** Loads the encoder and the decoder from prepared graphs. The decoder's steps are too small for several threads. */
export async function loadMoonshine(folder: string, encoderThreads: number) {
  const [encoder, decoder] = await Promise.all([
    loadGraph(join(folder, "encoder.onnx"), encoderThreads),
    loadGraph(join(folder, "decoder.onnx"), 1),
  ]);
  return {
    /** Encodes samples: 16 kHz mono, -1 to 1. */
    encode: (samples: Float32Array) => encode(encoder, samples),
    /** Decodes each row greedily. `onStep` is awaited with the number of tokens so far, and may throw to stop. */
    decode: (rows: EncodedAudio[], onStep: OnStep = () => {}) => decode(decoder, rows, onStep),
    /**
     * Scores given tokens (forced decoding). Scores one text at a time: rows in a batch would share a quantization scale,
     * and a score must not depend on the rest of a batch.
     */
    score: (encoded: EncodedAudio, tokens: number[]) => score(decoder, encoded, tokens),
  };
}

export type Moonshine = Awaited<ReturnType<typeof loadMoonshine>>;

async function encode(encoder: Graph, samples: Float32Array): Promise<EncodedAudio> {
  const padded = padSamples(samples, MIN_SAMPLES);
  const out = await encoder.run({ samples: toFloatTensor(padded, [1, padded.length]) });
  const keys = getFloats(out, "keys");
  return {
    frames: keys.length / (LAYERS * FRAME_VALUES),
    seconds: samples.length / 16_000,
    keys,
    values: getFloats(out, "values"),
  };
}

/** Added to the attention scores where a row has no frames. */
const MASKED_FRAME = -1e9;

/** Builds the cross-attention inputs for several rows, padded to the longest and masked. */
function createCrossFeeds(rows: EncodedAudio[]): { feeds: GraphInputs; longest: number } {
  const longest = Math.max(...rows.map((r) => r.frames));
  const mask = new Float32Array(rows.length * longest);
  rows.forEach((r, b) => {
    mask.fill(MASKED_FRAME, b * longest + r.frames, (b + 1) * longest);
  });
  const feeds: GraphInputs = { cross_mask: toFloatTensor(mask, [rows.length, 1, 1, longest]) };
  for (let layer = 0; layer < LAYERS; layer++) {
    const keys = stackRows(rows, "keys", layer, longest);
    const values = stackRows(rows, "values", layer, longest);
    feeds[`cross_key_${layer}`] = toFloatTensor(keys, [rows.length, HEADS, HEAD_SIZE, longest]);
    feeds[`cross_value_${layer}`] = toFloatTensor(values, [rows.length, HEADS, longest, HEAD_SIZE]);
  }
  return { feeds, longest };
}

/** Stacks the keys or values of a layer. Those of each row are lines with its frames, which are padded to the longest. */
function stackRows(rows: EncodedAudio[], kind: "keys" | "values", layer: number, longest: number): Float32Array {
  const [lines, width] = kind === "keys" ? [HEADS * HEAD_SIZE, 1] : [HEADS, HEAD_SIZE];
  const parts = rows.map((row) => {
    const size = row.frames * FRAME_VALUES;
    return row[kind].subarray(layer * size, (layer + 1) * size);
  });
  if (parts.length === 1) return parts[0]!;
  const out = new Float32Array(parts.length * longest * FRAME_VALUES);
  for (const [b, part] of parts.entries()) {
    const length = rows[b]!.frames * width;
    for (let line = 0; line < lines; line++)
      out.set(part.subarray(line * length, (line + 1) * length), (b * lines + line) * longest * width);
  }
  return out;
}

function createEmptyPast(rows: number): GraphInputs {
  const feeds: GraphInputs = {};
  for (let i = 0; i < LAYERS; i++)
    for (const kind of ["key", "value"])
      feeds[`past_${kind}_${i}`] = toFloatTensor(new Float32Array(0), [rows, HEADS, 0, HEAD_SIZE]);
  return feeds;
}

type DecodingStep = { token: number; logProb: number; attention: Float32Array; onset: Float32Array };

type DecodingRow = { encoded: EncodedAudio; tokens: number[]; steps: DecodingStep[]; open: boolean };

async function decode(decoder: Graph, rows: EncodedAudio[], onStep: OnStep): Promise<DecodedText[]> {
  const all: DecodingRow[] = rows.map((encoded) => ({ encoded, tokens: [], steps: [], open: true }));
  let state = all;
  let { feeds: cross, longest } = createCrossFeeds(rows);
  let past = createEmptyPast(rows.length);
  for (let position = 0; all.some((row) => row.open); position++) {
    await onStep(position);
    const tokens = toIntegerTensor(
      state.map((row) => row.tokens.at(-1) ?? BEGIN_TOKEN),
      [state.length, 1],
    );
    const out = await decoder.run({
      ...cross,
      ...past,
      tokens,
      targets: tokens,
      position: toIntegerTensor([position], [1]),
    });
    const best = getIntegers(out, "best");
    const logProbs = getFloats(out, "best_log_prob");
    for (const [b, row] of state.entries()) {
      if (!row.open) continue;
      const line = (name: string) => getFloats(out, name).slice(b * longest, b * longest + row.encoded.frames);
      appendStep(row, { token: best[b]!, logProb: logProbs[b]!, attention: line("attention"), onset: line("onset") });
    }
    // Finished rows are removed once they are half of all, because that copies the keys and values of the others.
    const open = state.flatMap((row, b) => (row.open ? [b] : []));
    const shrink = open.length > 0 && open.length <= state.length / 2;
    past = {};
    for (let i = 0; i < LAYERS; i++)
      for (const kind of ["key", "value"]) {
        const grown = out[`${kind}_${i}`]!;
        past[`past_${kind}_${i}`] = shrink ? selectRows(grown, open) : grown;
      }
    if (!shrink) continue;
    state = open.map((b) => state[b]!);
    ({ feeds: cross, longest } = createCrossFeeds(state.map((row) => row.encoded)));
  }
  return all.map(toDecodedText);
}

/** Appends one token to a row: the end token, or text. */
function appendStep(row: DecodingRow, step: DecodingStep): void {
  row.steps.push(step);
  if (step.token !== END_TOKEN) row.tokens.push(step.token);
  row.open =
    step.token !== END_TOKEN &&
    row.tokens.length < computeMaxTokens(row.encoded.seconds) &&
    findLengthWithoutLoop(row.tokens) === null;
}

/** Returns some rows of a tensor whose first dimension is the row. */
function selectRows({ values, dims }: TensorData, rows: number[]): TensorData {
  const size = values.length / dims[0]!;
  const kept = rows.map((row) => values.subarray(row * size, (row + 1) * size) as Float32Array);
  return toFloatTensor(concatenate(kept), [rows.length, ...dims.slice(1)]);
}

function toDecodedText({ encoded, tokens, steps }: DecodingRow): DecodedText {
  const kept = findLengthWithoutLoop(tokens);
  const ended = steps.length > tokens.length;
  const length = kept ?? tokens.length;
  const used = steps.slice(0, kept === null && ended ? length + 1 : length);
  return {
    tokens: tokens.slice(0, length),
    logProbs: Float32Array.from(used, (step) => step.logProb),
    attention: concatenate(used.map((step) => step.attention)),
    onset: concatenate(used.map((step) => step.onset)),
    frames: encoded.frames,
    isLoop: kept !== null || !ended,
  };
}

const concatenate = (lines: Float32Array[]): Float32Array => new Float32Array(Bun.concatArrayBuffers(lines));

async function score(decoder: Graph, encoded: EncodedAudio, tokens: number[]): Promise<DecodedText> {
  const dims = [1, tokens.length + 1];
  const out = await decoder.run({
    ...createCrossFeeds([encoded]).feeds,
    ...createEmptyPast(1),
    tokens: toIntegerTensor([BEGIN_TOKEN, ...tokens], dims),
    targets: toIntegerTensor([...tokens, END_TOKEN], dims),
    position: toIntegerTensor([0], [1]),
  });
  return {
    tokens,
    logProbs: getFloats(out, "target_log_prob"),
    attention: getFloats(out, "attention"),
    onset: getFloats(out, "onset"),
    frames: encoded.frames,
    isLoop: false,
  };
}
