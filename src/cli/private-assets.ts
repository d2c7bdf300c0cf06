/** Where a command that needs no database takes out the files that travel inside the executable. */
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, ConfigError } from "../config";
import { prepareDataFolder } from "../data-folder";
import { type Assets, openAssets } from "../lib/assets";

/**
 * In the data folder; when that is someone else's, as with the system's service, in a private folder of this user. Throws what the
 * data folder was refused with when no folder can be used.
 */
export async function openPrivateAssets(config: Config): Promise<Assets> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folders = [config.dataDir, join(cache, "offcut"), join(tmpdir(), `offcut-${process.getuid?.() ?? "user"}`)];
  let refused: unknown;
  for (const folder of folders) {
    try {
      return await openAssets({ dataDir: prepareDataFolder(folder) });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!(error instanceof ConfigError) && !["EACCES", "EROFS", "ENOSPC"].includes(code ?? "")) throw error;
      refused ??= error;
    }
  }
  throw refused;
}
