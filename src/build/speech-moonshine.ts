/**
 * Rebuilds the graphs of Moonshine from its weights: the same arithmetic as the package's model files with a tenth of
 * the nodes, and with the outputs that word timing and forced alignment need. Differences from the package's graphs:
 * - Query, key and value are one matrix product; attention and rotary embedding are single nodes.
 * - The encoder returns the keys and values of the cross-attention.
 * - One decoder runs the first step, the later steps, and a whole text for forced alignment.
 * - The logits use the quantized embedding table directly instead of dequantizing it at each step.
 * - The graph returns the best token and the log probabilities.
 */
import { ELEMENT } from "./onnx";
import type { ValueInfo } from "./onnx-writer";
import { createGraphBuilder, type GraphBuilder } from "./speech-graph-builder";
import {
  concatenateLayers,
  getLinearLayer,
  getTokenTable,
  type LinearLayer,
  tensor,
  toFloats,
  type WeightSource,
} from "./speech-weights";

const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;
const HIDDEN = HEADS * HEAD_SIZE;
const MLP = 1152;
const ROTATED = 32;
/** Positions in the rotary embedding tables: 49 s of audio, or as many tokens. */
const POSITIONS = 2048;

/**
 * Attention heads by layer: those whose attention follows the audio from token to token, and those that attend to the
 * onset of a word. Selected by measuring all heads on synthetic speech with exact word times.
 */
const ALIGNMENT_HEADS: Record<number, number[]> = { 3: [5, 6, 7], 4: [1, 7], 5: [4, 6, 7] };
const ONSET_HEADS: Record<number, number[]> = { 3: [1], 4: [0, 6] };

const toValueInfo = (name: string, type: ValueInfo["type"], ...dims: ValueInfo["dims"]): ValueInfo => ({
  name,
  type,
  dims,
});

/** Layout of the cross-attention inputs: the encoder transposes the keys, so that no decoder step has to. */
const CROSS: { name: "keys" | "values"; dims: (number | string)[]; perm: number[] }[] = [
  { name: "keys", dims: [HEAD_SIZE, "s"], perm: [1, 2, 3, 0] },
  { name: "values", dims: ["s", HEAD_SIZE], perm: [1, 2, 0, 3] },
];

/** Adds the rotary embedding tables (cosines, sines) for `POSITIONS` positions from the model's frequencies. */
function addRotationTables(g: GraphBuilder, frequencies: Float32Array): [string, string] {
  const angles = Float32Array.from({ length: POSITIONS * frequencies.length }, (_, i) =>
    Math.fround(frequencies[i % frequencies.length]! * Math.floor(i / frequencies.length)),
  );
  const dims = [POSITIONS, frequencies.length];
  return [g.floats(angles.map(Math.cos), dims), g.floats(angles.map(Math.sin), dims)];
}

function addLayerNorm(g: GraphBuilder, source: WeightSource, input: string, weight: string): string {
  const scale = g.constant(tensor(source, weight));
  return g.add("LayerNormalization", [input, scale], { axis: -1, epsilon: { float: 1e-5 } });
}

/** Adds query, key and value of a self-attention, `[b, t, HIDDEN]` each, with rotary embedding on query and key. */
function addRotatedProjections(
  g: GraphBuilder,
  source: WeightSource,
  input: string,
  path: string,
  position: string,
  tables: [string, string],
) {
  const projections = ["q_proj", "k_proj", "v_proj"].map((name) => getLinearLayer(source, `${path}/${name}`));
  const joined = g.linear(input, projections);
  const [unrotated, value] = g.addMany("Split", [joined, g.integers([2 * HIDDEN, HIDDEN])], 2, { axis: -1 });
  const [rotated] = g.runtime("RotaryEmbedding", [unrotated!, position, ...tables], 1, {
    interleaved: 1,
    num_heads: 2 * HEADS,
    rotary_embedding_dim: ROTATED,
  });
  const [query, key] = g.addMany("Split", [rotated!, g.integers([HIDDEN, HIDDEN])], 2, { axis: -1 });
  return { query: query!, key: key!, value: value! };
}

