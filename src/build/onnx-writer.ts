/** Writing of ONNX files. */
import type { ElementType, Tensor } from "./onnx";

const encoder = new TextEncoder();

/** A field to write: a number is a varint, the rest is length-delimited (a list is a message of fields). */
type Written = [number: number, value: number | bigint | string | Uint8Array | { float: number } | Written[]];

/** A protobuf message of the given fields. */
export function writeFields(fields: Written[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === "number" || typeof value === "bigint") {
      parts.push(varintBytes(number << 3), varintBytes(value));
    } else if (typeof value === "object" && "float" in value) {
      parts.push(varintBytes((number << 3) | 5), new Uint8Array(Float32Array.of(value.float).buffer));
    } else {
      const bytes =
        typeof value === "string" ? encoder.encode(value) : Array.isArray(value) ? writeFields(value) : value;
      parts.push(varintBytes((number << 3) | 2), varintBytes(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

function varintBytes(value: number | bigint): Uint8Array {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Uint8Array.from(out);
}

/** An attribute's value: an integer, integers, or `{ float }`. */
export type AttributeValue = number | number[] | { float: number };

/** An operation to write. */
export type Operation = {
  op: string;
  inputs: string[];
  outputs: string[];
  attributes: Record<string, AttributeValue>;
  domain: string;
};

/** An input or output; a dimension that varies is named. */
export type Port = { name: string; type: ElementType; dims: (number | string)[] };

export type ModelParts = {
  name: string;
  operations: Operation[];
  tensors: Tensor[];
  inputs: Port[];
  outputs: Port[];
};

/** A model file (ONNX opset 17 and the operations of ONNX Runtime's own domain). */
export function writeModel(parts: ModelParts): Uint8Array {
  const graph: Written[] = [
    ...parts.operations.map((o): Written => [1, operationFields(o)]),
    [2, parts.name],
    ...parts.tensors.map((t): Written => [5, tensorFields(t)]),
    ...parts.inputs.map((p): Written => [11, portFields(p)]),
    ...parts.outputs.map((p): Written => [12, portFields(p)]),
  ];
  const opsets: [string, number][] = [
    ["", 17],
    ["com.microsoft", 1],
  ];
  return writeFields([
    [1, 8],
    [2, "offcut"],
    [7, graph],
    ...opsets.map(
      ([domain, version]): Written => [
        8,
        [
          [1, domain],
          [2, version],
        ],
      ],
    ),
  ]);
}

const operationFields = (o: Operation): Written[] => [
  ...o.inputs.map((name): Written => [1, name]),
  ...o.outputs.map((name): Written => [2, name]),
  [3, `${o.op}:${o.outputs[0]}`],
  [4, o.op],
  ...Object.entries(o.attributes).map(([name, value]): Written => [5, attributeFields(name, value)]),
  [7, o.domain],
];

function attributeFields(name: string, value: AttributeValue): Written[] {
  if (typeof value === "number") return [[1, name], [3, value], [20, 2]]; // biome-ignore format: one attribute a line
  if (Array.isArray(value)) return [[1, name], ...value.map((v): Written => [8, v]), [20, 7]];
  return [[1, name], [2, value], [20, 1]]; // biome-ignore format: one attribute a line
}

const tensorFields = (t: Tensor): Written[] => [
  ...t.dims.map((d): Written => [1, d]),
  [2, t.type],
  [8, t.name],
  [9, t.data],
];

const portFields = (p: Port): Written[] => {
  const dims = p.dims.map((d): Written => [1, [typeof d === "number" ? [1, d] : [2, d]]]);
  return [[1, p.name], [2, [[1, [[1, p.type], [2, dims]]]]]]; // biome-ignore format: nested messages
};
