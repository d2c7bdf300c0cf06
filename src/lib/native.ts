/**
 * Native addons of the executable. Bun would unpack an embedded addon into the temporary folder, which may be mounted `noexec`, so
 * they are extracted with the other assets and loaded from there. The build points the packages that need one to `loadNative`.
 */
import { join } from "node:path";

let nativeFolder: string | null = null;
const loadedAddons = new Map<string, unknown>();

/** Where the addons are from now on; addons that are loaded stay. */
export function setNativeFolder(path: string): void {
  nativeFolder = path;
}

/**
 * The exports of an addon, loaded on the first call. Throws when no folder is set, or when the system cannot load the file: most
 * often a data folder on a file system that is mounted `noexec`.
 */
export function loadNative(file: string): unknown {
  const known = loadedAddons.get(file);
  if (known !== undefined) return known;
  if (nativeFolder === null) throw new Error(`${file}: the assets are not open yet`);
  const path = join(nativeFolder, file);
  const addon: { exports: unknown } = { exports: {} };
  try {
    process.dlopen(addon, path);
  } catch (error) {
    throw new Error(`cannot load ${path} (is the data folder mounted noexec?): ${(error as Error).message}`, {
      cause: error,
    });
  }
  loadedAddons.set(file, addon.exports);
  return addon.exports;
}
