/** Records the calls that put files in place, because no test cuts the power. */
import { spyOn } from "bun:test";
import * as fs from "node:fs/promises";

type DiskOptions = { folder: string; syncError?: string };

/**
 * Records flushes, renames and links of the paths below `folder`, relative to it: `flush a/b`, `rename a/b` and
 * `link a/b`.
 * `syncError`: the code with which flushes of folders fail, as those of some network file systems.
 */
export function recordDiskCalls({ folder, syncError }: DiskOptions) {
  const calls: string[] = [];
  const toRelative = (path: unknown) => String(path).slice(folder.length + 1) || ".";
  const isBelow = (path: unknown) => `${path}/`.startsWith(`${folder}/`);
  const { open, rename, link } = fs;
  const opening = spyOn(fs, "open").mockImplementation(async (path, ...rest) => {
    const file = await open(path, ...rest);
    const { sync } = file;
    file.sync = async () => {
      if (syncError !== undefined && (await file.stat()).isDirectory())
        throw Object.assign(new Error("fsync"), { code: syncError, syscall: "fsync" });
      await sync.call(file);
      if (isBelow(path)) calls.push(`flush ${toRelative(path)}`);
    };
    return file;
  });
  const renaming = spyOn(fs, "rename").mockImplementation(async (from, to) => {
    await rename(from, to);
    if (isBelow(to)) calls.push(`rename ${toRelative(to)}`);
  });
  const linking = spyOn(fs, "link").mockImplementation(async (from, to) => {
    await link(from, to);
    if (isBelow(to)) calls.push(`link ${toRelative(to)}`);
  });
  return {
    calls,
    [Symbol.dispose]: () => {
      opening.mockRestore();
      renaming.mockRestore();
      linking.mockRestore();
    },
  };
}
