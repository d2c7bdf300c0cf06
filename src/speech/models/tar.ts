/** Reads tar archives as a stream: plain ones, and ones with GNU long names or pax headers. Writes nothing. */
import { Readable } from "node:stream";
import { extract, type Header } from "tar-stream";

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
    throw describeFailure(error as Error);
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

function describeFailure(error: Error): Error {
  if (/^Unexpected end/.test(error.message)) return new Error("the archive is incomplete", { cause: error });
  if (/^Invalid (tar )?header|^Header exceeds/.test(error.message)) {
    return new Error("not a tar archive, or damaged", { cause: error });
  }
  return error;
}
