/** The audio of the rows of a batch as inputs of the decoder's cross-attention, padded to the longest row. */
import { type GraphInputs, toFloatTensor } from "./onnx-session";

export const LAYERS = 6;
export const HEADS = 8;
export const HEAD_SIZE = 36;
/** Number of values per frame in one layer's keys (or values). */
export const FRAME_VALUES = HEADS * HEAD_SIZE;

/** `keys` [LAYERS, HEADS, HEAD_SIZE, frames] and `values` [LAYERS, HEADS, frames, HEAD_SIZE]. */
export type EncodedAudio = { frames: number; seconds: number; keys: Float32Array; values: Float32Array };

/** Keys are lines of one value per frame; values are lines of one vector per frame. */
const LINES = {
  key: { from: "keys", lines: HEADS * HEAD_SIZE, width: 1 },
  value: { from: "values", lines: HEADS, width: HEAD_SIZE },
} as const;
type Kind = keyof typeof LINES;
const KINDS = Object.keys(LINES) as Kind[];

/** Added to the attention scores where a row has no frames. */
const MASKED_FRAME = -1e9;

/**
 * Stacks rows. `keep` removes the other rows in place, because memory that has not been used before costs more time
 * than the copy. `feeds` are the inputs for the rows that are left, `longest` the frames of each.
 */
export function stackAudio(encoded: readonly EncodedAudio[]) {
  let rows: readonly Pick<EncodedAudio, "frames">[] = encoded.map(({ frames }) => ({ frames }));
  let longest = getLongest(rows);
  const stacks = Array.from({ length: LAYERS }, (_, layer) => ({
    key: stackLayer(encoded, "key", layer, longest),
    value: stackLayer(encoded, "value", layer, longest),
  }));
  const createFeeds = (): GraphInputs => {
    const mask = new Float32Array(rows.length * longest);
    for (const [b, row] of rows.entries()) mask.fill(MASKED_FRAME, b * longest + row.frames, (b + 1) * longest);
    const feeds: GraphInputs = { cross_mask: toFloatTensor(mask, [rows.length, 1, 1, longest]) };
    const size = rows.length * longest * FRAME_VALUES;
    for (const [layer, { key, value }] of stacks.entries()) {
      feeds[`cross_key_${layer}`] = toFloatTensor(key.subarray(0, size), [rows.length, HEADS, HEAD_SIZE, longest]);
      feeds[`cross_value_${layer}`] = toFloatTensor(value.subarray(0, size), [rows.length, HEADS, longest, HEAD_SIZE]);
    }
    return feeds;
  };
  let feeds = createFeeds();
  return {
    feeds: () => feeds,
    longest: () => longest,
    keep(kept: readonly number[]): void {
      const before = longest;
      rows = kept.map((row) => rows[row]!);
      longest = getLongest(rows);
      for (const stack of stacks)
        for (const kind of KINDS) keepLines(stack[kind], kind, { kept, before, after: longest });
      feeds = createFeeds();
    },
  };
}

/** Frees the memory of encoded audio, which the garbage collector does not see. */
export function freeAudio({ keys, values }: EncodedAudio): void {
  for (const { buffer } of [keys, values]) (buffer as ArrayBuffer).transfer(0);
}

export const copyAudio = (audio: EncodedAudio): EncodedAudio => ({
  ...audio,
  keys: audio.keys.slice(),
  values: audio.values.slice(),
});

const getLongest = (rows: readonly Pick<EncodedAudio, "frames">[]): number =>
  Math.max(...rows.map(({ frames }) => frames));

/** Returns the lines of a layer, row by row. A single row is not copied. */
function stackLayer(rows: readonly EncodedAudio[], kind: Kind, layer: number, longest: number): Float32Array {
  const { from, lines, width } = LINES[kind];
  const parts = rows.map((row) => {
    const size = row.frames * FRAME_VALUES;
    return row[from].subarray(layer * size, (layer + 1) * size);
  });
  if (parts.length === 1) return parts[0]!;
  const stack = new Float32Array(parts.length * longest * FRAME_VALUES);
  for (const [b, part] of parts.entries()) {
    const length = rows[b]!.frames * width;
    for (let line = 0; line < lines; line++)
      stack.set(part.subarray(line * length, (line + 1) * length), (b * lines + line) * longest * width);
  }
  return stack;
}

/**
 * Moves the lines of the rows that stay to the front, with `after` frames instead of `before`. No line moves backward.
 */
function keepLines(
  stack: Float32Array,
  kind: Kind,
  { kept, before, after }: { kept: readonly number[]; before: number; after: number },
): void {
  const { lines, width } = LINES[kind];
  for (const [b, row] of kept.entries())
    for (let line = 0; line < lines; line++) {
      const from = (row * lines + line) * before * width;
      stack.copyWithin((b * lines + line) * after * width, from, from + after * width);
    }
}
