/** The Moonshine recognizer on its prepared graphs: encodes audio, decodes tokens, and scores given tokens. */
import { join } from "node:path";
import { type EncodedAudio, FRAME_VALUES, freeAudio, HEAD_SIZE, HEADS, LAYERS, stackAudio } from "./cross-attention";
import { computeMaxTokens, findLengthWithoutLoop } from "./loop-detection";
import {
  type Graph,
  type GraphInputs,
  getFloats,
  getIntegers,
  loadGraph,
  toFloatTensor,
  toIntegerTensor,
} from "./onnx-session";
import { padSamples } from "./pcm";
import { BEGIN_TOKEN, END_TOKEN } from "./tokens";

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

/** Awaited before each step, with the number of steps so far. May throw to stop. */
export type OnStep = (step: number) => void | Promise<void>;

/** Samples to encode (16 kHz mono, -1 to 1), or encoded audio, and texts to score in it, as tokens. */
export type AudioTask = { audio: Float32Array | EncodedAudio; texts: readonly number[][] };
export type ScoredAudio = { audio: EncodedAudio; scored: DecodedText[] };

/** The first convolutions need at least this much audio. */
const MIN_SAMPLES = 4_800;

/** Loads the recognizer of one thread from prepared graphs. */
export async function loadRecognizer(folder: string) {
  const [encoder, decoder] = await Promise.all(
    ["encoder.onnx", "decoder.onnx"].map((name) => loadGraph(join(folder, name))),
  );
  const encode = async (samples: Float32Array): Promise<EncodedAudio> => {
    const padded = padSamples(samples, MIN_SAMPLES);
    const out = await encoder!.run({ samples: toFloatTensor(padded, [1, padded.length]) });
    const keys = getFloats(out, "keys");
    const frames = keys.length / (LAYERS * FRAME_VALUES);
    return { frames, seconds: samples.length / 16_000, keys, values: getFloats(out, "values") };
  };
  return {
    encode,
    /** Encodes the audio, unless it is encoded, and scores each text in it. A text is a step. */
    async score({ audio, texts }: AudioTask, onStep: OnStep = () => {}): Promise<ScoredAudio> {
      const encoded = audio instanceof Float32Array ? await encode(audio) : audio;
      const scored: DecodedText[] = [];
      for (const [n, tokens] of texts.entries()) {
        await onStep(n);
        scored.push(await score(decoder!, encoded, tokens));
      }
      return { audio: encoded, scored };
    },
    /** Decodes each row greedily, and frees the memory of several rows. A token in each row is a step. */
    decode: (rows: EncodedAudio[], onStep: OnStep = () => {}) => decode(decoder!, rows, onStep),
  };
}

export type Recognizer = Awaited<ReturnType<typeof loadRecognizer>>;
export type Decode = Recognizer["decode"];

const CACHED = Array.from({ length: LAYERS }, (_, layer) => [`key_${layer}`, `value_${layer}`]).flat();

const createEmptyPast = (rows: number): GraphInputs =>
  Object.fromEntries(
    CACHED.map((name) => [`past_${name}`, toFloatTensor(new Float32Array(0), [rows, HEADS, 0, HEAD_SIZE])]),
  );

/**
 * Keeps the keys and values of the tokens so far. Each step reads them from one set of buffers and writes them, with
 * those of its own token, to the other set: new memory in each step would cost more time than the copy.
 */
function createPast(encoded: readonly EncodedAudio[]) {
  const maxTokens = Math.max(...encoded.map(({ seconds }) => computeMaxTokens(seconds))) + 1;
  const createBuffers = () => CACHED.map(() => new Float32Array(encoded.length * maxTokens * FRAME_VALUES));
  let [filled, free] = [createBuffers(), createBuffers()];
  let length = 0;
  let past = createEmptyPast(encoded.length);
  const toTensors = (buffers: Float32Array[], rows: number, prefix = "") =>
    Object.fromEntries(
      CACHED.map((name, n) => {
        const values = buffers[n]!.subarray(0, rows * length * FRAME_VALUES);
        return [`${prefix}${name}`, toFloatTensor(values, [rows, HEADS, length, HEAD_SIZE])];
      }),
    );
  return {
    /** Runs a step for one more token in each of `rows`. */
    async run(decoder: Graph, feeds: GraphInputs, rows: number) {
      length++;
      const out = await decoder.run({ ...feeds, ...past }, toTensors(free, rows));
      [filled, free] = [free, filled];
      past = toTensors(filled, rows, "past_");
      return out;
    },
    /** Removes the other rows. */
    keep(kept: readonly number[]): void {
      const size = length * FRAME_VALUES;
      for (const buffer of filled)
        for (const [b, row] of kept.entries()) buffer.copyWithin(b * size, row * size, (row + 1) * size);
      past = toTensors(filled, kept.length, "past_");
    },
  };
}

type DecodingStep = { token: number; logProb: number; attention: Float32Array; onset: Float32Array };

type DecodingRow = { encoded: EncodedAudio; tokens: number[]; steps: DecodingStep[]; open: boolean };

async function decode(decoder: Graph, rows: EncodedAudio[], onStep: OnStep): Promise<DecodedText[]> {
  const all: DecodingRow[] = rows.map((encoded) => ({ encoded, tokens: [], steps: [], open: true }));
  let state = all;
  const cross = stackAudio(rows);
  // A single row is not copied.
  if (rows.length > 1) for (const row of rows) freeAudio(row);
  const past = createPast(rows);
  for (let position = 0; all.some((row) => row.open); position++) {
    await onStep(position);
    const tokens = toIntegerTensor(
      state.map((row) => row.tokens.at(-1) ?? BEGIN_TOKEN),
      [state.length, 1],
    );
    const feeds = { ...cross.feeds(), tokens, targets: tokens, position: toIntegerTensor([position], [1]) };
    const out = await past.run(decoder, feeds, state.length);
    const longest = cross.longest();
    const best = getIntegers(out, "best");
    const logProbs = getFloats(out, "best_log_prob");
    for (const [b, row] of state.entries()) {
      if (!row.open) continue;
      const line = (name: string) => getFloats(out, name).slice(b * longest, b * longest + row.encoded.frames);
      appendStep(row, { token: best[b]!, logProb: logProbs[b]!, attention: line("attention"), onset: line("onset") });
    }
    // Finished rows are removed once they are half of all, because that moves the keys and values of the others.
    const open = state.flatMap((row, b) => (row.open ? [b] : []));
    if (open.length === 0 || open.length > state.length / 2) continue;
    state = open.map((b) => state[b]!);
    cross.keep(open);
    past.keep(open);
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

/**
 * Scores given tokens (forced decoding). Scores one text at a time: rows in a batch would share a quantization scale,
 * and a score must not depend on the rest of a batch.
 */
async function score(decoder: Graph, encoded: EncodedAudio, tokens: number[]): Promise<DecodedText> {
  const dims = [1, tokens.length + 1];
  const out = await decoder.run({
    ...stackAudio([encoded]).feeds(),
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
