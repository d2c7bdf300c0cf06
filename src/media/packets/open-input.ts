/** Opens a file for the packet reader. */
import { ALL_FORMATS, FilePathSource, Input } from "mediabunny";

const MAX_REPEATED_READS = 10_000;

/** The reader's way to its source: the library does not publish it. */
type ReadableSource = { _read(start: number, end: number, ...limits: unknown[]): unknown };

/**
 * Opens a file; `dispose` closes it. Where the reader asks for the same bytes again and again, as it does for ever behind damage in a Matroska
 * file, reading throws a plain `Error`: such a loop leaves no other code a turn, so that no timer could end it.
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
