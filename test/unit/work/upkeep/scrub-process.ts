/**
 * Checks the files of a data folder in a process of its own:
 * `scrub-process.ts FOLDER NOW BYTES_PER_SECOND JOB_COMMAND…`. Writes a line after each commit, and the report.
 */
import { join } from "node:path";
import { openDiskReserve } from "../../../../src/blobs/folder-space";
import { getFolders } from "../../../../src/blobs/folders";
import { createLog } from "../../../../src/lib/log";
import { openStore } from "../../../../src/store/db";
import { runScrub } from "../../../../src/work/upkeep/scrub";

const [folder, now, bytesPerSecond, ...jobCommand] = process.argv.slice(2) as [string, string, string, ...string[]];
const store = await openStore(join(folder, "offcut.db"));
store.onCommit(() => void Bun.write(Bun.stdout, "saved\n"));
const report = await runScrub(
  {
    backups: {} as never,
    config: { backupTo: null } as never,
    disk: openDiskReserve(getFolders(folder), 0),
    folders: getFolders(folder),
    log: createLog(() => {}, false),
    now: () => Number(now),
    confirmedNow: () => 0,
    store,
  },
  {
    ffmpeg: { path: "/nonexistent", version: "0", bundled: false, libavutil: 56 },
    jobCommand,
    sandbox: { mode: "none", reason: "a test", wrap: (command) => command },
  },
  { bytesPerSecond: Number(bytesPerSecond), isOnline: async () => true, maxYieldMs: 0 },
  new AbortController().signal,
);
await store.close();
await Bun.write(Bun.stdout, JSON.stringify(report));
