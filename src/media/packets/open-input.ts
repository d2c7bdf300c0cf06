/** Opens files for the packet reader, mediabunny. */
import { type FileHandle, open } from "node:fs/promises";
import { ALL_FORMATS, CustomSource, FilePathSource, Input } from "mediabunny";
import { findIncompleteFile, requireBytes } from "./incomplete-files";

const MAX_REPEATED_READS = 10_000;

type FoundBytes = { bytes: Uint8Array; offset: number } | null;

/** An internal method, which the library does not export. */
type ReadableSource = { _read(start: number, end: number, ...limits: unknown[]): FoundBytes | Promise<FoundBytes> };

/**
 * Opens a file; `dispose` closes it. After damage in a Matroska file, the reader requests the same bytes forever.
 * Reading then throws a plain `Error`, because such a loop blocks the event loop, and no timer could end it.
 */
export const openInput = (path: string): Input => openLocatedInput(path).input;

/**
 * Opens a file like `openInput`. `locate` returns the position in the file of data that the reader has returned; null
 * for data that is not there as such, for example because it was decompressed.
 */
export function openLocatedInput(path: string): { input: Input; locate(data: Uint8Array): number | null } {
  const source = findIncompleteFile(path) === null ? new FilePathSource(path) : createIncompleteSource(path);
  const reader = source as unknown as ReadableSource;
  const read = reader._read.bind(source);
  /**
   * The position in the file of the first byte of each buffer that was read. The reader returns views of these buffers.
   */
  const positions = new WeakMap<ArrayBufferLike, number>();
  const remember = (found: FoundBytes): FoundBytes => {
    if (found !== null) positions.set(found.bytes.buffer, found.offset - found.bytes.byteOffset);
    return found;
  };
  let last = { start: -1, end: -1 };
  let repeated = 0;
  reader._read = (start, end, ...limits) => {
    repeated = start === last.start && end === last.end ? repeated + 1 : 0;
    if (repeated > MAX_REPEATED_READS) throw new Error("The packet reader does not advance.");
    last = { start, end };
    const found = read(start, end, ...limits);
    return found instanceof Promise ? found.then(remember) : remember(found);
  };
  return {
    input: new Input({ source, formats: ALL_FORMATS }),
    locate: (data) => {
      const position = positions.get(data.buffer);
      return position === undefined ? null : position + data.byteOffset;
    },
  };
}

/** Reads a file whose missing parts are fetched when they are read. */
function createIncompleteSource(path: string): CustomSource {
  let file: Promise<FileHandle> | null = null;
  let isDisposed = false;
  return new CustomSource({
    getSize: () => findIncompleteFile(path)!.bytes,
    read: async (start, end) => {
      await requireBytes(path, start, end);
      // Otherwise the file would never be closed.
      if (isDisposed) throw new Error("The reader was closed.");
      file ??= open(path, "r");
      const buffer = new Uint8Array(end - start);
      await (await file).read(buffer, 0, end - start, start);
      return buffer;
    },
    dispose: () => {
      isDisposed = true;
      void file?.then((opened) => opened.close()).catch(() => {});
    },
    prefetchProfile: "fileSystem",
    // Bytes that failed to be read ahead are read again when needed.
    handleUnhandledError: () => {},
  });
}
