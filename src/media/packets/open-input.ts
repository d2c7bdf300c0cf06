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
  const inner = source as unknown as ReadableSource;
  const read = inner._read.bind(source);
  let last = { start: -1, end: -1 };
  let same = 0;
  inner._read = (start, end, ...limits) => {
    same = start === last.start && end === last.end ? same + 1 : 0;
    if (same > MAX_REPEATED_READS) throw new Error("the packet reader does not advance");
    last = { start, end };
    return read(start, end, ...limits);
  };
  return new Input({ source, formats: ALL_FORMATS });
}
