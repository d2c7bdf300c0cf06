import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findNetworkFileSystem, findUnmounted, readMountTables } from "../../../src/lib/file-systems";
import { temporaryFolder } from "../../temporary-folder";

describe("a network file system", () => {
  test.each([
    [0x6969, "NFS"],
    [0x517b, "SMB"],
    [0xff534d42, "SMB"],
    [0xfe534d42, "SMB"],
    // As a signed number.
    [0xff534d42 | 0, "SMB"],
    [0x65735546, "FUSE"],
    [0x01021997, "9p"],
    [0x00c36400, "Ceph"],
    [0x5346414f, "AFS"],
    [0x6b414653, "AFS"],
    [0x0bd00bd0, "Lustre"],
    // ext4, XFS, btrfs, ZFS, tmpfs, overlayfs, F2FS.
    ...[0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x01021994, 0x794c7630, 0xf2f52010].map(
      (type) => [type, null] as const,
    ),
  ] as [number, string | null][])("%p: %p", (type, name) => {
    expect(findNetworkFileSystem("/", () => type)).toBe(name);
  });

  test("is that of the nearest folder that exists", async () => {
    await using folder = await temporaryFolder();
    const asked: string[] = [];
    findNetworkFileSystem(join(folder.path, "a/b"), (path) => asked.push(path));
    expect(asked).toEqual([folder.path]);
    expect(findNetworkFileSystem(join(folder.path, "a/b"))).toBeNull();
  });
});

describe("a mount point without a mount", () => {
  const configured = [
    "# /etc/fstab: a comment with /srv in it",
    "UUID=1 / ext4 errors=remount-ro 0 1",
    "/dev/sda2 none swap sw 0 0",
    "nas:/media /mnt/nas nfs softerr 0 0",
    String.raw`//nas/share /mnt/two\040words cifs credentials=/etc/nas 0 0`,
    "/dev/sdb1 /srv/ ext4 defaults 0 2",
    "/dev/sdc1 /srv/deep ext4 noauto 0 2",
    "",
  ].join("\n");
  const mounted = (...points: string[]) =>
    points.map((point, n) => `${n} 1 8:1 / ${point} rw,relatime shared:1 - ext4 /dev/sda1 rw`).join("\n");

  test.each([
    ["/mnt/nas/offcut", ["/"], "/mnt/nas"],
    ["/mnt/nas", ["/"], "/mnt/nas"],
    ["/mnt/nas/offcut", ["/", "/mnt/nas"], null],
    ["/mnt/nas2", ["/"], null],
    ["/mnt/two words/offcut", ["/"], "/mnt/two words"],
    ["/mnt/two words/offcut", ["/", String.raw`/mnt/two\040words`], null],
    ["/srv/offcut", ["/"], "/srv"],
    ["/srv/deep/offcut", ["/", "/srv"], "/srv/deep"],
    ["/srv/deep/offcut", ["/", "/srv/deep"], null],
    ["/var/lib/offcut", ["/"], null],
  ] as [string, string[], string | null][])("%s with %p mounted: %p", (path, points, expected) => {
    expect(findUnmounted(path, { configured, mounted: mounted(...points) })).toBe(expected);
  });

  test("cannot be told without the tables", () => {
    expect(findUnmounted("/mnt/nas", { configured: "", mounted: "" })).toBeNull();
    expect(readMountTables().mounted).toContain(" / ");
  });
});
