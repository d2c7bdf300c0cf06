/** Determines the kind of file system that a folder is on, and detects configured file systems that are not mounted. */
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Network file systems, and FUSE, whose programs cannot be distinguished, by the `f_type` of statfs(2). Values are from
 * `linux/magic.h` and from the sources of file systems that are not in it.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "SMB"],
  [0x65735546, "FUSE"],
  [0x01021997, "9p"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0xaad7aaea, "PanFS"],
  [0x20030528, "OrangeFS"],
  [0x786f4256, "vboxsf"],
  [0xbacbacbc, "VMware shared folders"],
  [0x7c7c6673, "Parallels shared folders"],
]);

/** Returns the `f_type` of statfs(2). */
export type ReadFileSystemType = (path: string) => number;

/** For a temporary database, which may be on any file system. */
export const anyFileSystem: ReadFileSystemType = () => 0;

const readFileSystemType: ReadFileSystemType = (path) => statfsSync(path).type;

/**
 * Returns the name of the network file system that a path is on, or would be created on; null for a local one. Outside
 * of Linux, the types have other numbers, and the result is null.
 */
export function findNetworkFileSystem(path: string, readType: ReadFileSystemType = readFileSystemType): string | null {
  if (process.platform !== "linux") return null;
  let existing = resolve(path);
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  // Some systems return a signed 32-bit number.
  return NETWORK_FILE_SYSTEMS.get(readType(existing) >>> 0) ?? null;
}

/** The texts of `/etc/fstab` and `/proc/self/mountinfo`. */
export type MountTables = { configured: string; mounted: string };

/** Returns the mount tables of this machine; empty texts if it has none. */
export function readMountTables(): MountTables {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  return { configured: read("/etc/fstab"), mounted: read("/proc/self/mountinfo") };
}

const FSTAB_MOUNT_POINT = 1;
const MOUNTINFO_MOUNT_POINT = 4;

/** Returns the mount point in `/etc/fstab` that contains `path` if nothing is mounted there, or null. */
export function findUnmounted(path: string, { configured, mounted }: MountTables): string | null {
  const present = new Set(listMountPoints(mounted, MOUNTINFO_MOUNT_POINT));
  const above = listMountPoints(configured, FSTAB_MOUNT_POINT).filter(
    (point) => point !== "/" && `${resolve(path)}/`.startsWith(`${point}/`),
  );
  // The innermost mount point determines where the files are.
  const [point] = above.sort((a, b) => b.length - a.length);
  return point === undefined || present.has(point) ? null : point;
}

function listMountPoints(table: string, column: number): string[] {
  return table
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .map((line) => line.trim().split(/\s+/)[column])
    .filter((point) => point?.startsWith("/"))
    .map((point) => resolve(unescapeOctal(point!)));
}

/** Both tables encode a space as `\040`. */
const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
