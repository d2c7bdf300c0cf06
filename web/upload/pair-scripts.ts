/** Finds the scripts of recordings by their names and folders. */

const isScript = ({ name }: { name: string }): boolean => /\.(txt|md|markdown|srt|vtt|docx)$/i.test(name);
const normalize = (name: string): string => name.normalize("NFC").toLowerCase();

type PairedScripts<T> = { recordings: T[]; scripts: Map<T, T>; unmatched: T[]; ambiguous: T[] };

/**
 * Pure. Finds the script of each recording. `toFolder` returns the folder of a file, empty if it is not known. `unmatched`: scripts with the name of
 * no recording. `ambiguous`: scripts that share a name with another script, or whose recording shares its name with another one.
 */
export function pairScripts<T extends { name: string }>(
  files: readonly T[],
  toFolder: (file: T) => string,
): PairedScripts<T> {
  const toKey = (file: T): string => normalize(`${toFolder(file)}/${file.name.replace(/\.[^.]*$/, "")}`);
  const recordings = files.filter((file) => !isScript(file));
  const candidates = Map.groupBy(recordings, toKey);
  const found = Map.groupBy(files.filter(isScript), toKey);
  const result: PairedScripts<T> = { recordings, scripts: new Map(), unmatched: [], ambiguous: [] };
  for (const [key, scripts] of found) {
    const own = candidates.get(key) ?? [];
    // Files of several cameras, such as `a.mp4` and `a.wav`, have one script.
    const hasTwins = new Set(own.map(({ name }) => normalize(name))).size < own.length;
    if (own.length === 0) result.unmatched.push(...scripts);
    else if (scripts.length > 1 || hasTwins) result.ambiguous.push(...scripts);
    else for (const recording of own) result.scripts.set(recording, scripts[0]!);
  }
  return result;
}
