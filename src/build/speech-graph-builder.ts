/** Builds an ONNX graph: each method returns the name of the value that it adds. */
import { ELEMENT, type Tensor } from "./onnx";
import { type AttributeValue, type NodeDefinition, type ValueInfo, writeModel } from "./onnx-writer";
import { concatenateLayers, type LinearLayer } from "./speech-weights";

type Attributes = Record<string, AttributeValue>;

export function createGraphBuilder() {
  const operations: NodeDefinition[] = [];
  const tensors: Tensor[] = [];
  const outputs: ValueInfo[] = [];
  let count = 0;
  const nextName = () => `v${count++}`;

  const addTensor = (type: number, dims: number[], data: Uint8Array): string => {
    const name = nextName();
    tensors.push({ name, type, dims, data });
    return name;
  };
  const addNode = (domain: string, op: string, inputs: string[], outs: number, attributes: Attributes) => {
    const names = Array.from({ length: outs }, nextName);
    operations.push({ op, inputs, outputs: names, attributes, domain });
    return names;
  };

  const builder = {
    /** Adds a float32 constant; without `dims` a vector. */
    floats: (values: ArrayLike<number>, dims = [values.length]): string =>
      addTensor(ELEMENT.float, dims, new Uint8Array(Float32Array.from(values).buffer)),
    /** Adds an int64 constant; without `dims` a vector. */
    integers: (values: number[], dims = [values.length]): string =>
      addTensor(ELEMENT.int64, dims, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer)),
    /** Adds an int8 constant; without `dims` a vector. */
    bytes: (values: Int8Array, dims = [values.length]): string =>
      addTensor(ELEMENT.int8, dims, new Uint8Array(values.buffer, values.byteOffset, values.length)),
    /** Adds a constant copied from a source model. */
    constant: (tensor: Tensor): string => addTensor(tensor.type, tensor.dims, tensor.data),
    /** Adds an ONNX node with one output. An empty input name omits an optional input. */
    add: (op: string, inputs: string[], attributes: Attributes = {}): string =>
      addNode("", op, inputs, 1, attributes)[0]!,
    /** Adds an ONNX node with several outputs. */
    addMany: (op: string, inputs: string[], outs: number, attributes: Attributes = {}): string[] =>
      addNode("", op, inputs, outs, attributes),
    /** Adds a node of the `com.microsoft` domain of ONNX Runtime. */
    runtime: (op: string, inputs: string[], outs: number, attributes: Attributes = {}): string[] =>
      addNode("com.microsoft", op, inputs, outs, attributes),
    /**
     * Adds one or more concatenated quantized layers, with dynamic quantization of the input; `bias` names a constant.
     */
    linear(input: string, layers: LinearLayer[], bias = ""): string {
      const joined = concatenateLayers(layers);
      const weight = builder.bytes(joined.weight, [joined.inputs, joined.outputs]);
      const single = layers.length === 1;
      const scale = builder.floats(single ? joined.scales.slice(0, 1) : joined.scales);
      const zeroPoint = builder.bytes(single ? joined.zeroPoints.slice(0, 1) : joined.zeroPoints);
      return builder.runtime("DynamicQuantizeMatMul", [input, weight, scale, zeroPoint, bias], 1)[0]!;
    },
    /** Declares a value as an output of the graph. */
    output(value: string, port: ValueInfo): void {
      operations.push({ op: "Identity", inputs: [value], outputs: [port.name], attributes: {}, domain: "" });
      outputs.push(port);
    },
    /** Encodes the graph as a model file. */
    build: (name: string, inputs: ValueInfo[]): Uint8Array =>
      writeModel({ name, operations, tensors, inputs, outputs }),
  };
  return builder;
}

export type GraphBuilder = ReturnType<typeof createGraphBuilder>;