/**
 * Builds the encoder, from `samples` [1, n] to the cross-attention inputs of each decoder layer: `keys` [LAYERS, HEADS,
 * HEAD_SIZE, frames] and `values` [LAYERS, HEADS, frames, HEAD_SIZE].
 */
export function buildEncoder(encoder: WeightSource, decoderFirst: WeightSource): Uint8Array {
  const g = createGraphBuilder();
  const convolution = (input: string, index: number, kernel: number, stride: number, bias: string[]): string => {
    const part = (name: string) => g.constant(tensor(encoder, `conv${index}.weight_${name}`));
    const scaled = g.add("Mul", [g.add("Cast", [part("quantized")], { to: ELEMENT.float }), part("scale")]);
    const weight = g.add("Add", [scaled, part("zero_point")]);
    return g.add("Conv", [input, weight, ...bias], { kernel_shape: [kernel], strides: [stride] });
  };
  const gelu = (input: string): string => g.runtime("Gelu", [input], 1)[0]!;

  const audio = g.add("Unsqueeze", ["samples", g.integers([1])]);
  const first = g.add("Tanh", [convolution(audio, 1, 127, 64, [])]);
  const flat = g.add("Reshape", [first, g.integers([0, 1, -1])]);
  const even = g.add("InstanceNormalization", [flat, g.floats([1]), g.floats([0])], { epsilon: { float: 1e-5 } });
  const normal = g.add("Reshape", [even, g.add("Shape", [first])]);
  const scaled = g.add("Mul", [normal, g.constant(tensor(encoder, "onnx::Mul_1488"))]);
  const stem = g.add("Add", [scaled, g.constant(tensor(encoder, "onnx::Add_1489"))]);
  const second = gelu(convolution(stem, 2, 7, 3, [g.constant(tensor(encoder, "conv2.bias"))]));
  const third = gelu(convolution(second, 3, 3, 2, [g.constant(tensor(encoder, "conv3.bias"))]));
  let x = g.add("Transpose", [third], { perm: [0, 2, 1] });

  const tables = addRotationTables(g, toFloats(tensor(encoder, "/rotary_emb/Cast_1_output_0")));
  const start = g.integers([0]);
  for (let i = 0; i < LAYERS; i++) {
    const attended = addLayerNorm(g, encoder, x, `layers.${i}.input_layernorm.weight`);
    const { query, key, value } = addRotatedProjections(g, encoder, attended, `/layers.${i}/self_attn`, start, tables);
    const [attention] = g.runtime("MultiHeadAttention", [query, key, value], 1, { num_heads: HEADS });
    x = g.add("Add", [x, g.linear(attention!, [getLinearLayer(encoder, `/layers.${i}/self_attn/dense`)])]);
    const normed = addLayerNorm(g, encoder, x, `layers.${i}.post_attention_layernorm.weight`);
    const bias = (name: string) => g.constant(tensor(encoder, `layers.${i}.mlp.${name}.bias`));
    const wide = gelu(g.linear(normed, [getLinearLayer(encoder, `/layers.${i}/mlp/fc1`)], bias("fc1")));
    x = g.add("Add", [x, g.linear(wide, [getLinearLayer(encoder, `/layers.${i}/mlp/fc2`)], bias("fc2"))]);
  }
  const hidden = addLayerNorm(g, encoder, x, "layer_norm.weight");

  for (const { name, dims, perm } of CROSS) {
    const projections = Array.from({ length: LAYERS }, (_, i) =>
      getLinearLayer(decoderFirst, `/model/decoder/layers.${i}/encoder_attn/${name[0]}_proj`),
    );
    const joined = g.add("Reshape", [g.linear(hidden, projections), g.integers([-1, LAYERS, HEADS, HEAD_SIZE])]);
    g.output(g.add("Transpose", [joined], { perm }), toValueInfo(name, ELEMENT.float, LAYERS, HEADS, ...dims));
  }
  return g.build("encoder", [toValueInfo("samples", ELEMENT.float, 1, "n")]);
}

