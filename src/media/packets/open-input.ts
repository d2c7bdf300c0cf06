/** Opens files for the packet reader, mediabunny. */
import { ALL_FORMATS, FilePathSource, Input } from "mediabunny";

const MAX_REPEATED_READS = 10_000;

/** An internal method, which the library does not export. */
type ReadableSource = { _read(start: number, end: number, ...limits: unknown[]): unknown };

/**
 * Opens a file; `dispose` closes it. Behind damage in a Matroska file the reader requests the same bytes forever. Reading then throws a
 * plain `Error`, because such a loop blocks the event loop, and no timer could end it.
 */
export function openInput(path: string): Input {
  const source = new FilePathSource(path);
  const reader = source as unknown as ReadableSource;
  const read = reader._read.bind(source);
  let last = { start: -1, end: -1 };
  let repeated = 0;
  reader._read = (start, end, ...limits) => {
    repeated = start === last.start && end === last.end ? repeated + 1 : 0;
    if (repeated > MAX_REPEATED_READS) throw new Error("The packet reader does not advance.");
    last = { start, end };
    return read(start, end, ...limits);
  };
  return new Input({ source, formats: ALL_FORMATS });
}
