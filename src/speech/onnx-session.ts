/** The only module that uses ONNX Runtime. The library is loaded with the first graph, not with this module. */
import { open } from "node:fs/promises";
import type { Tensor } from "onnxruntime-node";

export type TensorValues = Float32Array | Int32Array | BigInt64Array;
export type TensorData = { values: TensorValues; dims: readonly number[] };
export type GraphInputs = Record<string, TensorData>;

export type Graph = Awaited<ReturnType<typeof loadGraph>>;

/** Whether this processor sums products of uint8 and int8 exactly; read with the first graph. */
let exactProducts: Promise<boolean> | undefined;

/** Returns the first processor of `/proc/cpuinfo`; empty if it cannot be read. */
async function readProcessor(): Promise<string> {
  try {
    await using file = await open("/proc/cpuinfo");
    // The kernel asks each processor for its frequency: only the first is read.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8192), 0, 8192, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } catch {
    return "";
  }
}

/**
 * Returns whether a processor has the dot products of uint8 and int8 (VNNI) that ONNX Runtime uses: they are exact and
 * take half of the time. Without them, it sums pairs of products in 16 bits, which overflow. On a processor that has
 * AVX-512, it does not use the VNNI of AVX.
 */
export function hasExactProducts(cpuinfo: string): boolean {
  const flags = new Set(/^flags\s*: (.*)$/m.exec(cpuinfo)?.[1]?.split(" "));
  return flags.has("avx512_vnni") || (flags.has("avx_vnni") && !flags.has("avx512bw"));
}

/** Loads a graph from a file. It runs in the thread that calls it: its steps are too small for several threads. */
export async function loadGraph(path: string) {
  const runtime = await import("onnxruntime-node");
  exactProducts ??= readProcessor().then(hasExactProducts);
  const session = await runtime.InferenceSession.create(path, {
    // Converts the int8 weights to uint8, whose products ONNX Runtime sums in 32 bits on all processors.
    extra: { session: { x64quantprecision: (await exactProducts) ? "0" : "1" } },
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
