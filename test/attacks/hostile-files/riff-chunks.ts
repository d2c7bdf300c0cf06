/** RIFF, in which WAV and AVI are written: chunks and lists of them. Pure. */
import { type Bytes, concat, latin, overwrite, readLE, splice, uintLE, zeros } from "./bytes";
import type { Structure } from "./cases";

/** A chunk with the right size, padded to whole words. */
export const chunk = (type: string, body: Bytes, claimed = body.length): Bytes =>
  concat(latin(type), uintLE(claimed, 4), body, zeros(body.length % 2));

export const list = (type: string, ...parts: readonly Bytes[]): Bytes => chunk("LIST", concat(latin(type), ...parts));

/** Every chunk with its path; lists are named by their own type. */
export function walkRiff(file: Bytes): Structure[] {
  const found: Structure[] = [];
  const inside = (from: number, to: number, path: string) => {
    for (let at = from; at + 8 <= to; ) {
      const size = readLE(file, at + 4, 4);
      const type = String.fromCharCode(...file.subarray(at, at + 4));
      const isList = type === "RIFF" || type === "LIST";
      const name = path + (isList ? String.fromCharCode(...file.subarray(at + 8, at + 12)) : type);
      const end = Math.min(to, at + 8 + size);
      found.push({ name, start: at, headerEnd: Math.min(to, at + (isList ? 12 : 8)), end });
      if (isList) inside(at + 12, end, `${name}/`);
      at += 8 + size + (size % 2);
    }
  };
  inside(0, file.length, "");
  return found;
}

/** A chunk by its path; the first of this name. */
export function chunkAt(file: Bytes, path: string): Structure {
  const found = walkRiff(file).find((structure) => structure.name === path);
  if (!found) throw new Error(`The base file has no chunk ${path}.`);
  return found;
}

/** The file with bytes written into a chunk's body. */
export const writeChunk = (file: Bytes, path: string, at: number, patch: Bytes): Bytes =>
  overwrite(file, chunkAt(file, path).headerEnd + at, patch);

/** The file with another size in a chunk's header. */
export const writeSize = (file: Bytes, path: string, size: number): Bytes =>
  overwrite(file, chunkAt(file, path).start + 4, uintLE(size, 4));

/** The file with bytes before a chunk, and the sizes of all lists around it made right. */
export function insertBefore(file: Bytes, path: string, ...parts: readonly Bytes[]): Bytes {
  const at = chunkAt(file, path).start;
  const added = concat(...parts);
  const around = walkRiff(file).filter(
    ({ start, end, headerEnd }) => start < at && end > at && headerEnd - start === 12,
  );
  const resized = around.reduce(
    (changed, { start }) => overwrite(changed, start + 4, uintLE(readLE(file, start + 4, 4) + added.length, 4)),
    file,
  );
  return splice(resized, at, at, added);
}
