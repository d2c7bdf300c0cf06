/**
 * Reads ZIP archives with a reader of its own, checks them with Info-ZIP where that is installed, and writes small
 * ones.
 */
import { text } from "node:stream/consumers";
import { deflateRawSync } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";

/** Lists the entries of an archive, and reads those that `wanted` accepts. */
export async function readZip(
  path: string,
  wanted: (name: string) => boolean = () => true,
): Promise<{ entries: Entry[]; texts: Map<string, string> }> {
  const zip: ZipFile = await openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
  try {
    const entries: Entry[] = [];
    const texts = new Map<string, string>();
    for await (const entry of zip.eachEntry()) {
      entries.push(entry);
      const { fileName } = entry;
      if (wanted(fileName)) texts.set(fileName, await text(await zip.openReadStreamPromise(entry, {})));
    }
    return { entries, texts };
  } finally {
    zip.close();
  }
}

/**
 * Tests the checksums of an archive with `unzip -t`. Returns its exit code, 0 also where it is not installed. It warns
 * about UTF-8 names in the locale C.
 */
export async function testWithUnzip(path: string): Promise<number> {
  if (Bun.which("unzip") === null) return 0;
  return Bun.spawn(["unzip", "-tqq", path], {
    stdout: "ignore",
    stderr: "inherit",
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  }).exited;
}

/** Writes a ZIP archive with one entry, as far as its reader looks. */
export function writeZip(name: string, content: string, { method = 8, comment = "" } = {}): Uint8Array<ArrayBuffer> {
  const data = method === 8 ? deflateRawSync(content) : Buffer.from(content);
  const local = Buffer.alloc(30 + name.length);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(name.length, 26);
  local.write(name, 30);
  const entry = Buffer.alloc(46 + name.length);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(method, 10);
  entry.writeUInt32LE(data.length, 20);
  entry.writeUInt16LE(name.length, 28);
  entry.write(name, 46);
  const end = Buffer.alloc(22 + comment.length);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(local.length + data.length, 16);
  end.write(comment, 22);
  return Uint8Array.from(Buffer.concat([local, data, entry, end]));
}
