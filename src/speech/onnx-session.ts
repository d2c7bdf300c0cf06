/** The only module that uses ONNX Runtime. The library is loaded with the first graph, not with this module. */
import type { Tensor } from "onnxruntime-node";

export type TensorValues = Float32Array | Int32Array | BigInt64Array;
export type TensorData = { values: TensorValues; dims: readonly number[] };
export type GraphInputs = Record<string, TensorData>;

export type Graph = Awaited<ReturnType<typeof loadGraph>>;

/** Loads a graph from a file. It runs in the thread that calls it: its steps are too small for several threads. */
export async function loadGraph(path: string) {
  const runtime = await import("onnxruntime-node");
  const session = await runtime.InferenceSession.create(path, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    logSeverityLevel: 3,
  });
  const tensorOf = ({ values, dims }: TensorData): Tensor => {
    if (values instanceof Float32Array) return new runtime.Tensor("float32", values, dims);
    if (values instanceof Int32Array) return new runtime.Tensor("int32", values, dims);
    return new runtime.Tensor("int64", values, dims);
  };
  return {
    /** Returns all outputs by name. Those in `into` are written to its tensors, which must have their sizes. */
    async run(feeds: GraphInputs, into: GraphInputs = {}): Promise<Record<string, TensorData>> {
      const outputs = await session.run(
        Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, tensorOf(feed)])),
        Object.fromEntries(session.outputNames.map((name) => [name, into[name] ? tensorOf(into[name]) : null])),
      );
      const out: Record<string, TensorData> = {};
      for (const [name, tensor] of Object.entries(outputs))
        out[name] = { values: tensor.data as TensorValues, dims: tensor.dims };
      return out;
    },
    release: () => session.release(),
  };
}

/** Returns the values of a float output. Throws if it has another type. */
export function getFloats(outputs: Record<string, TensorData>, name: string): Float32Array {
  const values = outputs[name]?.values;
  if (!(values instanceof Float32Array)) throw new Error(`the graph has no float output ${name}`);
  return values;
}

/** Returns the values of an output of 64-bit integers, as numbers. Throws if it has another type. */
export function getIntegers(outputs: Record<string, TensorData>, name: string): number[] {
  const values = outputs[name]?.values;
  if (!(values instanceof BigInt64Array)) throw new Error(`the graph has no integer output ${name}`);
  return Array.from(values, Number);
}

export const toIntegerTensor = (values: number[], dims: readonly number[]): TensorData => ({
  values: BigInt64Array.from(values.map(BigInt)),
  dims,
});

export const toFloatTensor = (values: Float32Array, dims: readonly number[]): TensorData => ({ values, dims });
