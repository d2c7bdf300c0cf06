/** MP4 and QuickTime as a tree of boxes, whose sizes follow from their contents. Pure. */
import { type Bytes, concat, latin, overwrite, readBE, uintBE } from "./bytes";
import type { Structure } from "./cases";

/** `fields` are the bytes of a container before the boxes inside it; a box without `children` is all `fields`. */
export type Box = { type: string; fields: Bytes; children: Box[] | null };

/** Bytes of a container's own fields. */
const CONTAINERS: Record<string, number> = {
  moov: 0,
  trak: 0,
  mdia: 0,
  minf: 0,
  stbl: 0,
  edts: 0,
  dinf: 0,
  udta: 0,
  ilst: 0,
  mvex: 0,
  moof: 0,
  traf: 0,
  meta: 4,
  stsd: 8,
  dref: 8,
  avc1: 78,
  mp4a: 28,
};

export function parseBoxes(bytes: Bytes): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = Math.max(8, readBE(bytes, at, 4));
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const body = bytes.slice(at + 8, at + size);
    const own = CONTAINERS[type];
    boxes.push(
      own === undefined
        ? { type, fields: body, children: null }
        : { type, fields: body.slice(0, own), children: parseBoxes(body.subarray(own)) },
    );
    at += size;
  }
  return boxes;
}

export const formatBox = ({ type, fields, children }: Box): Bytes =>
  box(type, fields, ...(children ?? []).map(formatBox));

/** A box with the right size. */
export const box = (type: string, ...parts: readonly Bytes[]): Bytes => {
  const body = concat(...parts);
  return concat(uintBE(body.length + 8, 4), latin(type), body);
};

/** The file with one box replaced: `path` is `moov/trak/mdia`, from the top, the first of each name. */
export function changeBox(file: Bytes, path: string, change: (found: Box) => Box[]): Bytes {
  let isChanged = false;
  const inside = (boxes: Box[], [name, ...rest]: string[]): Box[] =>
    boxes.flatMap((found) => {
      if (isChanged || found.type !== name) return [found];
      if (rest.length > 0) return [{ ...found, children: inside(found.children ?? [], rest) }];
      isChanged = true;
      return change(found);
    });
  const changed = inside(parseBoxes(file), path.split("/"));
  if (!isChanged) throw new Error(`The base file has no box ${path}.`);
  return concat(...changed.map(formatBox));
}

/** The file with bytes written into a box's own fields. */
export const writeField = (file: Bytes, path: string, at: number, patch: Bytes): Bytes =>
  changeBox(file, path, (found) => [{ ...found, fields: overwrite(found.fields, at, patch) }]);

/** The file with all fields of a box replaced. */
export const writeFields = (file: Bytes, path: string, fields: Bytes): Bytes =>
  changeBox(file, path, (found) => [{ ...found, fields }]);

/** The file with boxes added at the end of a container. */
export const addBoxes = (file: Bytes, path: string, ...added: readonly Bytes[]): Bytes =>
  changeBox(file, path, (found) => [{ ...found, children: [...(found.children ?? []), ...added.flatMap(parseRaw)] }]);

/** Boxes as they are, whatever is inside. */
const parseRaw = (bytes: Bytes): Box[] => [
  { type: String.fromCharCode(...bytes.subarray(4, 8)), fields: bytes.slice(8), children: null },
];

/** The place of a box's header in the file. */
export function boxAt(file: Bytes, path: string): number {
  const found = walkMp4(file).find((structure) => structure.name === path);
  if (!found) throw new Error(`The base file has no box ${path}.`);
  return found.start;
}

/** Every box with its path. */
export function walkMp4(file: Bytes): Structure[] {
  const found: Structure[] = [];
  const inside = (from: number, to: number, path: string) => {
    for (let at = from; at + 8 <= to; ) {
      const size = Math.max(8, readBE(file, at, 4));
      const type = String.fromCharCode(...file.subarray(at + 4, at + 8));
      const end = Math.min(to, at + size);
      found.push({ name: path + type, start: at, headerEnd: at + 8, end });
      const own = CONTAINERS[type];
      if (own !== undefined) inside(at + 8 + own, end, `${path}${type}/`);
      at += size;
    }
  };
  inside(0, file.length, "");
  return found;
}
