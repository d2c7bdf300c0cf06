/** Off-site backups with the executable only: the recovery key, a running server, and an empty machine. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BUCKET, startS3Server } from "../s3-server";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { linkExtractedAssets } from "./extracted-assets";
import { EXECUTABLE, IS_BUNDLED_PASS, type RunOptions, runOffcut, SEARCH_PATH, startOffcut } from "./offcut";
import { BUNDLED } from "./server";

const LONG = 120_000;
const KEY = /[0-9A-HJKMNP-TV-Z]{7}(?:-[0-9A-HJKMNP-TV-Z]{7}){7}/;
const PLACE = `s3://${BUCKET}/office`;

/** Runs the executable on a terminal, and types when it asks. Returns the output of the terminal. */
async function typeInto(args: string[], { folder, env }: RunOptions, keys: string) {
  let output = "";
  const child = Bun.spawn([EXECUTABLE, ...args], {
    cwd: folder,
    env: { PATH: SEARCH_PATH, HOME: folder, OFFCUT_DATA_DIR: join(folder, "data"), ...env },
    terminal: {
      data: (_terminal, bytes) => {
        output += Buffer.from(bytes).toString();
      },
    },
  });
  await until("the question", () => output.includes(": "));
  child.terminal!.write(keys);
  const code = await child.exited;
  return { code, output };
}

test.skipIf(IS_BUNDLED_PASS)(
  "a server is backed up to a bucket, and restored on an empty machine with the key that was shown once",
  async () => {
    await using s3 = await startS3Server();
    await using first = await temporaryFolder();
    await using second = await temporaryFolder();
    const secret = "secret-of-the-bucket";
    const env = { ...s3.env, OFFCUT_FFMPEG: BUNDLED.FFMPEG, AWS_SECRET_ACCESS_KEY: secret };
    const run = (args: string[], more: Record<string, string> = {}, folder = first.path) =>
      runOffcut(args, { folder, env: { ...env, ...more } });
    for (const folder of [first.path, second.path]) await linkExtractedAssets(folder);

    const leaked = await run(["backup", "s3://AKIA:word@backups/x"]);
    expect(leaked.code).toBe(2);
    expect(leaked.stderr).toMatch(/^offcut backup: The URL of the bucket must not contain credentials\. [^:]+$/);

    const server = await startOffcut({ folder: first.path, env });
    await run(["user", "create", "--email", "ada@example.test", "--password", "correct horse battery"]);
    const created = await run(["backup", PLACE]);
    expect(created).toMatchObject({ code: 0, stderr: "" });
    const [key = ""] = KEY.exec(created.stdout) ?? [];
    expect(created.stdout).toContain("shown only now");
    expect(created.stdout).toContain(`to ${PLACE}/offcut-`);
    const again = await run(["backup", PLACE, "--json"]);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).not.toMatch(KEY);
    expect(JSON.parse(again.stdout)).toMatchObject({ copied_files: 0, missing: [] });
    const verified = await run(["backup", "--verify", PLACE, "--sample", "5%"]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("is intact") });
    await server.stop();
    expect(JSON.stringify(server.log)).not.toContain(secret);
    expect(JSON.stringify(server.log)).not.toContain(key);

    // Another machine has nothing but the credentials and the key.
    const restore = (more: Record<string, string>, ...options: string[]) =>
      run(["restore", PLACE, ...options], more, second.path);
    expect(await restore({})).toMatchObject({ code: 2, stderr: expect.stringContaining("Missing recovery key") });
    const wrong = await restore({ OFFCUT_BACKUP_KEY: `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}` });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Recovery key is mistyped") });
    // The key is prompted for on a terminal, and not shown.
    const typed = await typeInto(["restore", PLACE], { folder: second.path, env }, `${key.slice(0, -2)}x\x7f\r`);
    expect(typed.code).toBe(1);
    expect(typed.output).toMatch(
      /^Recovery key: \r\noffcut restore: A recovery key has 56 characters, but this one has 54\./,
    );
    const file = join(second.path, "key.txt");
    await writeFile(file, `${key.toLowerCase()}\n`);
    const restored = await restore({}, "--key-file", file);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toStartWith(`Restored ${PLACE}/offcut-`);
    const users = await run(["user", "list", "--json"], {}, second.path);
    expect(users.stdout).toContain("ada@example.test");
    // The restored server continues with the same key.
    const next = await run(["backup", PLACE], {}, second.path);
    expect(next).toMatchObject({ code: 0, stdout: expect.not.stringMatching(KEY) });
    const shown = await run(["doctor", "--json"], { OFFCUT_BACKUP_KEY: key }, second.path);
    expect(JSON.parse(shown.stdout).settings.backup_key).toBe("***");
    expect(shown.stdout).not.toContain(key);
  },
  LONG,
);
