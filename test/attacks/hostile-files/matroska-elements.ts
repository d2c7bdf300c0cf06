/** Matroska as a tree of EBML elements, whose sizes follow from their contents. Pure. */
import { type Bytes, concat, overwrite, readBE, uintBE } from "./bytes";
import type { Structure } from "./cases";

export type Element = { id: number; body: Bytes; children: Element[] | null };

export const ID = {
  header: 0x1a45dfa3,
  segment: 0x18538067,
  seekHead: 0x114d9b74,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  previousFile: 0x3c83ab,
  nextFile: 0x3e83bb,
  nextUid: 0x3eb923,
  segmentFile: 0x7384,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  codecDelay: 0x56aa,
  defaultDuration: 0x23e383,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  audio: 0xe1,
  samplingRate: 0xb5,
  channels: 0x9f,
  encodings: 0x6d80,
  encoding: 0x6240,
  compression: 0x5034,
  compressionAlgorithm: 0x4254,
  compressionSettings: 0x4255,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  cues: 0x1c53bb6b,
  chapters: 0x1043a770,
  chapterEdition: 0x45b9,
  chapterAtom: 0xb6,
  attachments: 0x1941a469,
  attachedFile: 0x61a7,
  fileName: 0x466e,
  fileType: 0x4660,
  fileData: 0x465c,
  tags: 0x1254c367,
  tag: 0x7373,
  simpleTag: 0x67c8,
  tagName: 0x45a3,
  tagString: 0x4487,
  void: 0xec,
} as const;

const MASTERS: ReadonlySet<number> = new Set([
  ...[ID.header, ID.segment, ID.seekHead, ID.info, ID.tracks, ID.track, ID.video, ID.audio, ID.cluster],
  ...[ID.blockGroup, ID.cues, ID.tags, ID.tag, ID.simpleTag],
]);

/** Bytes that a variable-length number takes, by its first one. */
const widthOf = (first: number): number => Math.clz32(first & 255) - 23;

export const idBytes = (id: number): Bytes => uintBE(id, Math.ceil(id.toString(16).length / 2));

/** A size of eight bytes; `unknown` is all ones. */
export const sizeBytes = (size: number | bigint | "unknown"): Bytes =>
  overwrite(uintBE(size === "unknown" ? 2n ** 56n - 1n : size, 8), 0, Uint8Array.of(1));

/** An element with the right size. */
export const element = (id: number, ...parts: readonly Bytes[]): Bytes => {
  const body = concat(...parts);
  return concat(idBytes(id), sizeBytes(body.length), body);
};

type Head = { id: number; bodyAt: number; end: number };

function headAt(file: Bytes, at: number, to: number): Head | null {
  const idWidth = widthOf(file[at]!);
  const sizeAt = at + idWidth;
  if (idWidth > 4 || sizeAt >= to) return null;
  const width = widthOf(file[sizeAt]!);
  if (width > 8 || sizeAt + width > to) return null;
  const size = (file[sizeAt]! & (2 ** (8 - width) - 1)) * 256 ** (width - 1) + readBE(file, sizeAt + 1, width - 1);
  const bodyAt = sizeAt + width;
  return { id: readBE(file, at, idWidth), bodyAt, end: Math.min(to, bodyAt + size) };
}

export function parseElements(file: Bytes, from = 0, to = file.length): Element[] {
  const found: Element[] = [];
  for (let at = from; at < to; ) {
    const head = headAt(file, at, to);
    if (head === null) break;
    const { id, bodyAt, end } = head;
    const children = MASTERS.has(id) ? parseElements(file, bodyAt, end) : null;
    found.push({ id, body: file.slice(bodyAt, end), children });
    at = end;
  }
  return found;
}

export const formatElement = ({ id, body, children }: Element): Bytes =>
  children === null ? element(id, body) : element(id, ...children.map(formatElement));

/** The file with one element replaced by bytes: `path` lists IDs from the top, the first of each. */
export function changeElement(file: Bytes, path: readonly number[], change: (found: Element) => Bytes): Bytes {
  let isChanged = false;
  const inside = (elements: Element[], [id, ...rest]: readonly number[]): Bytes =>
    concat(
      ...elements.map((found) => {
        if (isChanged || found.id !== id) return formatElement(found);
        if (rest.length > 0) return element(id, inside(found.children ?? [], rest));
        isChanged = true;
        return change(found);
      }),
    );
  const changed = inside(parseElements(file), path);
  if (!isChanged) throw new Error(`The base file has no element ${path.map((id) => id.toString(16)).join("/")}.`);
  return changed;
}

/** The file with the body of an element replaced. */
export const writeBody = (file: Bytes, path: readonly number[], body: Bytes): Bytes =>
  changeElement(file, path, (found) => element(found.id, body));

/** The file with bytes put at the beginning of an element. */
export const prepend = (file: Bytes, path: readonly number[], ...parts: readonly Bytes[]): Bytes =>
  changeElement(file, path, (found) => element(found.id, ...parts, ...(found.children ?? []).map(formatElement)));

/** Every element, named by its id. */
export function walkMatroska(file: Bytes): Structure[] {
  const found: Structure[] = [];
  const inside = (from: number, to: number) => {
    for (let at = from; at < to; ) {
      const head = headAt(file, at, to);
      if (head === null) return;
      found.push({ name: head.id.toString(16), start: at, headerEnd: head.bodyAt, end: head.end });
      if (MASTERS.has(head.id)) inside(head.bodyAt, head.end);
      at = head.end;
    }
  };
  inside(0, file.length);
  return found;
}
