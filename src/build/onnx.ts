/** Reading of ONNX files: the protobuf wire format and the few messages of ONNX that our graphs need. */

/** A field of a protobuf message: varints are bigints, everything else is its bytes. */
type Field = { number: number; value: bigint | Uint8Array };

/** ONNX's numbers of the element types in use. */
export const ELEMENT = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7 } as const;
export type ElementType = (typeof ELEMENT)[keyof typeof ELEMENT];

/** A constant. `data` is little-endian, as ONNX's `raw_data`. */
export type Tensor = { name: string; type: number; dims: number[]; data: Uint8Array };

/** An operation. Of the attributes only tensors and subgraphs are read. */
export type SourceNode = {
  op: string;
  name: string;
  inputs: string[];
  outputs: string[];
  tensors: Map<string, Tensor>;
  graphs: Map<string, SourceGraph>;
};

/** A graph as read from a file. */
export type SourceGraph = { nodes: SourceNode[]; tensors: Map<string, Tensor>; inputs: string[]; outputs: string[] };

const text = new TextDecoder();

/** Splits a protobuf message into its fields. Throws on a truncated message or an unknown wire type. */
export function readFields(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error("truncated protobuf message");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = take(1)[0]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8) });
        break;
      case 2:
        fields.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: take(4) });
        break;
      default:
        throw new Error(`unknown protobuf wire type ${tag & 7}`);
    }
  }
  return fields;
}

const valuesOf = (fields: Field[], number: number) => fields.filter((f) => f.number === number).map((f) => f.value);
const messages = (fields: Field[], number: number) =>
  valuesOf(fields, number).filter((v): v is Uint8Array => typeof v !== "bigint");
const strings = (fields: Field[], number: number) => messages(fields, number).map((v) => text.decode(v));
const string = (fields: Field[], number: number) => strings(fields, number)[0] ?? "";

/** A repeated integer field, packed or not. */
const integers = (fields: Field[], number: number): bigint[] =>
  valuesOf(fields, number).flatMap((v) =>
    typeof v === "bigint" ? [v] : readFields(packed(v)).map((f) => f.value as bigint),
  );

/** Packed varints, each given a tag, so that `readFields` can read them. */
function packed(values: Uint8Array): Uint8Array {
  const out: number[] = [];
  let start = true;
  for (const byte of values) {
    if (start) out.push(8);
    out.push(byte);
    start = byte < 128;
  }
  return Uint8Array.from(out);
}

/** Reads a model file's main graph. */
export function readModel(file: Uint8Array): SourceGraph {
  const graph = messages(readFields(file), 7)[0];
  if (!graph) throw new Error("the file holds no ONNX graph");
  return readGraph(graph);
}

function readGraph(bytes: Uint8Array): SourceGraph {
  const fields = readFields(bytes);
  const tensors = messages(fields, 5).map(readTensor);
  return {
    nodes: messages(fields, 1).map(readNode),
    tensors: new Map(tensors.map((t) => [t.name, t])),
    inputs: messages(fields, 11).map((v) => string(readFields(v), 1)),
    outputs: messages(fields, 12).map((v) => string(readFields(v), 1)),
  };
}

function readNode(bytes: Uint8Array): SourceNode {
  const fields = readFields(bytes);
  const attributes = messages(fields, 5).map((v) => readFields(v));
  const pick = <T>(number: number, read: (value: Uint8Array) => T): Map<string, T> =>
    new Map(attributes.flatMap((a) => messages(a, number).map((v) => [string(a, 1), read(v)] as const)));
  return {
    op: string(fields, 4),
    name: string(fields, 3),
    inputs: strings(fields, 1),
    outputs: strings(fields, 2),
    tensors: pick(5, readTensor),
    graphs: pick(6, readGraph),
  };
}

/** A tensor holds its values as raw bytes, or in a field of their type; the answer has them as raw bytes. */
function readTensor(bytes: Uint8Array): Tensor {
  const fields = readFields(bytes);
  const type = Number(integers(fields, 2)[0] ?? 0n);
  const raw = messages(fields, 9)[0];
  return {
    name: string(fields, 8),
    type,
    dims: integers(fields, 1).map(Number),
    data: raw ?? typedData(fields, type),
  };
}

function typedData(fields: Field[], type: number): Uint8Array {
  const values = () => integers(fields, type === ELEMENT.int64 ? 7 : 5);
  switch (type) {
    case ELEMENT.float:
      return Uint8Array.from(messages(fields, 4).flatMap((v) => [...v]));
    case ELEMENT.uint8:
    case ELEMENT.int8:
      return Uint8Array.from(values().map((v) => Number(v & 255n)));
    case ELEMENT.int32:
      return new Uint8Array(Int32Array.from(values().map((v) => Number(BigInt.asIntN(32, v)))).buffer);
    case ELEMENT.int64:
      return new Uint8Array(BigInt64Array.from(values().map((v) => BigInt.asIntN(64, v))).buffer);
    default:
      throw new Error(`no reader for tensors of element type ${type}`);
  }
}
