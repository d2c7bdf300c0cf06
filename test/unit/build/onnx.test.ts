import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ELEMENT, readMessage, readModel } from "../../../src/build/onnx";
import { writeMessage, writeModel } from "../../../src/build/onnx-writer";

describe("protobuf fields", () => {
  test("fields survive writing and reading", () => {
    const field = fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.uint8Array()));
    fc.assert(
      fc.property(fc.array(field), (fields) => {
        const read = readMessage(writeMessage(fields)).map((f) => [
          f.number,
          typeof f.value === "bigint" ? f.value : new Uint8Array(f.value),
        ]);
        expect(read).toEqual(fields);
      }),
    );
  });

  test("a negative integer is written as 64-bit two's complement", () => {
    expect(readMessage(writeMessage([[3, -1]]))).toEqual([{ number: 3, value: 2n ** 64n - 1n }]);
  });

  test("a truncated message throws", () => {
    const whole = writeMessage([[1, "twelve bytes"]]);
    expect(() => readMessage(whole.subarray(0, whole.length - 1))).toThrow("truncated");
  });

  test("an unknown wire type throws", () => {
    expect(() => readMessage(Uint8Array.of((1 << 3) | 7))).toThrow("wire type");
  });
});

describe("models", () => {
  test("nodes, constants, inputs and outputs survive writing and reading", () => {
    const data = new Uint8Array(Float32Array.of(1, 2, 3).buffer);
    const file = writeModel({
      name: "sum",
      operations: [{ op: "Add", inputs: ["x", "three"], outputs: ["y"], attributes: {}, domain: "" }],
      tensors: [{ name: "three", type: ELEMENT.float, dims: [3], data }],
      inputs: [{ name: "x", type: ELEMENT.float, dims: ["n", 3] }],
      outputs: [{ name: "y", type: ELEMENT.float, dims: ["n", 3] }],
    });
    const graph = readModel(file);
    expect(graph.inputs).toEqual(["x"]);
    expect(graph.outputs).toEqual(["y"]);
    expect(graph.nodes.map((n) => [n.op, n.inputs, n.outputs])).toEqual([["Add", ["x", "three"], ["y"]]]);
    const three = graph.tensors.get("three")!;
    expect(three.dims).toEqual([3]);
    expect(new Uint8Array(three.data)).toEqual(data);
  });

  test.each([
    ["packed bytes", ELEMENT.uint8, [[5, Uint8Array.of(0x81, 0x01, 0x05)]], [129, 5]],
    ["unpacked bytes", ELEMENT.uint8, [[5, 129], [5, 5]], [129, 5]], // biome-ignore format: a table
    ["negative bytes", ELEMENT.int8, [[5, -3]], [253]],
    ["a float", ELEMENT.float, [[4, new Uint8Array(Float32Array.of(1.5).buffer)]], [0, 0, 192, 63]],
    ["64-bit integers", ELEMENT.int64, [[7, -2]], [254, 255, 255, 255, 255, 255, 255, 255]],
  ] as [string, number, [number, number | Uint8Array][], number[]][])(
    "a constant in a typed field is read as raw bytes: %s",
    (_, type, fields, bytes) => {
      const tensor = writeMessage([[2, type], [8, "c"], ...fields]); // biome-ignore format: one message
      const graph = readModel(writeMessage([[7, [[5, tensor]]]]));
      expect([...graph.tensors.get("c")!.data]).toEqual(bytes);
    },
  );

  test("a file without a graph throws", () => {
    expect(() => readModel(writeMessage([[1, 8]]))).toThrow("no ONNX graph");
  });
});
