/** Finds the scripts of recordings by their names. */

const isScript = ({ name }: { name: string }): boolean => /\.(txt|md|markdown|srt|vtt|docx)$/i.test(name);
const toStem = ({ name }: { name: string }): string =>
  name
    .replace(/\.[^.]*$/, "")
    .normalize("NFC")
    .toLowerCase();

/** Pure. Finds the script of each recording. `unmatched`: scripts with the name of no recording. */
export function pairScripts<T extends { name: string }>(
  files: readonly T[],
): { recordings: T[]; scripts: Map<T, T>; unmatched: T[] } {
  const recordings = files.filter((file) => !isScript(file));
  const found = new Map(files.filter(isScript).map((file) => [toStem(file), file]));
  const scripts = new Map(
    recordings.flatMap((file): [T, T][] => {
      const script = found.get(toStem(file));
      return script === undefined ? [] : [[file, script]];
    }),
  );
  const used = new Set(scripts.values());
  return { recordings, scripts, unmatched: files.filter((file) => isScript(file) && !used.has(file)) };
}
