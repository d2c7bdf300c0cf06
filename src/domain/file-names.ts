/** Names for files that users download. */

/** Returns a file name without its extension; null if nothing is left. */
export const toFileStem = (filename: string | null | undefined): string | null =>
  filename?.replace(/\.[^.]*$/, "") || null;

/** Returns the name of a render's file. `source` is the file name of the recording. */
export const getRenderFileName = (
  render: { cut_id: string | null; output: { file_name?: string }; resolved: { format: string } },
  source: string | null | undefined,
): string => {
  const name = render.output.file_name ?? `${toFileStem(source) ?? "render"}${render.cut_id ? ".cut" : ""}`;
  return `${name}.${render.resolved.format}`;
};

/** Characters that some file systems do not allow in names. */
const NOT_IN_NAMES = /[<>:"/\\|?*\p{Cc}]/gu;
/** Line separators and direction marks, which can disguise an extension. */
const INVISIBLE = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
/** File systems allow 255. The rest is for the numbers of duplicates. */
const MAX_NAME_BYTES = 200;
const MAX_EXTENSION_CHARACTERS = 16;

/** Returns a name that is a single path component and valid on every file system; `file` if nothing else is left. */
export function toPortableName(name: string): string {
  const clean = name
    .toWellFormed()
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .replace(NOT_IN_NAMES, "_")
    .replace(/^[\s.]+|(?<![\s.])[\s.]+$/g, "");
  const { stem, extension } = splitName(clean || "file");
  const bytes = new TextEncoder();
  const room = MAX_NAME_BYTES - bytes.encode(extension).length;
  let kept = "";
  let used = 0;
  for (const character of stem) {
    used += bytes.encode(character).length;
    if (used > room) break;
    kept += character;
  }
  const short = `${kept.trimEnd()}${extension}`;
  return DEVICE_NAME.test(short) ? `_${short}` : short;
}

/** `extension` includes its dot. An overly long one counts as part of the stem. */
function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf(".");
  const hasExtension = dot > 0 && name.length - dot <= MAX_EXTENSION_CHARACTERS;
  return hasExtension ? { stem: name.slice(0, dot), extension: name.slice(dot) } : { stem: name, extension: "" };
}

/**
 * Returns a function that makes portable names unique by numbering duplicates: `talk.mp4`, `talk (2).mp4`. Names that
 * differ only in case count as duplicates.
 */
export function createUniqueNames(): (name: string) => string {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return (name) => {
    const portable = toPortableName(name);
    const { stem, extension } = splitName(portable);
    const key = portable.toLowerCase();
    let count = counts.get(key) ?? 1;
    let unique = portable;
    while (used.has(unique.toLowerCase())) unique = `${stem} (${++count})${extension}`;
    counts.set(key, count);
    used.add(unique.toLowerCase());
    return unique;
  };
}
