/** Scripts that put no spaces between words. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}`;

const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]\\p{M}?$`, "u");
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");

/** Returns whether the text contains letters of a script that puts no spaces between words. */
export const isUnspaced = (text: string): boolean => HAS_UNSPACED.test(text);

const BETWEEN_UNSPACED = new RegExp(`(?<=[${UNSPACED}]\\p{M}?)(?=[${UNSPACED}])`, "u");

/** Splits a text between the characters that are written without spaces. */
export const splitUnspaced = (text: string): string[] => text.split(BETWEEN_UNSPACED);

/** Returns whether two texts that follow each other are written without a space. */
export const joinsWithoutSpace = (before: string, after: string): boolean =>
  ENDS_UNSPACED.test(before) && STARTS_UNSPACED.test(after);
