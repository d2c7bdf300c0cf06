/** Changes single boxes of an MP4 file whose `moov` is last, so that no media offset changes. */

/** Length of a box's own fields before its child boxes, in bytes. */
const FIELDS: Record<string, number> = { stsd: 8, avc1: 78, hvc1: 78 };

/** Returns the file with one box of its first track replaced. `path` names the boxes from `moov` on. */
export function patchMp4(
  file: Uint8Array,
  path: readonly string[],
  change: (body: Uint8Array) => Uint8Array,
): Uint8Array {
  const [name = "", ...inner] = path;
  const parts: Uint8Array[] = [];
  let found = false;
  for (let at = 0; at + 8 <= file.length; ) {
    const size = Buffer.from(file).readUInt32BE(at);
    const type = String.fromCharCode(...file.subarray(at + 4, at + 8));
    const body = file.subarray(at + 8, at + size);
    const changed = type !== name || found ? body : patchInner(body, type, inner, change);
    found ||= type === name;
    parts.push(box(type, changed));
    at += size;
  }
  if (!found) throw new Error(`no ${name}`);
  return Buffer.concat(parts);
}

/** Returns the file with changed bytes of a box of the first sample table. */
export const patchSampleTable = (file: Uint8Array, box: readonly string[], change: (body: Buffer) => void) =>
  patchMp4(file, ["moov", "trak", "mdia", "minf", "stbl", ...box], (body) => {
    const changed = Buffer.from(body);
    change(changed);
    return changed;
  });

/** Exchanges two entries of a `ctts` table that differ: the times of their frames. */
export function swapOffsets(table: Buffer): void {
  const at = 8;
  for (let other = at + 8; ; other += 8) {
    const [one, two] = [table.readInt32BE(at + 4), table.readInt32BE(other + 4)];
    if (one === two) continue;
    table.writeInt32BE(two, at + 4);
    table.writeInt32BE(one, other + 4);
    return;
  }
}

function patchInner(
  body: Uint8Array,
  type: string,
  path: readonly string[],
  change: (body: Uint8Array) => Uint8Array,
): Uint8Array {
  if (path.length === 0) return change(body);
  const fields = FIELDS[type] ?? 0;
  return Buffer.concat([body.subarray(0, fields), patchMp4(body.subarray(fields), path, change)]);
}

/** Returns a box. */
export function box(type: string, body: Uint8Array): Uint8Array {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(body.length + 8);
  header.write(type, 4, "latin1");
  return Buffer.concat([header, body]);
}
