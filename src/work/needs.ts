/** Dependencies of most features. A feature that needs more exports its own `…Needs`; `services.ts` composes them. */
import type { FoldersReserve } from "../blobs/folder-space";
import type { Folders } from "../blobs/folders";
import type { Config } from "../config";
import type { Log } from "../lib/log";
import type { Store } from "../store/db";

/** For rules that the settings decide, within a transaction. */
export type ConfigNeeds = { config: Config };

export type CoreNeeds = ConfigNeeds & {
  store: Store;
  folders: Folders;
  /** The free space of the data folder and the media folder. */
  disk: FoldersReserve;
  log: Log;
  /** Returns milliseconds since 1970. Tests replace it. */
  now(): number;
  /** Returns a past time that the clock has stayed past for almost an hour: see `confirmed-time.ts`. */
  confirmedNow(): number;
};
