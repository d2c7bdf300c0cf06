/** Writes ONNX files. */
import type { ElementType, Tensor } from "./onnx";

const encoder = new TextEncoder();

/**
 * A protobuf field: a number is a varint, `{ float }` is fixed-size, the rest is length-delimited (a list is a nested
 * message).
 */
type ProtobufField = [
  number: number,
  value: number | bigint | string | Uint8Array | { float: number } | ProtobufField[],
];

export function writeMessage(fields: ProtobufField[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === "number" || typeof value === "bigint") {
      parts.push(writeVarint(number << 3), writeVarint(value));
    } else if (typeof value === "object" && "float" in value) {
      parts.push(writeVarint((number << 3) | 5), new Uint8Array(Float32Array.of(value.float).buffer));
    } else {
      const bytes =
        typeof value === "string" ? encoder.encode(value) : Array.isArray(value) ? writeMessage(value) : value;
      parts.push(writeVarint((number << 3) | 2), writeVarint(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

function writeVarint(value: number | bigint): Uint8Array {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Uint8Array.from(out);
}

/** The value of an attribute: an integer, a list of integers, or `{ float }`. */
export type AttributeValue = number | number[] | { float: number };

export type NodeDefinition = {
  op: string;
  inputs: string[];
  outputs: string[];
  attributes: Record<string, AttributeValue>;
  domain: string;
};

/** An input or output of a graph. A dynamic dimension has a name instead of a size. */
export type ValueInfo = { name: string; type: ElementType; dims: (number | string)[] };

export type ModelDefinition = {
  name: string;
  operations: NodeDefinition[];
  tensors: Tensor[];
  inputs: ValueInfo[];
  outputs: ValueInfo[];
};

/** Encodes a model file (ONNX opset 17 and the operators of the `com.microsoft` domain of ONNX Runtime). */
export function writeModel(parts: ModelDefinition): Uint8Array {
  const graph: ProtobufField[] = [
    ...parts.operations.map((o): ProtobufField => [1, toNodeFields(o)]),
    [2, parts.name],
    ...parts.tensors.map((t): ProtobufField => [5, toTensorFields(t)]),
    ...parts.inputs.map((p): ProtobufField => [11, toValueInfoFields(p)]),
    ...parts.outputs.map((p): ProtobufField => [12, toValueInfoFields(p)]),
  ];
  return writeMessage([[1, 8], [2, "offcut"], [7, graph], toOpset("", 17), toOpset("com.microsoft", 1)]); // biome-ignore format: nested messages
}

const toOpset = (domain: string, version: number): ProtobufField => [8, [[1, domain], [2, version]]]; // biome-ignore format: nested messages

const toNodeFields = (o: NodeDefinition): ProtobufField[] => [
  ...o.inputs.map((name): ProtobufField => [1, name]),
  ...o.outputs.map((name): ProtobufField => [2, name]),
  [3, `${o.op}:${o.outputs[0]}`],
  [4, o.op],
  ...Object.entries(o.attributes).map(([name, value]): ProtobufField => [5, toAttributeFields(name, value)]),
  [7, o.domain],
];

function toAttributeFields(name: string, value: AttributeValue): ProtobufField[] {
  if (typeof value === "number") return [[1, name], [3, value], [20, 2]]; // biome-ignore format: one attribute a line
  if (Array.isArray(value)) return [[1, name], ...value.map((v): ProtobufField => [8, v]), [20, 7]];
  return [[1, name], [2, value], [20, 1]]; // biome-ignore format: one attribute a line
}

const toTensorFields = (t: Tensor): ProtobufField[] => [
  ...t.dims.map((d): ProtobufField => [1, d]),
  [2, t.type],
  [8, t.name],
  [9, t.data],
];

const toValueInfoFields = (p: ValueInfo): ProtobufField[] => {
  const dims = p.dims.map((d): ProtobufField => [1, [typeof d === "number" ? [1, d] : [2, d]]]);
  return [[1, p.name], [2, [[1, [[1, p.type], [2, dims]]]]]]; // biome-ignore format: nested messages
};
