/** Characters that control a terminal or disguise text: C0, C1, DEL, line separators, marks of writing direction. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces control characters with JSON escapes such as `\u001b`. The meaning of JSON text stays the same. */
export const escapeControls = (text: string): string =>
  text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
