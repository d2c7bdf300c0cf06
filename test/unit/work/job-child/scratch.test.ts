import { expect, test } from "bun:test";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { commitFile, openScratchFolder } from "../../../../src/work/job-child/scratch";
import { temporaryFolder } from "../../../temporary-folder";

test("a scratch folder starts empty, its files are committed, and it is removed", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  await mkdir(at("scratch/left"), { recursive: true });
  let calls = 0;
  {
    await using scratch = await openScratchFolder(at("scratch"));
    expect(await readdir(scratch.path)).toEqual([]);
    for (let n = 0; n < 2; n++)
      await scratch.createOnce(at("poster.jpg"), (path) => {
        calls++;
        expect(path).toBe(at("scratch/poster.jpg"));
        return Bun.write(path, "poster");
      });
    expect(await Bun.file(at("poster.jpg")).text()).toBe("poster");
  }
  expect(calls).toBe(1);
  expect(await readdir(folder.path)).toEqual(["poster.jpg"]);
});

test("files that are created together are committed where they are missing, in order", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  await using scratch = await openScratchFolder(at("scratch"));
  await Bun.write(at("first"), "kept");
  const targets = [at("first"), at("second"), at("third")];
  const create = (names: string[]) =>
    scratch.createTogether(targets, (toPath) =>
      Promise.all(names.map((name) => Bun.write(toPath(at(name)), "created"))),
    );
  await expect(create(["first", "second"])).rejects.toThrow("third");
  await Bun.file(at("second")).delete();
  await create(["first", "second", "third"]);
  const contents = () => Promise.all(targets.map((path) => Bun.file(path).text()));
  expect(await contents()).toEqual(["kept", "created", "created"]);
  await scratch.createTogether(targets, () => Promise.reject(new Error("complete")));
});

test.each([
  ["a symbolic link", (path: string, secret: string) => symlink(secret, path)],
  ["a folder", (path: string) => mkdir(path)],
  ["a named pipe", (path: string) => Bun.spawn(["mkfifo", path]).exited],
])("%s is not committed", async (_, make) => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  await Bun.write(at("secret"), "secret");
  await make(at("made"), at("secret"));
  await expect(commitFile(at("made"), at("place"))).rejects.toThrow("made is not a regular file");
  await commitFile(at("made"), at("place")).catch(() => {});
  expect(await readdir(folder.path)).toEqual(["secret"]);
});

test("a committed file replaces an existing one", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  await Bun.write(at("made"), "new");
  await Bun.write(at("place"), "previous");
  expect(await commitFile(at("made"), at("place"))).toBe(3);
  expect(await Bun.file(at("place")).text()).toBe("new");
});
