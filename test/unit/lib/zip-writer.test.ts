/** ZIP archives, read back with an independent reader and tested with Info-ZIP where it is installed. */
import { expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createZipWriter, type ZipOutput } from "../../../src/lib/zip-writer";
import { temporaryFolder } from "../../temporary-folder";
import { readZip, testWithUnzip } from "../../zip";

const AT = Date.UTC(2026, 10, 22, 13, 9, 40);

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

/** Opens a file in which chunks of zeros are holes. */
async function openSparse(path: string): Promise<ZipOutput & { close(): Promise<void> }> {
  const file = await open(path, "w");
  let position = 0;
  return {
    write: async (bytes) => {
      if (bytes.some((byte) => byte !== 0)) await file.write(bytes, 0, bytes.byteLength, position);
      position += bytes.byteLength;
    },
    patch: async (bytes, at) => {
      await file.write(bytes, 0, bytes.byteLength, at);
    },
    close: () => file.close(),
  };
}

const UTF8 = 1 << 11;
const DESCRIPTOR = 1 << 3;

test.each([
  ["a file", true, UTF8],
  ["a stream", false, UTF8 | DESCRIPTOR],
])("stored and compressed entries of any length, with UTF-8 names and times, to %s", async (_, canPatch, flags) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "a.zip");
  const output = await openSparse(path);
  const zip = createZipWriter(canPatch ? output : { ...output, patch: null });
  const contents: [string, boolean, string[]][] = [
    ["README.txt", true, ["hello ".repeat(50_000), "end"]],
    ["media/Ünï 日本.bin", false, ["some", "", "bytes"]],
    ["empty.json", true, []],
    ["empty.bin", false, []],
  ];
  for (const [name, isCompressed, texts] of contents) {
    const size = await zip.add({ name, modifiedAt: AT, isCompressed }, chunks(...texts));
    expect(size).toBe(texts.join("").length);
  }
  const size = await zip.finish();
  await output.close();
  expect(Bun.file(path).size).toBe(size);
  expect(await testWithUnzip(path)).toBe(0);
  const { entries, texts } = await readZip(path);
  expect([...texts]).toEqual(contents.map(([name, , parts]) => [name, parts.join("")]));
  for (const entry of entries) {
    expect(entry.generalPurposeBitFlag).toBe(flags);
    expect(entry.getLastModDate({ timezone: "UTC" }).getTime()).toBe(AT);
  }
  expect(entries[0]!.compressedSize).toBeLessThan(5_000);
  expect(entries[1]!.compressedSize).toBe(9);
});

test("more entries than 16 bits can count", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "many.zip");
  const parts: Uint8Array[] = [];
  // Headers of empty entries have nothing to patch but zeros.
  const zip = createZipWriter({ write: async (bytes) => void parts.push(bytes.slice()), patch: async () => {} });
  const count = 65_536;
  for (let i = 0; i < count; i++) await zip.add({ name: `${i}`, modifiedAt: AT, isCompressed: false }, chunks());
  await zip.finish();
  await Bun.write(path, Buffer.concat(parts));
  const { entries } = await readZip(path, () => false);
  expect([entries.length, entries.at(-1)!.fileName]).toEqual([count, `${count - 1}`]);
});

test("an entry of more than 4 GiB, and one behind it", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "large.zip");
  const output = await openSparse(path);
  const zip = createZipWriter({
    ...output,
    // Only the first byte is checked, because checking all zeros would take seconds.
    write: async (bytes) => output.write(bytes.byteLength === zeros.byteLength ? hole : bytes),
  });
  const zeros = new Uint8Array(64 * 1024 * 1024);
  const hole = Object.assign(zeros.subarray(), { some: () => false });
  async function* large() {
    for (let i = 0; i < 65; i++) yield zeros;
  }
  const size = 65 * zeros.byteLength;
  await zip.add({ name: "large", modifiedAt: AT, isCompressed: false }, large());
  await zip.add({ name: "behind", modifiedAt: AT, isCompressed: true }, chunks("found"));
  expect(await zip.finish()).toBe(Bun.file(path).size);
  await output.close();
  const { entries, texts } = await readZip(path, (name) => name === "behind");
  expect(entries.map((entry) => [entry.fileName, entry.uncompressedSize, entry.compressedSize])).toEqual([
    ["large", size, size],
    ["behind", 5, 7],
  ]);
  expect(entries[1]!.relativeOffsetOfLocalHeader).toBeGreaterThan(2 ** 32);
  expect(texts.get("behind")).toBe("found");
});

test("a writer rejects with the error of a source or of the output", async () => {
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(10);
    throw new Error("cannot be read");
  };
  for (const isCompressed of [true, false]) {
    const zip = createZipWriter({ write: async () => {}, patch: async () => {} });
    await expect(zip.add({ name: "a", modifiedAt: AT, isCompressed }, failing())).rejects.toThrow("cannot be read");
    const full = createZipWriter({
      write: async () => {
        throw new Error("full");
      },
      patch: async () => {},
    });
    await expect(full.add({ name: "a", modifiedAt: AT, isCompressed }, chunks("a"))).rejects.toThrow("full");
  }
});
