/** Parses box headers of MP4 and QuickTime files (ISO 14496-12). Pure. */

/** `size` is that of the whole box, which may extend beyond the available bytes. */
export type Mp4BoxHeader = { type: string; size: number; headerSize: number };

/** Parses a box header. `bytesLeft` is the size of a box that extends to the end. Returns null if it is invalid. */
export function parseBoxHeader(bytes: DataView, at: number, bytesLeft: number): Mp4BoxHeader | null {
  if (at + 8 > bytes.byteLength) return null;
  const type = String.fromCharCode(
    bytes.getUint8(at + 4),
    bytes.getUint8(at + 5),
    bytes.getUint8(at + 6),
    bytes.getUint8(at + 7),
  );
  const size32 = bytes.getUint32(at);
  if (size32 === 0) return { type, size: bytesLeft, headerSize: 8 };
  if (size32 !== 1) return size32 < 8 ? null : { type, size: size32, headerSize: 8 };
  if (at + 16 > bytes.byteLength) return null;
  const size64 = Number(bytes.getBigUint64(at + 8));
  return size64 < 16 ? null : { type, size: size64, headerSize: 16 };
}
