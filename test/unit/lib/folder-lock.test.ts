import { expect, test } from "bun:test";
import { join } from "node:path";
import { lockFolder } from "../../../src/lib/folder-lock";
import { temporaryFolder } from "../../temporary-folder";

/** Starts a process that acquires the lock, reports whether it did, and holds it until it is killed. */
function otherProcess(folder: string) {
  const lockModule = join(import.meta.dir, "../../../src/lib/folder-lock.ts");
  const program = `
    const { lockFolder } = await import(${JSON.stringify(lockModule)});
    const got = lockFolder(${JSON.stringify(folder)}) !== null;
    Bun.gc(true);
    console.log(got ? "got it" : "refused");
    setInterval(() => {}, 1000);
  `;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
  const said = async () => {
    for await (const chunk of child.stdout) return new TextDecoder().decode(chunk).trim();
    return "nothing";
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return { said, kill, [Symbol.asyncDispose]: kill };
}

test("one process holds the lock, which is free again when it is killed", async () => {
  await using folder = await temporaryFolder();
  await using other = otherProcess(folder.path);
  expect(await other.said()).toBe("got it");
  expect(lockFolder(folder.path)).toBeNull();
  await other.kill();
  const lock = lockFolder(folder.path);
  expect(lock).not.toBeNull();
  await using late = otherProcess(folder.path);
  expect(await late.said()).toBe("refused");
  await late.kill();
  lock!.release();
});

test("a released lock can be acquired again", async () => {
  await using folder = await temporaryFolder();
  const first = lockFolder(folder.path)!;
  expect(lockFolder(folder.path)).toBeNull();
  first.release();
  const second = lockFolder(folder.path);
  expect(second).not.toBeNull();
  second!.release();
});

test("a missing folder is an error, not a held lock", async () => {
  await using folder = await temporaryFolder();
  expect(() => lockFolder(join(folder.path, "missing"))).toThrow();
});
