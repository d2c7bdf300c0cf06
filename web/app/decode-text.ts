/** Decodes percent-encoded text. Returns null if it is malformed, as in a truncated address. Pure. */
export function decodeText(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
