import { expect, test } from "bun:test";
import { join } from "node:path";
import { createFileKey, hashFile, hashJson, sha256 } from "../../../src/lib/hash";
import { temporaryFolder } from "../../temporary-folder";

const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

test("sha256 hashes a text or its bytes", () => {
  expect(sha256("abc")).toBe(ABC);
  expect(sha256(new TextEncoder().encode("abc"))).toBe(ABC);
});

test("hashFile hashes the content of a file and rejects if it is missing", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  await Bun.write(path, "abc");
  expect(await hashFile(path)).toBe(ABC);
  await expect(hashFile(join(folder.path, "missing"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("keys are equal for equal values only, and stay the same between versions", () => {
  expect(hashJson([1, { a: null }])).toBe(hashJson([1, { a: null }]));
  expect(hashJson([1, 2])).not.toBe(hashJson(["1", 2]));
  expect(createFileKey(["a", 1])).toBe(sha256('["a",1]').slice(0, 24));
});

test("other tasks run while a large file in the page cache is hashed", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "large");
  await Bun.write(path, new Uint8Array(64 * 1024 ** 2));
  let turns = 0;
  let isHashing = true;
  const count = () => {
    turns++;
    if (isHashing) setImmediate(count);
  };
  setImmediate(count);
  const hash = await hashFile(path);
  isHashing = false;
  expect(hash).toBe(sha256(new Uint8Array(64 * 1024 ** 2)));
  // One for each mebibyte at least.
  expect(turns).toBeGreaterThan(64);
});
