/** The owner of the data folder. `offcut upgrade` runs as root, but only the user of the service touches the data. */
import { statSync } from "node:fs";

/** Drops root privileges in favor of the owner of `folder`. Does nothing in a process without them. */
export function becomeOwner(folder: string): void {
  const { uid, gid } = statSync(folder);
  if (process.getuid?.() !== 0 || uid === 0) return;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
