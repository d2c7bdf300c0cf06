/** Characters that control a terminal or disguise a text: C0, C1 and DEL, line separators, and marks of the writing direction. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces control characters by escapes of JSON, such as `\u001b`. A JSON text keeps its meaning. */
export const escapeControls = (text: string): string =>
  text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
