/** Follows the links of paths. */
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Returns where a path leads, through links in its existing part. The rest may be missing. */
export async function findRealPath(path: string): Promise<string> {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  try {
    return await realpath(absolute);
  } catch {
    return parent === absolute ? absolute : join(await findRealPath(parent), basename(absolute));
  }
}
