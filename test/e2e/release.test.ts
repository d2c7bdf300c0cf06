/** `./install.sh package`, and an executable that accepts the next release signed with the same key. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeys, MINISIGN, sign } from "../minisign";
import { temporaryFolder } from "../temporary-folder";
import { linkExtractedAssets } from "./extracted-assets";
import { IS_BUNDLED_PASS, runOffcut } from "./offcut";

setDefaultTimeout(120_000);

const PACKAGE = join(import.meta.dir, "../../src/build/package.ts");

async function pack(out: string, signingKey: string) {
  const { OFFCUT_EXECUTABLE: _, ...env } = process.env;
  const child = Bun.spawn([process.execPath, PACKAGE, "--out", out], {
    env: { ...env, OFFCUT_SIGNING_KEY: signingKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stderr = await new Response(child.stderr).text();
  return { code: await child.exited, stderr: stderr.trim() };
}

describe.skipIf(IS_BUNDLED_PASS)("a release", () => {
  test("is signed with the key of the environment and accepts its next release", async () => {
    await using folder = await temporaryFolder();
    const keys = createKeys();
    const out = join(folder.path, "bin/offcut");
    await writeFile(join(folder.path, "release.key"), keys.secretText);
    expect(await pack(out, join(folder.path, "release.key"))).toMatchObject({ code: 0 });
    expect((await readdir(join(folder.path, "bin"))).sort()).toEqual(["offcut", "offcut.minisig"]);
    await writeFile(join(folder.path, "release.pub"), keys.publicText);
    if (MINISIGN !== null) {
      const { exitCode, stdout } = Bun.spawnSync([MINISIGN, "-V", "-p", "release.pub", "-m", "bin/offcut"], {
        cwd: folder.path,
      });
      expect([exitCode, stdout.toString()]).toEqual([
        0,
        expect.stringMatching(/file:offcut\thashed\tversion:\d+\.\d+\.\d+/),
      ]);
    }
    const next = join(folder.path, "next");
    await writeFile(next, `#!/bin/sh\necho '{"version":"9.9.9","migrations":null,"duration_ms":1}'\n`);
    await chmod(next, 0o755);
    await linkExtractedAssets(folder.path);
    const check = () => runOffcut(["upgrade", "--check", next], { folder: folder.path, executable: out });
    await sign(next, keys);
    expect(await check()).toMatchObject({ code: 0, stdout: "Offcut 9.9.9: there is no database to migrate.\n" });
    await sign(next, createKeys());
    expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining("it was signed with key") });
  });

  test.each([
    ["", "set it to a secret key of minisign -G -W, or to the path of its file"],
    ["/nowhere/release.key", "/nowhere/release.key: file not found"],
    [createKeys().publicText, "not a minisign secret key"],
  ])("is not built with the key %j", async (key, reason) => {
    await using folder = await temporaryFolder();
    expect(await pack(join(folder.path, "offcut"), key)).toEqual({
      code: 1,
      stderr: `package: OFFCUT_SIGNING_KEY: ${reason}`,
    });
    expect(await readdir(folder.path)).toEqual([]);
  });
});
