import type { SampleProcessor } from "../../../../src/media/audio/sink";

/** Returns a processor's output for samples in parts of these sizes. The last size is used until the end. */
export function processSamples(
  processor: SampleProcessor,
  samples: Float32Array,
  sizes: number | number[],
): Float32Array {
  const each = [sizes].flat();
  const parts: Float32Array[] = [];
  for (let at = 0, n = 0; at < samples.length; n++) {
    const size = each[Math.min(n, each.length - 1)]!;
    parts.push(processor.take(samples.subarray(at, at + size)));
    at += size;
  }
  parts.push(processor.finish());
  const output = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    output.set(part, at);
    at += part.length;
  }
  return output;
}
