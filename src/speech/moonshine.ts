/** Moonshine on its prepared graphs: sound to keys and values, keys and values to tokens, and how well given tokens fit. */
import { join } from "node:path";
import {
  type Feed,
  type Feeds,
  floatFeed,
  floatsOf,
  type Graph,
  integerFeed,
  integersOf,
  loadGraph,
} from "./onnx-session";
import { keptLength, maxTokens } from "./repeat-guard";
import { BEGIN, END } from "./tokens";

const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;
/** Values a frame takes in one layer's keys (or values). */
const FRAME = HEADS * HEAD_SIZE;
/** The first convolutions need this much sound. */
const MIN_SAMPLES = 4_800;

/** What the decoder attends to: `keys` [LAYERS, HEADS, HEAD_SIZE, frames], `values` [LAYERS, HEADS, frames, HEAD_SIZE]. */
export type Encoded = { frames: number; seconds: number; keys: Float32Array; values: Float32Array };

/**
 * Tokens with their log-probabilities. `attention` (where a token was heard) and `onset` (where its word begins) have a row of
 * `frames` for each token and one more, for the end; `logProbs` too, unless decoding was stopped before the end.
 */
export type Decoded = {
  tokens: number[];
  logProbs: Float32Array;
  attention: Float32Array;
  onset: Float32Array;
  frames: number;
  looped: boolean;
};

type OnStep = (position: number) => void | Promise<void>;

export type Moonshine = {
  /** Samples are 16 kHz mono, -1 to 1. */
  encode(samples: Float32Array): Promise<Encoded>;
  /** The likeliest tokens of each row. `onStep` is called with the number of tokens so far, is waited for, and may throw to stop. */
  decode(rows: Encoded[], onStep?: OnStep): Promise<Decoded[]>;
  /**
   * Given tokens held against the sound. One at a time: rows scored together would share the scale of their whole numbers, and
   * a score must not depend on its company.
   */
  score(encoded: Encoded, tokens: number[]): Promise<Decoded>;
};

/** Loads the encoder and the decoder from a folder of prepared graphs. The decoder's steps are too small to be shared between threads. */
export async function loadMoonshine(folder: string, encoderThreads: number): Promise<Moonshine> {
  const encoder = await loadGraph(join(folder, "encoder.onnx"), encoderThreads);
  const decoder = await loadGraph(join(folder, "decoder.onnx"), 1);
  return {
    encode: (samples) => encode(encoder, samples),
    decode: (rows, onStep = () => {}) => decode(decoder, rows, onStep),
    score: (encoded, tokens) => score(decoder, encoded, tokens),
  };
}

async function encode(encoder: Graph, samples: Float32Array): Promise<Encoded> {
  let padded = samples;
  if (samples.length < MIN_SAMPLES) {
    padded = new Float32Array(MIN_SAMPLES);
    padded.set(samples);
  }
  const out = await encoder.run({ samples: floatFeed(padded, [1, padded.length]) });
  const keys = floatsOf(out, "keys");
  return {
    frames: keys.length / (LAYERS * FRAME),
    seconds: samples.length / 16_000,
    keys,
    values: floatsOf(out, "values"),
  };
}

/** Added to the attention where a row has no frames. */
const HIDDEN_FRAME = -1e9;

/** The cross-attention's inputs for several rows, padded to the longest and masked. */
function crossFeeds(rows: Encoded[]): { feeds: Feeds; longest: number } {
  const longest = Math.max(...rows.map((r) => r.frames));
  const mask = new Float32Array(rows.length * longest);
  rows.forEach((r, b) => {
    mask.fill(HIDDEN_FRAME, b * longest + r.frames, (b + 1) * longest);
  });
  const feeds: Feeds = { cross_mask: floatFeed(mask, [rows.length, 1, 1, longest]) };
  for (let layer = 0; layer < LAYERS; layer++) {
    const keys = stack(
      rows.map((r) => layerOf(r.keys, r, layer)),
      rows,
      longest,
      HEADS * HEAD_SIZE,
      1,
    );
    const values = stack(
      rows.map((r) => layerOf(r.values, r, layer)),
      rows,
      longest,
      HEADS,
      HEAD_SIZE,
    );
    feeds[`cross_key_${layer}`] = floatFeed(keys, [rows.length, HEADS, HEAD_SIZE, longest]);
    feeds[`cross_value_${layer}`] = floatFeed(values, [rows.length, HEADS, longest, HEAD_SIZE]);
  }
  return { feeds, longest };
}

const layerOf = (values: Float32Array, row: Encoded, layer: number): Float32Array =>
  values.subarray(layer * row.frames * FRAME, (layer + 1) * row.frames * FRAME);

