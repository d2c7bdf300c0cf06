/** Reads the weights of Moonshine from the two model files of its package, by the names that the exporter assigned. */
import type { SourceGraph, Tensor } from "./onnx";

/** A quantized linear layer `x W`: `weight` is [inputs, outputs] in int8, with one scale and one zero point. */
export type LinearLayer = { inputs: number; outputs: number; weight: Int8Array; scale: number; zeroPoint: number };

/** Graphs in which weights are looked up: a subgraph and the graph that contains it. */
export type WeightSource = { graph: SourceGraph; outer: SourceGraph | null };

const firstFloat = (getTensor: Tensor): number => toFloats(getTensor)[0]!;

/**
 * Converts uint8 weights or a zero point to int8, for which ONNX Runtime uses the processor's dot products of 8 bits.
 * Both are less by 128, so the sums of products stay the same.
 */
const toSigned = (bytes: Uint8Array): Int8Array => Int8Array.from(bytes, (byte) => byte - 128);

export const toFloats = (tensor: Tensor): Float32Array => new Float32Array(new Uint8Array(tensor.data).buffer);

/**
 * Returns the branches of the merged decoder: `first` for the first step, `next` for the later ones. Throws when there
 * are none.
 */
export function getDecoderBranches(merged: SourceGraph): { first: WeightSource; next: WeightSource } {
  const choice = merged.nodes.find((n) => n.op === "If");
  const first = choice?.graphs.get("else_branch");
  const next = choice?.graphs.get("then_branch");
  if (!first || !next) throw new Error("Decoder model has no branches: expected the merged decoder.");
  return { first: { graph: first, outer: merged }, next: { graph: next, outer: merged } };
}

/** Returns a constant by name. Throws when it does not exist. */
export function tensor(source: WeightSource, name: string): Tensor {
  const found = source.graph.tensors.get(name) ?? source.outer?.tensors.get(name);
  if (!found) throw new Error(`Model has no constant ${name}.`);
  return found;
}

/** Returns the linear layer at a path such as `/layers.0/mlp/fc1`. Throws when it does not exist. */
export function getLinearLayer(source: WeightSource, path: string): LinearLayer {
  const inputOf = (suffix: string, index: number): string => {
    const node = source.graph.nodes.find((n) => n.name === path + suffix);
    const input = node?.inputs[index];
    if (!input) throw new Error(`Model has no layer ${path}.`);
    return input;
  };
  const weight = tensor(source, inputOf("/MatMul_quant", 1));
  const [inputs = 0, outputs = 0] = weight.dims;
  return {
    inputs,
    outputs,
    weight: toSigned(weight.data),
    zeroPoint: toSigned(tensor(source, inputOf("/MatMul_quant", 3)).data)[0]!,
    scale: firstFloat(tensor(source, inputOf("/MatMul_quant_scales_mul", 1))),
  };
}

/** Returns the token embeddings as a linear layer from hidden state to logits (both share the same weights). */
export function getTokenTable(source: WeightSource): LinearLayer {
  const name = "model.decoder.embed_tokens.weight_merged_0";
  const table = tensor(source, `${name}_quantized`);
  const [tokens = 0, hidden = 0] = table.dims;
  const rows = toSigned(table.data);
  const weight = new Int8Array(tokens * hidden);
  for (let token = 0; token < tokens; token++)
    for (let k = 0; k < hidden; k++) weight[k * tokens + token] = rows[token * hidden + k]!;
  return {
    inputs: hidden,
    outputs: tokens,
    weight,
    zeroPoint: toSigned(tensor(source, `${name}_zero_point`).data)[0]!,
    scale: firstFloat(tensor(source, `${name}_scale`)),
  };
}

/** Concatenates the outputs of layers with the same input. Returns the scale and zero point of each output. */
export function concatenateLayers(layers: LinearLayer[]) {
  const inputs = layers[0]!.inputs;
  const outputs = layers.reduce((sum, l) => sum + l.outputs, 0);
  const weight = new Int8Array(inputs * outputs);
  const scales = new Float32Array(outputs);
  const zeroPoints = new Int8Array(outputs);
  let at = 0;
  for (const layer of layers) {
    if (layer.inputs !== inputs) throw new Error("Layers to concatenate must have the same number of inputs.");
    for (let k = 0; k < inputs; k++)
      weight.set(layer.weight.subarray(k * layer.outputs, (k + 1) * layer.outputs), k * outputs + at);
    scales.fill(layer.scale, at, at + layer.outputs);
    zeroPoints.fill(layer.zeroPoint, at, at + layer.outputs);
    at += layer.outputs;
  }
  return { inputs, outputs, weight, scales, zeroPoints };
}
