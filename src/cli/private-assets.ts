/** Opens the bundled assets for commands that need no database. */
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, ConfigError } from "../config";
import { prepareDataFolder } from "../data-folder";
import { type Assets, openAssets } from "../lib/assets";

/**
 * Opens the assets in the data folder or, if another user owns it (such as the system service's), in a private folder
 * of this user. If no folder can be used, throws the data folder's error.
 */
export async function openPrivateAssets(config: Config): Promise<Assets> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folders = [config.dataDir, join(cache, "offcut"), join(tmpdir(), `offcut-${process.getuid?.() ?? "user"}`)];
  let firstError: unknown;
  for (const folder of folders) {
    try {
      return await openAssets({ dataDir: prepareDataFolder(folder) });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!(error instanceof ConfigError) && !["EACCES", "EROFS", "ENOSPC"].includes(code ?? "")) throw error;
      firstError ??= error;
    }
  }
  throw firstError;
}
