/**
 * Reads archives as streams, and writes nothing: bzip2, which publishers of models use and for which the machine may
 * not have the program, and tar, plain or with GNU long names or pax headers.
 */
import { Readable } from "node:stream";
import { extract, type Header } from "tar-stream";
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
    failure ??= describeBzip2Failure(error);
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
function describeBzip2Failure(error: Error): Error {
  if (/expands/.test(error.message)) return error;
  if (/magic number|BZIP archive/.test(error.message)) return new Error("not a bzip2 archive", { cause: error });
  return new Error("the bzip2 data is damaged or incomplete", { cause: error });
}

/** An entry of an archive. `path` is unverified and must not be trusted. */
export type TarEntry = { path: string; kind: "file" | "link" | "other"; sizeBytes: number };

/** Receives the bytes of an entry in order. The next chunk is read after it resolves. */
export type TarSink = (bytes: Uint8Array) => Promise<void>;

const MAX_ENTRIES = 100_000;

/** Archives older than ustar have no magic number. Header checksums are always verified. The types lack this option. */
const EXTRACT_OPTIONS: object = { allowUnknownFormat: true };

/**
 * Reads an archive to its end. `onEntry` returns a sink for the entry's bytes, or null to skip it. Throws if the data
 * is not a tar archive, is damaged or ends too early.
 */
export async function readTar(
  chunks: AsyncIterable<Uint8Array>,
  onEntry: (entry: TarEntry) => Promise<TarSink | null> | TarSink | null,
): Promise<void> {
  const extractor = extract(EXTRACT_OPTIONS);
  const source = Readable.from(chunks, { objectMode: false });
  // `pipe` does not forward errors.
  source.on("error", (error) => extractor.destroy(error));
  source.pipe(extractor);
  let entries = 0;
  try {
    for await (const stream of extractor) {
      if (++entries > MAX_ENTRIES) throw new Error("the archive has too many entries");
      const sink = await onEntry(toEntry(stream.header));
      if (sink === null) stream.resume();
      else for await (const bytes of stream) await sink(bytes as Uint8Array);
    }
  } catch (error) {
    throw describeTarFailure(error as Error);
  } finally {
    source.destroy();
    extractor.destroy();
  }
  if (entries === 0) throw new Error("the archive is empty");
}

function toEntry({ name, type, size }: Header): TarEntry {
  if (!Number.isSafeInteger(size)) throw new Error("a tar header is damaged");
  return { path: name, kind: toKind(type), sizeBytes: size };
}

function toKind(type: Header["type"]): TarEntry["kind"] {
  if (type === "file" || type === "contiguous-file") return "file";
  return type === "link" || type === "symlink" ? "link" : "other";
}

function describeTarFailure(error: Error): Error {
  if (/^Unexpected end/.test(error.message)) return new Error("the archive is incomplete", { cause: error });
  if (/^Invalid (tar )?header|^Header exceeds/.test(error.message)) {
    return new Error("not a tar archive, or damaged", { cause: error });
  }
  return error;
}
