/**
 * A process that backs up the data folder in its first argument to the bucket in its environment, and prints its peak
 * memory in MB.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getFolders } from "../../../../../src/blobs/folders";
import { openStore } from "../../../../../src/store/db";
import { createBackup } from "../../../../../src/work/backup/create-backup";
import { PLACE } from "./offsite-place";

const [data, key] = process.argv.slice(2) as [string, string];
const store = await openStore(join(data, "offcut.db"));
const offsite = { env: process.env, recoveryKey: () => key, saveRecoveryKey: async () => {}, scratch: data };
const report = await createBackup(
  { store, folders: getFolders(data), now: Date.now, offsite },
  { target: PLACE, hasMedia: true },
  new AbortController().signal,
);
await store.close();
const [, peak = "0"] = /VmHWM:\s*(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
console.log(JSON.stringify({ ...report, peak_mb: Number(peak) / 1024 }));
