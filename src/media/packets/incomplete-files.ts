/**
 * Files of which some parts are still on another machine. Readers ask for the bytes that they are about to read; programs such as ffmpeg cannot, so
 * that all bytes are asked for before they start.
 */

/** `bytes` of the whole file, which already has this size. `modifiedAt` in whole seconds since 1970. */
export type IncompleteFile = { bytes: number; modifiedAt: number; partBytes: number };

/** Resolves when the parts from `first` to `last` are in the file. */
type FetchParts = (first: number, last: number) => Promise<void>;

type Registered = IncompleteFile & {
  fetch: FetchParts;
  /** Parts that are in the file, or on their way. */
  parts: Map<number, Promise<void>>;
};

const files = new Map<string, Registered>();

/** The end of a file. */
export const ALL_BYTES = Number.POSITIVE_INFINITY;
/** For a reader that reads one part after the other, this many more are fetched with it. */
const READ_AHEAD_PARTS = 3;

/** Makes `requireBytes` fetch what is missing of the file at `path`. */
export function registerIncompleteFile(path: string, file: IncompleteFile, fetch: FetchParts): void {
  files.set(path, { ...file, fetch, parts: new Map() });
}

/** Returns what is known of a file that was registered, or null. */
export const findIncompleteFile = (path: string): IncompleteFile | null => files.get(path) ?? null;

/** Resolves when the bytes from `from` up to `to` are in the file. Does nothing for other files. Errors: those of fetching. */
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

/** Starts to fetch the parts that are missing, in runs. What fails is fetched again when it is required again. */
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
