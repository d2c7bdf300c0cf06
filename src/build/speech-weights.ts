/** The trained numbers of Moonshine, taken out of the two files of its package by the names that the exporter gave them. */
import type { SourceGraph, Tensor } from "./onnx";

/** A quantised linear layer `x W`: `weight` is [inputs, outputs] of unsigned bytes; one scale and zero point for all of it. */
export type Linear = { inputs: number; outputs: number; weight: Uint8Array; scale: number; zeroPoint: number };

/** Where weights are looked up: a graph, and the graph around it. */
export type WeightSource = { graph: SourceGraph; outer: SourceGraph | null };

const floatAt = (tensor: Tensor): number => floats(tensor)[0]!;

/** The values of a float tensor. */
export const floats = (tensor: Tensor): Float32Array => new Float32Array(new Uint8Array(tensor.data).buffer);

/** The branches of the merged decoder: its first step, and the steps after it. */
export function decoderBranches(merged: SourceGraph): { first: WeightSource; next: WeightSource } {
  const choice = merged.nodes.find((n) => n.op === "If");
  const first = choice?.graphs.get("else_branch");
  const next = choice?.graphs.get("then_branch");
  if (!first || !next) throw new Error("the decoder is not a merged one");
  return { first: { graph: first, outer: merged }, next: { graph: next, outer: merged } };
}

/** A constant by name. Throws when it is not there. */
export function tensor(source: WeightSource, name: string): Tensor {
  const found = source.graph.tensors.get(name) ?? source.outer?.tensors.get(name);
  if (!found) throw new Error(`the model has no constant ${name}`);
  return found;
}

/** The linear layer at a path such as `/layers.0/mlp/fc1`. */
export function linear(source: WeightSource, path: string): Linear {
  const inputOf = (suffix: string, index: number): string => {
    const node = source.graph.nodes.find((n) => n.name === path + suffix);
    const input = node?.inputs[index];
    if (!input) throw new Error(`the model has no layer ${path}`);
    return input;
  };
  const weight = tensor(source, inputOf("/MatMul_quant", 1));
  const [inputs = 0, outputs = 0] = weight.dims;
  return {
    inputs,
    outputs,
    weight: weight.data,
    zeroPoint: tensor(source, inputOf("/MatMul_quant", 3)).data[0]!,
    scale: floatAt(tensor(source, inputOf("/MatMul_quant_scales_mul", 1))),
  };
}

/** The table of token vectors as a linear layer from hidden state to token scores (the two share their numbers). */
export function tokenTable(source: WeightSource): Linear {
  const name = "model.decoder.embed_tokens.weight_merged_0";
  const table = tensor(source, `${name}_quantized`);
  const [tokens = 0, hidden = 0] = table.dims;
  const weight = new Uint8Array(tokens * hidden);
  for (let token = 0; token < tokens; token++)
    for (let k = 0; k < hidden; k++) weight[k * tokens + token] = table.data[token * hidden + k]!;
  return {
    inputs: hidden,
    outputs: tokens,
    weight,
    zeroPoint: tensor(source, `${name}_zero_point`).data[0]!,
    scale: floatAt(tensor(source, `${name}_scale`)),
  };
}

/** Layers with the same input side by side: their outputs are concatenated. Gives the scale and zero point of each output. */
export function sideBySide(layers: Linear[]): {
  inputs: number;
  outputs: number;
  weight: Uint8Array;
  scales: Float32Array;
  zeroPoints: Uint8Array;
} {
  const inputs = layers[0]!.inputs;
  const outputs = layers.reduce((sum, l) => sum + l.outputs, 0);
  const weight = new Uint8Array(inputs * outputs);
  const scales = new Float32Array(outputs);
  const zeroPoints = new Uint8Array(outputs);
  let at = 0;
  for (const layer of layers) {
    if (layer.inputs !== inputs) throw new Error("layers side by side need the same input");
    for (let k = 0; k < inputs; k++)
      weight.set(layer.weight.subarray(k * layer.outputs, (k + 1) * layer.outputs), k * outputs + at);
    scales.fill(layer.scale, at, at + layer.outputs);
    zeroPoints.fill(layer.zeroPoint, at, at + layer.outputs);
    at += layer.outputs;
  }
  return { inputs, outputs, weight, scales, zeroPoints };
}
