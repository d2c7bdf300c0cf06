/** Opens the data folder of a server: its lock, its assets and its database. */
import { join } from "node:path";
import { type Config, ConfigError, publicUrl } from "./config";
import { type DataFolder, openDataFolder, type Secrets } from "./data-folder";
import { type Assets, openAssets } from "./lib/assets";
import { silentLog } from "./lib/log";
import { openStore, type Store } from "./store/db";
import { migrate } from "./store/migrate";
import type { AdminServices } from "./work/admin-commands";
import { createWorkerList } from "./work/cluster/worker-list";
import { createPasswords } from "./work/identity/passwords";
import { openSetup } from "./work/identity/setup";

export type OpenDataFolder = {
  path: string;
  assets: Assets;
  store: Store;
  secrets: Secrets;
  saveSessionKeys: DataFolder["saveSessionKeys"];
  close(): Promise<void>;
};

/** Locks the data folder and opens the database. Throws `ConfigError`. */
export async function openFolder(config: Config): Promise<OpenDataFolder> {
  const folder = await openDataFolder(config.dataDir);
  try {
    const assets = await openAssets({ dataDir: folder.path });
    const store = await openDatabase(join(folder.path, "offcut.db"));
    return {
      path: folder.path,
      assets,
      store,
      secrets: folder.secrets,
      saveSessionKeys: folder.saveSessionKeys,
      close: async () => {
        await store.close();
        folder.lock.release();
      },
    };
  } catch (error) {
    folder.lock.release();
    throw error;
  }
}

async function openDatabase(path: string): Promise<Store> {
  try {
    const store = await openStore(path);
    await migrate(store);
    return store;
  } catch (error) {
    throw new ConfigError(`cannot open the database ${path}: ${(error as Error).message}`);
  }
}

/** Opens the data folder for an administration command. Throws an error when a server holds the folder. */
export async function openForAdmin(config: Config): Promise<AdminServices & { close(): Promise<void> }> {
  const { path: folder, store, close } = await openFolder(config);
  const setup = openSetup({ folder, store, publicUrl: () => publicUrl(config, config.port) });
  const workerList = createWorkerList({ store, log: silentLog(), now: Date.now });
  return { store, config, now: Date.now, passwords: createPasswords(), setup, cluster: null, workerList, close };
}
