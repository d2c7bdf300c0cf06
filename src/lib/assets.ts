/**
 * Files that travel inside the executable: the recogniser's graphs, ffmpeg, native libraries. Extracted once to a versioned folder of
 * the data folder; run from the sources, they come from `dist/assets` and the installed packages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { extractFiles, findDamagedFiles } from "./embedded-extraction";
import { embeddedFiles } from "./embedded-files";
import { setNativeFolder } from "./native";

/** The paths of the files. */
export type Assets = {
  /** The folder of all; null when run from the sources. A child process of the executable opens it with `openExtracted`. */
  folder: string | null;
  /** The recogniser's and the voice detector's graphs, as `build/speech-graphs.ts` prepares them. */
  speechDir: string;
  /** The bundled ffmpeg. */
  ffmpeg: string;
  /** The licences of what the executable holds, one text. It may be missing when run from the sources. */
  licenses: string;
};

const PROJECT_FOLDER = join(import.meta.dir, "../..");

/**
 * Makes the files ready. In the executable: extracted to `<dataDir>/assets/<id>/` unless they are there, repaired when damaged.
 * Must run before the database or the recogniser is opened, whose native parts are among the files. Errors: those of the file system.
 */
export async function openAssets(options: { dataDir: string }): Promise<Assets> {
  if (embeddedFiles === null) return openSourceAssets();
  return openExtracted(await extractFiles(embeddedFiles, join(options.dataDir, "assets")));
}

/** For a child process, whose parent has `folder` (`Assets.folder`) ready; null means run from the sources. Reads nothing. */
export function openExtracted(folder: string | null): Assets {
  if (folder === null) return openSourceAssets();
  setNativeFolder(join(folder, "native"));
  return {
    folder,
    speechDir: join(folder, "speech"),
    ffmpeg: join(folder, "ffmpeg"),
    licenses: join(folder, "licenses.txt"),
  };
}

/** The extracted files that are not as they were built, by reading them all (for `doctor`). */
export async function findDamagedAssets(assets: Assets): Promise<string[]> {
  if (embeddedFiles !== null && assets.folder !== null) return findDamagedFiles(embeddedFiles, assets.folder);
  return [assets.ffmpeg, assets.speechDir].filter((path) => !existsSync(path));
}

function openSourceAssets(): Assets {
  const built = join(PROJECT_FOLDER, "dist/assets");
  return {
    folder: null,
    speechDir: join(built, "speech"),
    ffmpeg: join(PROJECT_FOLDER, `node_modules/@ffmpeg-installer/${process.platform}-${process.arch}/ffmpeg`),
    licenses: join(built, "licenses.txt"),
  };
}
