/** Reads tar archives as a stream: plain, with GNU's long names and with pax headers. Nothing is written here. */

export type TarEntry = { path: string; kind: "file" | "link" | "other"; sizeBytes: number };

/** Takes the bytes of an entry, piece by piece; a piece is only good until it resolves. */
export type TarSink = (bytes: Uint8Array) => Promise<void>;

const BLOCK = 512;
/** Long names and pax headers are held in memory. */
const LONGEST_HEADER = 1 << 20;
const MOST_ENTRIES = 100_000;

/**
 * Goes through an archive. `onEntry` says for each entry where its bytes go, or null to pass over them. Throws on what is no tar, is
 * damaged or cut off.
 */
export async function readTar(
  pieces: AsyncIterable<Uint8Array>,
  onEntry: (entry: TarEntry) => Promise<TarSink | null> | TarSink | null,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    await readEntries(pieceReader(iterator), onEntry);
  } finally {
    await iterator.return?.();
  }
}

async function readEntries(
  reader: ReturnType<typeof pieceReader>,
  onEntry: (entry: TarEntry) => Promise<TarSink | null> | TarSink | null,
): Promise<void> {
  let longPath: string | null = null;
  let extended: { path?: string; size?: number } = {};
  for (let entries = 0; ; entries++) {
    if (entries > MOST_ENTRIES) throw new Error("it holds too many files");
    const header = await reader.block();
    if (header === null || header.every((byte) => byte === 0)) {
      if (header === null && entries === 0) throw new Error("it is no tar archive");
      return;
    }
    const { path, type, sizeBytes: headerSize } = parseHeader(header);
    const isExtension = type === "L" || type === "K" || type === "x" || type === "g";
    const sizeBytes = isExtension ? headerSize : (extended.size ?? headerSize);
    if (isExtension) {
      if (sizeBytes > LONGEST_HEADER) throw new Error("it is damaged");
      const content = new Uint8Array(sizeBytes);
      let filled = 0;
      await reader.body(sizeBytes, async (bytes) => {
        content.set(bytes, filled);
        filled += bytes.length;
      });
      if (type === "L") longPath = untilZero(content);
      if (type === "x") extended = parseExtended(content);
      continue;
    }
    const entry: TarEntry = { path: extended.path ?? longPath ?? path, kind: kindOf(type), sizeBytes };
    longPath = null;
    extended = {};
    await reader.body(sizeBytes, await onEntry(entry));
  }
}

function kindOf(type: string): TarEntry["kind"] {
  if (type === "0" || type === "\0" || type === "7") return "file";
  return type === "1" || type === "2" ? "link" : "other";
}

/** Blocks and bodies out of pieces of any size. */
function pieceReader(iterator: AsyncIterator<Uint8Array>) {
  let piece: Uint8Array = new Uint8Array(0);
  /** At most `wanted` bytes; null at the end. */
  const next = async (wanted: number): Promise<Uint8Array | null> => {
    while (piece.length === 0) {
      const result = await iterator.next();
      if (result.done) return null;
      piece = result.value;
    }
    const taken = piece.subarray(0, wanted);
    piece = piece.subarray(taken.length);
    return taken;
  };
  return {
    async block(): Promise<Uint8Array | null> {
      const block = new Uint8Array(BLOCK);
      let filled = 0;
      while (filled < BLOCK) {
        const bytes = await next(BLOCK - filled);
        if (bytes === null && filled === 0) return null;
        if (bytes === null) throw new Error("it is cut off");
        block.set(bytes, filled);
        filled += bytes.length;
      }
      return block;
    },
    /** The body and what fills its last block. */
    async body(sizeBytes: number, sink: TarSink | null): Promise<void> {
      const padded = Math.ceil(sizeBytes / BLOCK) * BLOCK;
      for (let at = 0; at < padded; ) {
        const bytes = await next(at < sizeBytes ? sizeBytes - at : padded - at);
        if (bytes === null) throw new Error("it is cut off");
        if (at < sizeBytes) await sink?.(bytes);
        at += bytes.length;
      }
    },
  };
}

function parseHeader(header: Uint8Array): { path: string; type: string; sizeBytes: number } {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : header[i]!;
  if (sum !== numberIn(header.subarray(148, 156))) throw new Error("it is no tar archive, or damaged");
  const name = untilZero(header.subarray(0, 100));
  const isUstar = untilZero(header.subarray(257, 262)) === "ustar" && header[262] === 0;
  const prefix = isUstar ? untilZero(header.subarray(345, 500)) : "";
  const sizeBytes = numberIn(header.subarray(124, 136));
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new Error("it is damaged");
  return { path: prefix === "" ? name : `${prefix}/${name}`, type: String.fromCharCode(header[156]!), sizeBytes };
}

/** Octal digits or, for the sizes that these cannot write, a binary number. */
function numberIn(field: Uint8Array): number {
  if ((field[0]! & 0x80) === 0) return Number.parseInt(untilZero(field).trim() || "0", 8);
  return field.subarray(1).reduce((value, byte) => value * 256 + byte, field[0]! & 0x7f);
}

/** Lines of `length key=value`, the length counting the whole line. */
function parseExtended(content: Uint8Array): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(text(content.subarray(at, space)));
    if (space < 0 || !Number.isSafeInteger(length) || length < 5 || at + length > content.length)
      throw new Error("it is damaged");
    const line = text(content.subarray(space + 1, at + length - 1));
    const equals = line.indexOf("=");
    if (line.slice(0, equals) === "path") found.path = line.slice(equals + 1);
    if (line.slice(0, equals) === "size") found.size = Number(line.slice(equals + 1));
    at += length;
  }
  if (found.size !== undefined && (!Number.isSafeInteger(found.size) || found.size < 0))
    throw new Error("it is damaged");
  return found;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function untilZero(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return text(end < 0 ? bytes : bytes.subarray(0, end));
}
