/** Decompresses bzip2 as a stream. Publishers of models use it, and the machine may not have the program. */
import unbzip2 from "unbzip2-stream";

/** Number of input bytes passed to the decoder at a time. */
const INPUT_SLICE_BYTES = 1 << 16;
/** A few bytes can expand to gigabytes of one repeated value. The files of models stay far below this limit. */
const MAX_OUTPUT_PER_SLICE_BYTES = 64 * 1024 ** 2;

/** Yields the decompressed bytes. Throws if the data is not bzip2, is damaged (blocks have checksums) or truncated. */
export async function* decompressBzip2(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = unbzip2();
  let blocks: Uint8Array[] = [];
  let outputBytes = 0;
  let failure: Error | null = null;
  decoder.on("data", (block: Uint8Array) => {
    outputBytes += block.length;
    // Throwing here stops the decoder, which would otherwise decode all of its input.
    if (outputBytes > MAX_OUTPUT_PER_SLICE_BYTES) throw new Error("the bzip2 data expands too much");
    blocks.push(block);
  });
  decoder.on("error", (error: Error) => {
    failure ??= describeFailure(error);
  });
  const takeBlocks = (): Uint8Array[] => {
    if (failure !== null) throw failure;
    const taken = blocks;
    [blocks, outputBytes] = [[], 0];
    return taken;
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += INPUT_SLICE_BYTES) {
      // A copy, because the decoder keeps bytes that it cannot decode yet.
      decoder.write(Buffer.from(chunk.subarray(at, at + INPUT_SLICE_BYTES)));
      yield* takeBlocks();
      // Decoding a block takes a tenth of a second, during which no signal is handled.
      await Bun.sleep(0);
    }
  }
  decoder.end();
  yield* takeBlocks();
}

/** Returns the error to report: the decoder's messages are unhelpful, and truncated input causes a `TypeError`. */
function describeFailure(error: Error): Error {
  if (/expands/.test(error.message)) return error;
  if (/magic number|BZIP archive/.test(error.message)) return new Error("not a bzip2 archive", { cause: error });
  return new Error("the bzip2 data is damaged or incomplete", { cause: error });
}
