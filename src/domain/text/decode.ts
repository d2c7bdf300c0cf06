/** Text files in the encodings that programs write. Pure. */

/**
 * Decodes UTF-8, and UTF-16 with a byte order mark. Other bytes become U+FFFD, or throw a `TypeError` if `fatal` is
 * set.
 */
export function decodeUnicode(bytes: Uint8Array<ArrayBuffer>, options: { fatal?: boolean } = {}): string {
  const mark = `${bytes[0]} ${bytes[1]}`;
  const encoding = mark === "255 254" ? "utf-16le" : mark === "254 255" ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding, options).decode(bytes);
}

/** Decodes Unicode, and everything else as Windows-1252: for texts in which some wrong letters do little harm. */
export function decodeText(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return decodeUnicode(bytes, { fatal: true });
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