/**
 * Builds the decoder for `t` tokens in each of `b` rows, which follow `p` previous tokens.
 * Inputs: `tokens` and `targets` [b, t]; `position` [1] = p; `cross_mask` [b, 1, 1, s], 0 where a row has frames and
 * very negative elsewhere; `past_key_i`, `past_value_i` [b, HEADS, p, HEAD_SIZE]; `cross_key_i` [b, HEADS, HEAD_SIZE,
 * s], `cross_value_i` [b, HEADS, s, HEAD_SIZE]. Outputs for each token: `best` [b, t, 1], the most probable next token;
 * `best_log_prob` and `target_log_prob` [b, t, 1]; `attention` and `onset` [b, t, s], means over the alignment heads
 * and the onset heads; `key_i` and `value_i`, the keys and values including the new tokens.
 */
export function buildDecoder(next: WeightSource): Uint8Array {
  const g = createGraphBuilder();
  const base = "/model/decoder";
  const table = getTokenTable(next);
  const tables = addRotationTables(g, toFloats(tensor(next, `${base}/rotary_emb/Cast_1_output_0`)));
  const scores = addTokenTable(g, table);
  let x = scores.embed("tokens");
  const inputs: ValueInfo[] = [
    toValueInfo("tokens", ELEMENT.int64, "b", "t"),
    toValueInfo("targets", ELEMENT.int64, "b", "t"),
    toValueInfo("position", ELEMENT.int64, 1),
    toValueInfo("cross_mask", ELEMENT.float, "b", 1, 1, "s"),
  ];
  const alignment: string[] = [];
  const onsets: string[] = [];
  for (let i = 0; i < LAYERS; i++) {
    const path = `${base}/layers.${i}`;
    const named = `model.decoder.layers.${i}`;
    for (const kind of ["key", "value"])
      inputs.push(toValueInfo(`past_${kind}_${i}`, ELEMENT.float, "b", HEADS, "p", HEAD_SIZE));
    inputs.push(toValueInfo(`cross_key_${i}`, ELEMENT.float, "b", HEADS, HEAD_SIZE, "s"));
    inputs.push(toValueInfo(`cross_value_${i}`, ELEMENT.float, "b", HEADS, "s", HEAD_SIZE));
    const attended = addLayerNorm(g, next, x, `${named}.input_layernorm.weight_merged_0`);
    const own = addRotatedProjections(g, next, attended, `${path}/self_attn`, "position", tables);
    const [self, keys, values] = g.runtime(
      "MultiHeadAttention",
      [own.query, own.key, own.value, "", "", "", `past_key_${i}`, `past_value_${i}`],
      3,
      { num_heads: HEADS, unidirectional: 1 },
    );
    g.output(keys!, toValueInfo(`key_${i}`, ELEMENT.float, "b", HEADS, "q", HEAD_SIZE));
    g.output(values!, toValueInfo(`value_${i}`, ELEMENT.float, "b", HEADS, "q", HEAD_SIZE));
    x = g.add("Add", [x, g.linear(self!, [getLinearLayer(next, `${path}/self_attn/dense`)])]);

    const normed = addLayerNorm(g, next, x, `${named}.post_attention_layernorm.weight_merged_0`);
    const { context, weights } = addCrossAttention(g, normed, getLinearLayer(next, `${path}/encoder_attn/q_proj`), i);
    for (const [heads, selected] of [
      [ALIGNMENT_HEADS[i], alignment],
      [ONSET_HEADS[i], onsets],
    ] as const)
      if (heads) selected.push(g.add("Gather", [weights, g.integers(heads)], { axis: 1 }));
    x = g.add("Add", [x, g.linear(context, [getLinearLayer(next, `${path}/encoder_attn/dense`)])]);

    const last = addLayerNorm(g, next, x, `${named}.final_layernorm.weight_merged_0`);
    const bias = (name: string) => g.constant(tensor(next, `${named}.mlp.${name}.bias_merged_0`));
    const wide = g.linear(last, [getLinearLayer(next, `${path}/mlp/up_proj`)], bias("up_proj"));
    const [content, gate] = g.addMany("Split", [wide, g.integers([MLP, MLP])], 2, { axis: -1 });
    const [open] = g.runtime("QuickGelu", [gate!], 1, { alpha: { float: 1 } });
    const gated = g.add("Mul", [open!, content!]);
    x = g.add("Add", [x, g.linear(gated, [getLinearLayer(next, `${path}/mlp/down_proj`)], bias("down_proj"))]);
  }
  const hidden = addLayerNorm(g, next, x, "model.decoder.norm.weight_merged_0");
  const logProbs = g.add("LogSoftmax", [scores.score(hidden)], { axis: -1 });
  const best = g.add("ArgMax", [logProbs], { axis: -1, keepdims: 1 });
  const targets = g.add("Unsqueeze", ["targets", g.integers([2])]);
  g.output(best, toValueInfo("best", ELEMENT.int64, "b", "t", 1));
  g.output(
    g.add("GatherElements", [logProbs, best], { axis: -1 }),
    toValueInfo("best_log_prob", ELEMENT.float, "b", "t", 1),
  );
  g.output(
    g.add("GatherElements", [logProbs, targets], { axis: -1 }),
    toValueInfo("target_log_prob", ELEMENT.float, "b", "t", 1),
  );
  for (const [name, heads] of Object.entries({ attention: alignment, onset: onsets })) {
    const mean = g.add("ReduceMean", [g.add("Concat", heads, { axis: 1 })], { axes: [1], keepdims: 0 });
    g.output(mean, toValueInfo(name, ELEMENT.float, "b", "t", "s"));
  }
  return g.build("decoder", inputs);
}

