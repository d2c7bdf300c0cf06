/** A graph under construction: each operation answers with the name of its output. */
import { ELEMENT, type Tensor } from "./onnx";
import { type AttributeValue, type Operation, type Port, writeModel } from "./onnx-writer";
import { type Linear, sideBySide } from "./speech-weights";

export type Attributes = Record<string, AttributeValue>;

export type GraphBuilder = {
  /** A constant of floats; without `dims` a vector. */
  floats(values: ArrayLike<number>, dims?: number[]): string;
  integers(values: number[], dims?: number[]): string;
  /** A constant taken over from the source. */
  constant(tensor: Tensor): string;
  /** An ONNX operation with one output. An empty input name is an input left out. */
  add(op: string, inputs: string[], attributes?: Attributes): string;
  /** An operation with several outputs. */
  addMany(op: string, inputs: string[], outputs: number, attributes?: Attributes): string[];
  /** An operation of ONNX Runtime's own domain. */
  runtime(op: string, inputs: string[], outputs: number, attributes?: Attributes): string[];
  /** A quantised layer (or several side by side), its input quantised on the fly; `bias` names a constant. */
  linear(input: string, layers: Linear[], bias?: string): string;
  /** Gives a value its public name. */
  output(value: string, port: Port): void;
  build(name: string, inputs: Port[]): Uint8Array;
};

/** Starts an empty graph. */
export function createGraphBuilder(): GraphBuilder {
  const operations: Operation[] = [];
  const tensors: Tensor[] = [];
  const outputs: Port[] = [];
  let count = 0;
  const fresh = () => `v${count++}`;

  const keep = (type: number, dims: number[], data: Uint8Array): string => {
    const name = fresh();
    tensors.push({ name, type, dims, data });
    return name;
  };
  const operate = (domain: string, op: string, inputs: string[], outs: number, attributes: Attributes) => {
    const names = Array.from({ length: outs }, fresh);
    operations.push({ op, inputs, outputs: names, attributes, domain });
    return names;
  };

  const builder: GraphBuilder = {
    floats: (values, dims = [values.length]) =>
      keep(ELEMENT.float, dims, new Uint8Array(Float32Array.from(values).buffer)),
    integers: (values, dims = [values.length]) =>
      keep(ELEMENT.int64, dims, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer)),
    constant: (tensor) => keep(tensor.type, tensor.dims, tensor.data),
    add: (op, inputs, attributes = {}) => operate("", op, inputs, 1, attributes)[0]!,
    addMany: (op, inputs, outs, attributes = {}) => operate("", op, inputs, outs, attributes),
    runtime: (op, inputs, outs, attributes = {}) => operate("com.microsoft", op, inputs, outs, attributes),
    linear(input, layers, bias = "") {
      const joined = sideBySide(layers);
      const weight = keep(ELEMENT.uint8, [joined.inputs, joined.outputs], joined.weight);
      const single = layers.length === 1;
      const scale = builder.floats(single ? joined.scales.slice(0, 1) : joined.scales);
      const zeroPoint = single
        ? keep(ELEMENT.uint8, [1], joined.zeroPoints.slice(0, 1))
        : keep(ELEMENT.uint8, [joined.outputs], joined.zeroPoints);
      return builder.runtime("DynamicQuantizeMatMul", [input, weight, scale, zeroPoint, bias], 1)[0]!;
    },
    output(value, port) {
      operations.push({ op: "Identity", inputs: [value], outputs: [port.name], attributes: {}, domain: "" });
      outputs.push(port);
    },
    build: (name, inputs) => writeModel({ name, operations, tensors, inputs, outputs }),
  };
  return builder;
}
