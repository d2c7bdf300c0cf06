/**
 * Files with parts that are still on another machine. Readers request the bytes that they are about to read. Programs
 * such as ffmpeg cannot do that, so all bytes are requested before they start.
 */

/** `bytes` is the size of the whole file, which already has it. `modifiedAt` is in whole seconds since 1970. */
export type IncompleteFile = { bytes: number; modifiedAt: number; partBytes: number };

/** Resolves when the parts from `first` to `last` are in the file. */
type FetchParts = (first: number, last: number) => Promise<void>;

type Registered = IncompleteFile & {
  fetch: FetchParts;
  /** Parts that are in the file, or are being fetched. */
  parts: Map<number, Promise<void>>;
};

const files = new Map<string, Registered>();

/** Stands for the end of a file. */
export const ALL_BYTES = Number.POSITIVE_INFINITY;
/** Number of additional parts that are fetched for a sequential reader. */
const READ_AHEAD_PARTS = 3;

/** Makes `requireBytes` fetch the missing parts of the file at `path`. */
export function registerIncompleteFile(path: string, file: IncompleteFile, fetch: FetchParts): void {
  files.set(path, { ...file, fetch, parts: new Map() });
}

/** Returns the description of a registered file, or null. */
export const findIncompleteFile = (path: string): IncompleteFile | null => files.get(path) ?? null;

/** Resolves when bytes `from` to `to` are in the file. Does nothing for complete files. Errors: those of fetching. */
export async function requireBytes(path: string, from: number, to: number): Promise<void> {
  const file = files.get(path);
  if (file === undefined) return;
  const count = Math.ceil(file.bytes / file.partBytes);
  const first = Math.floor(from / file.partBytes);
  const last = Math.min(count, Math.ceil(to / file.partBytes)) - 1;
  const isSequential = !file.parts.has(first) && file.parts.has(first - 1);
  fetchMissing(file, first, isSequential ? Math.min(count - 1, last + READ_AHEAD_PARTS) : last);
  for (let part = first; part <= last; part++) await file.parts.get(part);
}

/** Starts to fetch the missing parts, in runs. A failed part is fetched again when it is next required. */
function fetchMissing({ parts, fetch }: Registered, first: number, last: number): void {
  for (let from = first; from <= last; from++) {
    if (parts.has(from)) continue;
    let to = from;
    while (to < last && !parts.has(to + 1)) to++;
    const fetched = fetch(from, to);
    for (let part = from; part <= to; part++) parts.set(part, fetched);
    const [start, end] = [from, to];
    fetched.catch(() => {
      for (let part = start; part <= end; part++) parts.delete(part);
    });
    from = to;
  }
}