/** Adds the attention over the audio; `weights` [b, HEADS, t, s] are the attention weights of each token. */
function addCrossAttention(g: GraphBuilder, input: string, projection: LinearLayer, layer: number) {
  const scaled = { ...projection, scale: projection.scale / Math.sqrt(HEAD_SIZE) };
  const split = g.add("Reshape", [g.linear(input, [scaled]), g.integers([0, 0, HEADS, HEAD_SIZE])]);
  const query = g.add("Transpose", [split], { perm: [0, 2, 1, 3] });
  const scores = g.add("Add", [g.add("MatMul", [query, `cross_key_${layer}`]), "cross_mask"]);
  const weights = g.add("Softmax", [scores], { axis: -1 });
  const mixed = g.add("Transpose", [g.add("MatMul", [weights, `cross_value_${layer}`])], { perm: [0, 2, 1, 3] });
  return { context: g.add("Reshape", [mixed, g.integers([0, 0, HIDDEN])]), weights };
}

/** Adds the token embeddings once, for both embedding and scoring tokens. */
function addTokenTable(g: GraphBuilder, table: ReturnType<typeof getTokenTable>) {
  const { weight, scales, zeroPoints } = concatenateLayers([table]);
  const shared = g.bytes(weight, [table.inputs, table.outputs]);
  const scale = g.floats(scales.slice(0, 1));
  const zeroPoint = g.bytes(zeroPoints.slice(0, 1));
  return {
    embed(tokens: string): string {
      const columns = g.add("Gather", [shared, tokens], { axis: 1 });
      const rows = g.add("Transpose", [columns], { perm: [1, 2, 0] });
      return g.add("DequantizeLinear", [rows, g.floats([table.scale], []), g.bytes(zeroPoints.slice(0, 1), [])]);
    },
    score: (hidden: string): string => g.runtime("DynamicQuantizeMatMul", [hidden, shared, scale, zeroPoint], 1)[0]!,
  };
}
