/**
 * The assets bundled in the executable: the recognizer's graphs, ffmpeg, native libraries. They are extracted once, to
 * a versioned folder in the data folder. When run from the sources, they come from `dist/assets` and the installed
 * packages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { extractFiles, findDamagedFiles } from "./embedded-extraction";
import { embeddedFiles } from "./embedded-files";
import { setNativeFolder } from "./native";

export type Assets = {
  /** The folder of all assets; null when run from the sources. Child processes open it with `openExtracted`. */
  folder: string | null;
  /** The graphs of the recognizer and the voice detector, prepared by `build/speech-graphs.ts`. */
  speechDir: string;
  ffmpeg: string;
  /** The licenses of the bundled software, as one text. The file may be missing when run from the sources. */
  licenses: string;
  /** The bundled dashboard, written by `build/web.ts`. */
  webDir: string;
};

const PROJECT_FOLDER = join(import.meta.dir, "../..");

/**
 * Makes the assets available. In the executable, extracts them to `<dataDir>/assets/<id>/` if they are missing, and
 * repairs damaged ones. Must run before the database or the recognizer is opened, because their native addons are
 * assets. Throws file system errors.
 */
export async function openAssets(options: { dataDir: string }): Promise<Assets> {
  if (embeddedFiles === null) return openSourceAssets();
  return openExtracted(await extractFiles(embeddedFiles, join(options.dataDir, "assets")));
}

/** Returns the number of bytes that `openAssets` writes to a new data folder. */
export const measureAssets = (): number =>
  (embeddedFiles?.files ?? []).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/**
 * Returns the assets in a child process, whose parent has extracted them to `folder` (`Assets.folder`); null when run
 * from the sources. Reads no files.
 */
export function openExtracted(folder: string | null): Assets {
  if (folder === null) return openSourceAssets();
  setNativeFolder(join(folder, "native"));
  return {
    folder,
    speechDir: join(folder, "speech"),
    ffmpeg: join(folder, "ffmpeg"),
    licenses: join(folder, "licenses.txt"),
    webDir: join(folder, "web"),
  };
}

/** Reads all assets and returns those that are damaged or missing, for `doctor`. */
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
    // `bun run dev` has a bundle of its own.
    webDir: process.env.DEV_WEB_FOLDER ?? join(built, "web"),
  };
}
