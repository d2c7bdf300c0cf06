/**
 * Native addons of the executable. Bun would extract an embedded addon to the temporary folder, which may be mounted
 * `noexec`, so they are extracted with the other assets and loaded from there. The build redirects the packages that
 * need one to `loadNative`.
 */
import { join } from "node:path";

let nativeFolder: string | null = null;
const loadedAddons = new Map<string, unknown>();

/** Sets the folder of the addons. Loaded addons stay loaded. */
export function setNativeFolder(path: string): void {
  nativeFolder = path;
}

/**
 * Returns the exports of an addon, loading it on the first call. Throws if no folder is set or the system cannot load
 * the file, most often because the data folder is on a file system mounted `noexec`.
 */
export function loadNative(file: string): unknown {
  const known = loadedAddons.get(file);
  if (known !== undefined) return known;
  if (nativeFolder === null) throw new Error(`Cannot load ${file}: the assets are not open yet`);
  const path = join(nativeFolder, file);
  const addon: { exports: unknown } = { exports: {} };
  try {
    process.dlopen(addon, path);
  } catch (error) {
    throw new Error(`Cannot load ${path} (is the data folder mounted noexec?): ${(error as Error).message}`, {
      cause: error,
    });
  }
  loadedAddons.set(file, addon.exports);
  return addon.exports;
}
