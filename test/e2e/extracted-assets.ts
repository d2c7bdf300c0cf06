/**
 * The files that the executable carries, extracted once for all tests of a run: each server otherwise writes 180 MB to
 * its fresh data folder, which takes 0.7 s of processor time. They are kept next to the executable, one folder per
 * build.
 */
import { link, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { EXECUTABLE, runOffcut } from "./offcut";

const CACHE = join(dirname(EXECUTABLE), ".extracted-assets");
/** Per process and data folder: it is not shared. */
const IN_USE = "in-use";

let extracting: Promise<string> | null = null;

/**
 * Links the extracted files into `<folder>/data`, as a start of the executable would leave them. Without hard links
 * between the file systems it does nothing, and the executable extracts them itself.
 */
export async function linkExtractedAssets(folder: string): Promise<void> {
  extracting ??= extractOnce();
  const source = await extracting;
  const assets = join(folder, "data/assets");
  await mkdir(assets, { recursive: true, mode: 0o700 });
  try {
    await linkFolder(source, assets);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await rm(assets, { recursive: true, force: true });
  }
}

/** Creates a temporary folder for one test with the extracted files in it. */
export async function folderWithAssets(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  await linkExtractedAssets(folder.path);
  return folder;
}

/**
 * Returns the folder `assets` of this build. Two processes that arrive here simultaneously both extract, and one result
 * stays.
 */
async function extractOnce(): Promise<string> {
  const { size, mtimeMs } = await stat(EXECUTABLE);
  const build = `${size}-${Math.floor(mtimeMs)}`;
  const assets = join(CACHE, build, "data/assets");
  const isThere = await readdir(assets).then(
    () => true,
    () => false,
  );
  if (isThere) return assets;
  const partial = join(CACHE, `${build}.${crypto.randomUUID()}`);
  await mkdir(partial, { recursive: true, mode: 0o700 });
  const { code, stderr } = await runOffcut(["licenses"], { folder: partial });
  if (code !== 0) throw new Error(`cannot extract the files of ${EXECUTABLE}: ${stderr}`);
  try {
    await rename(partial, join(CACHE, build));
  } catch {
    await rm(partial, { recursive: true, force: true });
  }
  for (const name of await readdir(CACHE))
    if (!name.startsWith(build)) await rm(join(CACHE, name), { recursive: true, force: true });
  return assets;
}

async function linkFolder(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (!entry.isDirectory()) await link(source, target);
    else if (entry.name !== IN_USE) {
      await mkdir(target, { mode: 0o700 });
      await linkFolder(source, target);
    }
  }
}