/** Rows under each other, each as `lines` of its frames with `width` values, padded to the longest. */
function stack(parts: Float32Array[], rows: Encoded[], longest: number, lines: number, width: number): Float32Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Float32Array(parts.length * longest * FRAME);
  for (const [b, part] of parts.entries()) {
    const length = rows[b]!.frames * width;
    for (let line = 0; line < lines; line++)
      out.set(part.subarray(line * length, (line + 1) * length), (b * lines + line) * longest * width);
  }
  return out;
}

function emptyPast(rows: number): Feeds {
  const feeds: Feeds = {};
  for (let i = 0; i < LAYERS; i++)
    for (const kind of ["key", "value"])
      feeds[`past_${kind}_${i}`] = floatFeed(new Float32Array(0), [rows, HEADS, 0, HEAD_SIZE]);
  return feeds;
}

/** What one step says about one row. */
type Step = { token: number; logProb: number; attention: Float32Array; onset: Float32Array };

/** A row while it is decoded. */
type Row = { encoded: Encoded; tokens: number[]; steps: Step[]; open: boolean };

async function decode(decoder: Graph, rows: Encoded[], onStep: OnStep): Promise<Decoded[]> {
  const all: Row[] = rows.map((encoded) => ({ encoded, tokens: [], steps: [], open: true }));
  let state = all;
  let { feeds: cross, longest } = crossFeeds(rows);
  let past = emptyPast(rows.length);
  for (let position = 0; all.some((row) => row.open); position++) {
    await onStep(position);
    const tokens = integerFeed(
      state.map((row) => row.tokens.at(-1) ?? BEGIN),
      [state.length, 1],
    );
    const out = await decoder.run({
      ...cross,
      ...past,
      tokens,
      targets: tokens,
      position: integerFeed([position], [1]),
    });
    const best = integersOf(out, "best");
    const logProbs = floatsOf(out, "best_log_prob");
    for (const [b, row] of state.entries()) {
      if (!row.open) continue;
      const line = (name: string) => floatsOf(out, name).slice(b * longest, b * longest + row.encoded.frames);
      take(row, { token: best[b]!, logProb: logProbs[b]!, attention: line("attention"), onset: line("onset") });
    }
    // Rows that have ended go on unheard until half have: leaving them out copies the keys and values of the others.
    const open = state.flatMap((row, b) => (row.open ? [b] : []));
    const shrink = open.length > 0 && open.length <= state.length / 2;
    past = {};
    for (let i = 0; i < LAYERS; i++)
      for (const kind of ["key", "value"]) {
        const grown = out[`${kind}_${i}`]!;
        past[`past_${kind}_${i}`] = shrink ? rowsOf(grown, open) : grown;
      }
    if (!shrink) continue;
    state = open.map((b) => state[b]!);
    ({ feeds: cross, longest } = crossFeeds(state.map((row) => row.encoded)));
  }
  return all.map(finish);
}

/** One more token of a row: the end, or text. */
function take(row: Row, step: Step): void {
  row.steps.push(step);
  if (step.token !== END) row.tokens.push(step.token);
  row.open =
    step.token !== END && row.tokens.length < maxTokens(row.encoded.seconds) && keptLength(row.tokens) === null;
}

/** Some rows of a feed whose first dimension is the row. */
function rowsOf({ values, dims }: Feed, rows: number[]): Feed {
  const size = values.length / dims[0]!;
  const out = new Float32Array(rows.length * size);
  for (const [to, from] of rows.entries())
    out.set(values.subarray(from * size, (from + 1) * size) as Float32Array, to * size);
  return floatFeed(out, [rows.length, ...dims.slice(1)]);
}

function finish({ encoded, tokens, steps }: Row): Decoded {
  const kept = keptLength(tokens);
  const ended = steps.length > tokens.length;
  const length = kept ?? tokens.length;
  const used = steps.slice(0, kept === null && ended ? length + 1 : length);
  return {
    tokens: tokens.slice(0, length),
    logProbs: Float32Array.from(used, (step) => step.logProb),
    attention: flat(used.map((step) => step.attention)),
    onset: flat(used.map((step) => step.onset)),
    frames: encoded.frames,
    looped: kept !== null || !ended,
  };
}

/** Lines of equal length, one after the other. */
function flat(lines: Float32Array[]): Float32Array {
  const out = new Float32Array(lines.length * (lines[0]?.length ?? 0));
  for (const [k, line] of lines.entries()) out.set(line, k * line.length);
  return out;
}

async function score(decoder: Graph, encoded: Encoded, tokens: number[]): Promise<Decoded> {
  const dims = [1, tokens.length + 1];
  const out = await decoder.run({
    ...crossFeeds([encoded]).feeds,
    ...emptyPast(1),
    tokens: integerFeed([BEGIN, ...tokens], dims),
    targets: integerFeed([...tokens, END], dims),
    position: integerFeed([0], [1]),
  });
  return {
    tokens,
    logProbs: floatsOf(out, "target_log_prob"),
    attention: floatsOf(out, "attention"),
    onset: floatsOf(out, "onset"),
    frames: encoded.frames,
    looped: false,
  };
}
