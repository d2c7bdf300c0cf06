/** Lists the recordings in a folder. */
import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";

const EXTENSIONS = new Set(".mp4 .mov .mkv .webm .avi .ts .wav .mp3 .m4a .flac .ogg .opus .aiff .wma".split(" "));

/** Returns `path` itself if it is a file, otherwise the media files below it, sorted. */
export async function listMedia(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const names = await readdir(path, { recursive: true });
  return names
    .filter((name) => EXTENSIONS.has(extname(name)))
    .sort()
    .map((name) => join(path, name));
}
