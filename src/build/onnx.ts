/** Reads ONNX files: the protobuf wire format and the ONNX messages that the speech graphs need. */

/** A field of a protobuf message: a varint is a bigint, every other type is bytes. */
type MessageField = { number: number; value: bigint | Uint8Array };

/** The ONNX codes of the element types in use. */
export const ELEMENT = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7 } as const;
export type ElementType = (typeof ELEMENT)[keyof typeof ELEMENT];

/** A constant. `data` is little-endian, as in `raw_data` of ONNX. */
export type Tensor = { name: string; type: number; dims: number[]; data: Uint8Array };

/** A node. Only attributes that are tensors or subgraphs are read. */
export type SourceNode = {
  op: string;
  name: string;
  inputs: string[];
  outputs: string[];
  tensors: Map<string, Tensor>;
  graphs: Map<string, SourceGraph>;
};

export type SourceGraph = { nodes: SourceNode[]; tensors: Map<string, Tensor>; inputs: string[]; outputs: string[] };

const text = new TextDecoder();

/** Parses a protobuf message into its fields. Throws when the message is truncated or has an unknown wire type. */
export function readMessage(bytes: Uint8Array): MessageField[] {
  const fields: MessageField[] = [];
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error("Protobuf message is truncated.");
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
        throw new Error(`Unknown protobuf wire type ${tag & 7}.`);
    }
  }
  return fields;
}

const listValues = (fields: MessageField[], number: number) =>
  fields.filter((f) => f.number === number).map((f) => f.value);
const listMessages = (fields: MessageField[], number: number) =>
  listValues(fields, number).filter((v): v is Uint8Array => typeof v !== "bigint");
const listStrings = (fields: MessageField[], number: number) => listMessages(fields, number).map((v) => text.decode(v));
const getString = (fields: MessageField[], number: number) => listStrings(fields, number)[0] ?? "";

/** Returns the values of a repeated integer field, packed or not. */
const listIntegers = (fields: MessageField[], number: number): bigint[] =>
  listValues(fields, number).flatMap((v) =>
    typeof v === "bigint" ? [v] : readMessage(addTags(v)).map((f) => f.value as bigint),
  );

/** Puts a tag in front of each packed varint, so that `readMessage` can parse them. */
function addTags(values: Uint8Array): Uint8Array {
  const out: number[] = [];
  let start = true;
  for (const byte of values) {
    if (start) out.push(8);
    out.push(byte);
    start = byte < 128;
  }
  return Uint8Array.from(out);
}

/** Reads the main graph of a model file. Throws when there is none. */
export function readModel(file: Uint8Array): SourceGraph {
  const graph = listMessages(readMessage(file), 7)[0];
  if (!graph) throw new Error("File contains no ONNX graph.");
  return readGraph(graph);
}

function readGraph(bytes: Uint8Array): SourceGraph {
  const fields = readMessage(bytes);
  const tensors = listMessages(fields, 5).map(readTensor);
  return {
    nodes: listMessages(fields, 1).map(readNode),
    tensors: new Map(tensors.map((t) => [t.name, t])),
    inputs: listMessages(fields, 11).map((v) => getString(readMessage(v), 1)),
    outputs: listMessages(fields, 12).map((v) => getString(readMessage(v), 1)),
  };
}

function readNode(bytes: Uint8Array): SourceNode {
  const fields = readMessage(bytes);
  const attributes = listMessages(fields, 5).map((v) => readMessage(v));
  const pick = <T>(number: number, read: (value: Uint8Array) => T): Map<string, T> =>
    new Map(attributes.flatMap((a) => listMessages(a, number).map((v) => [getString(a, 1), read(v)] as const)));
  return {
    op: getString(fields, 4),
    name: getString(fields, 3),
    inputs: listStrings(fields, 1),
    outputs: listStrings(fields, 2),
    tensors: pick(5, readTensor),
    graphs: pick(6, readGraph),
  };
}

/** Returns a tensor with its values as raw bytes; the file has them as raw bytes or in a field of their type. */
function readTensor(bytes: Uint8Array): Tensor {
  const fields = readMessage(bytes);
  const type = Number(listIntegers(fields, 2)[0] ?? 0n);
  const raw = listMessages(fields, 9)[0];
  return {
    name: getString(fields, 8),
    type,
    dims: listIntegers(fields, 1).map(Number),
    data: raw ?? readTypedData(fields, type),
  };
}

function readTypedData(fields: MessageField[], type: number): Uint8Array {
  const values = () => listIntegers(fields, type === ELEMENT.int64 ? 7 : 5);
  switch (type) {
    case ELEMENT.float:
      return Uint8Array.from(listMessages(fields, 4).flatMap((v) => [...v]));
    case ELEMENT.uint8:
    case ELEMENT.int8:
      return Uint8Array.from(values().map((v) => Number(v & 255n)));
    case ELEMENT.int32:
      return new Uint8Array(Int32Array.from(values().map((v) => Number(BigInt.asIntN(32, v)))).buffer);
    case ELEMENT.int64:
      return new Uint8Array(BigInt64Array.from(values().map((v) => BigInt.asIntN(64, v))).buffer);
    default:
      throw new Error(`Tensors of element type ${type} are not supported.`);
  }
}
