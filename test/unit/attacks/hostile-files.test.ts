/** The generator of hostile files: the same files for a seed, none like its base, all containers, all ways. */
import { afterAll, expect, test } from "bun:test";
import { makeBaseFiles } from "../../attacks/hostile-files/bases";
import { CONTAINERS } from "../../attacks/hostile-files/cases";
import { chooseFew, hostileFiles } from "../../attacks/hostile-files/generate";
import { GENERIC } from "../../attacks/hostile-files/generic-cases";
import { temporaryFolder } from "../../temporary-folder";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
const bases = await makeBaseFiles(folder.path);
const targets = ["/tmp/canary.mp4", "../other/source"];

const MAX_FILE_BYTES = 24 * 1024 * 1024;
const sha = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
const filesOf = (seed: number) => hostileFiles({ bases, targets, seed });
const sumsOf = (seed: number) => chooseFew(filesOf(seed), 80).map((file) => `${file.name} ${sha(file.make())}`);

test("400 files, the same for a seed, others for another", () => {
  expect(new Set(filesOf(1).map((file) => file.name)).size).toBe(400);
  const first = sumsOf(1);
  expect(first).toHaveLength(80);
  expect(sumsOf(1)).toEqual(first);
  const others = sumsOf(2).filter((sum) => !first.includes(sum));
  expect(others.length).toBeGreaterThan(30);
}, 60_000);

test("every file can be made, differs from its base and is small", () => {
  const known = new Set(Object.values(bases).map(sha));
  for (const file of filesOf(3)) {
    const bytes = file.make();
    expect([file.name, known.has(sha(bytes))]).toEqual([file.name, false]);
    expect([file.name, bytes.length >= 64 && bytes.length < MAX_FILE_BYTES]).toEqual([file.name, true]);
  }
}, 60_000);

test("the few are spread over all containers and ways", () => {
  const files = hostileFiles({ bases, targets, seed: 1 });
  const few = chooseFew(files, 40);
  expect(few).toHaveLength(40);
  expect(new Set(few.map((file) => file.name)).size).toBe(40);
  for (const container of CONTAINERS) {
    expect(few.filter((file) => file.container === container)).toHaveLength(5);
    expect(files.filter((file) => file.container === container).length).toBeGreaterThan(30);
  }
  for (const way of Object.keys(GENERIC)) expect(files.some((file) => file.name.includes(way))).toBe(true);
  expect(few.some((file) => file.name === "mp4: stts of 2^32-1 samples")).toBe(true);
});
