/** Returns a percent-encoded text decoded; null if it is not valid, as in an address that was cut off. Pure. */
export function decodeText(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
