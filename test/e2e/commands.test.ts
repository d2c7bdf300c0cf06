import { describe, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../http/client";
import { temporaryFolder } from "../temporary-folder";
import { folderWithAssets } from "./extracted-assets";
import { IS_BUNDLED_PASS, runOffcut } from "./offcut";
import { admin, BUNDLED, startServer } from "./server";

type Account = { id: string; email: string; credits: number; is_admin: boolean };
const LONG = 60_000;

/** Returns the exit code and the error line of a failed command. */
async function refusal(folder: string, args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runOffcut(args, { folder, env });
  const lines = stderr.trimEnd().split("\n");
  expect([stdout, lines.length]).toEqual(["", 1]);
  return `${code} ${lines[0]}`;
}

describe.skipIf(IS_BUNDLED_PASS)("administrative commands", () => {
  test(
    "create, list and revoke join tokens of workers with and without a running server",
    async () => {
      await using folder = await folderWithAssets();
      const token = (...args: string[]) => runOffcut(["worker", "token", ...args], { folder: folder.path });
      const created = await token("create", "--name", "desk");
      expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^wt_[0-9A-Za-z]{43}\n$/)]);
      expect(await refusal(folder.path, ["worker", "token", "create", "--name", "desk"])).toMatch(/^1 .*"desk" exists/);
      expect(await refusal(folder.path, ["worker", "token", "create", "--name", "my desk"])).toMatch(/^1 .*letters/);
      expect(await refusal(folder.path, ["worker", "token", "revoke", "attic"])).toMatch(/^1 .*not found/);
      expect(await refusal(folder.path, ["worker", "token", "create"])).toMatch(/^2 .*--name/);
      expect((await token("list")).stdout).toMatch(/^NAME .*\ndesk /);
      expect((await token("revoke", "desk")).code).toBe(0);

      await using server = await startServer(BUNDLED);
      const made = await admin<{ token: string }>(server.folder, "worker", "token", "create", "--name", "desk");
      const listed = await admin<{ items: object[] }>(server.folder, "worker", "token", "list");
      expect(listed.items).toEqual([expect.objectContaining({ name: "desk", worker_id: null })]);
      expect(JSON.stringify(listed)).not.toContain(made.token);
      await admin(server.folder, "worker", "token", "revoke", "desk");
      expect(await admin<{ items: object[] }>(server.folder, "worker", "token", "list")).toEqual({ items: [] });
    },
    LONG,
  );

  test(
    "create accounts and keys with and without a running server",
    async () => {
      await using folder = await temporaryFolder();
      const early = await admin<Account>(
        folder.path,
        ...["user", "create", "--email", "Early@Example.test", "--password", "-", "--credits", "7", "--admin"],
      );
      expect(early).toMatchObject({ email: "early@example.test", credits: 7, is_admin: true });
      const { key } = await admin<{ key: string }>(folder.path, "key", "create", "--email", early.email);
      expect((await stat(join(folder.path, "data"))).mode & 0o777).toBe(0o700);
      expect((await stat(join(folder.path, "data/secrets.json"))).mode & 0o777).toBe(0o600);

      const bare = await runOffcut(["key", "create", "--email", early.email, "--name", "second"], {
        folder: folder.path,
      });
      expect(bare.stdout).toMatch(/^sk_[0-9A-Za-z]{40}\n$/);

      await using server = await startServer(BUNDLED);
      const late = await server.user(11);
      expect(await late.must("GET", "/v1/users/me")).toMatchObject({ id: late.userId });
      expect((await stat(join(server.data, "control.sock"))).mode & 0o777).toBe(0o600);
      const granted = await admin<Account>(
        server.folder,
        "user",
        "grant",
        "--email",
        "user1@example.test",
        "--credits",
        "4",
      );
      expect(granted.credits).toBe(15);
      const listed = await admin<{ items: Account[] }>(server.folder, "user", "list");
      expect(listed.items.map((account) => [account.email, account.credits])).toEqual([["user1@example.test", 15]]);
      const stranger = createClient(server.url, key, early.id);
      expect((await stranger.call("GET", "/v1/users/me")).status).toBe(401);

      await server.terminate();
      const after = await admin<{ items: Account[] }>(server.folder, "user", "list");
      expect(after).toEqual(listed);
    },
    LONG,
  );

  test(
    "fail with one line and an exit code",
    async () => {
      await using folder = await folderWithAssets();
      const refused = (...args: string[]) => refusal(folder.path, args);
      expect(await refused("user", "create", "--password", "correct horse")).toBe(
        "2 offcut user: Missing option --email.",
      );
      expect(await refused("user", "grant", "--email", "a@b", "--credits", "many")).toBe(
        "2 offcut user: --credits must be a whole number.",
      );
      for (const command of ["serve", "doctor", "licenses"]) {
        expect(await refused(command, "now")).toBe(`2 offcut ${command}: Unexpected argument "now".`);
      }
      expect(await refused("cut", "--mod")).toBe("2 offcut cut: Unknown option '--mod'. See offcut cut --help.");
      expect(await refused("user", "refund")).toBe("2 offcut user: Missing option --asset.");
      expect(await refused("user", "delete")).toBe(
        '2 offcut user: Unknown action "user delete". See offcut user --help.',
      );
      expect(await refused("key", "create", "--email", "nobody@example.test")).toBe(
        "1 offcut key: Account nobody@example.test not found.",
      );
      expect(await refused("key", "create", "--email", "a@b", "--expires", "soon")).toBe(
        "2 offcut key: --expires must be an ISO 8601 date or time, such as 2027-01-31T18:00Z.",
      );
      expect(await refused("key", "revoke")).toBe("2 offcut key: Missing key ID. See offcut key list.");
      expect(await refused("key", "revoke", "none")).toBe(
        '1 offcut key: API key "none" not found. offcut key list shows the IDs.',
      );
      expect(await refused("key", "list", "all")).toBe('2 offcut key: Unexpected argument "all".');
      expect(await refused("user", "disable")).toBe("2 offcut user: Missing option --email.");
      expect(await refused("user", "disable", "--email", "nobody@example.test")).toBe(
        "1 offcut user: Account nobody@example.test not found.",
      );
      expect(await refused("user", "create", "--email", "a@b", "--password", "short")).toStartWith(
        "1 offcut user: Password must have",
      );
    },
    LONG,
  );

  test(
    "manage keys and accounts while no server runs",
    async () => {
      await using folder = await folderWithAssets();
      const email = "anna@example.test";
      await admin(folder.path, "user", "create", "--email", email, "--password", "-", "--admin");
      type Key = { id: string; prefix: string };
      const made = await admin<Key>(folder.path, "key", "create", "--email", email, "--expires", "2999-01-01");
      const table = await runOffcut(["key", "list"], { folder: folder.path });
      expect(table.stdout).toMatch(/^ID .*EXPIRES\n[0-9a-f-]{36} {2}anna@example.test .*never +2999-01-01T00:00Z\n$/);
      const revoked = await runOffcut(["key", "revoke", made.id], { folder: folder.path });
      expect([revoked.code, revoked.stdout]).toEqual([0, `Revoked ${made.prefix}… of ${email}.\n`]);
      expect(await refusal(folder.path, ["key", "revoke", made.id])).toStartWith("1 offcut key: API key");
      expect(await admin<unknown>(folder.path, "key", "list")).toEqual({ items: [] });
      expect(await refusal(folder.path, ["user", "disable", "--email", email])).toBe(
        "1 offcut user: anna@example.test is the last administrator. Create another one first.",
      );
      await admin(folder.path, "user", "create", "--email", "bert@example.test", "--password", "-");
      const disabled = await runOffcut(["user", "disable", "--email", "bert@example.test"], { folder: folder.path });
      expect(disabled.stdout).toMatch(/^bert@example.test {2}6000 credits {2}disabled {2}/);
    },
    LONG,
  );

  test(
    "fail with the same message when a server is running",
    async () => {
      await using server = await startServer(BUNDLED);
      expect(await refusal(server.folder, ["key", "create", "--email", "nobody@example.test"])).toBe(
        "1 offcut key: Account nobody@example.test not found.",
      );
    },
    LONG,
  );

  test(
    "read the password from standard input only on request",
    async () => {
      await using folder = await folderWithAssets();
      const create = ["user", "create", "--email", "a@example.test"];
      expect(await refusal(folder.path, create)).toStartWith("2 offcut user: Missing option --password.");
      const made = await runOffcut([...create, "--password", "-"], { folder: folder.path, stdin: "correct horse\n" });
      expect([made.code, made.stderr]).toEqual([0, ""]);
      expect(made.stdout).toContain("a@example.test  6000 credits");
    },
    LONG,
  );
});

describe.skipIf(IS_BUNDLED_PASS)("settings", () => {
  test.each<[string, string[], Record<string, string>, string]>([
    ["an unknown variable", [], { OFFCUT_PROT: "1" }, 'OFFCUT_PROT: unknown setting "prot"'],
    ["a bad variable", [], { OFFCUT_PORT: "http" }, "OFFCUT_PORT: port must be an integer from 0 to 65535"],
    ["a bad flag", ["--max-uploads", "0"], {}, "--max-uploads: max_uploads must be an integer from 1"],
    ["an unknown flag", ["--prot", "1"], {}, "--prot"],
    ["a missing file", ["--config", "/nowhere.toml"], {}, "/nowhere.toml: configuration file not found"],
    ["a certificate without its key", ["--tls-cert", "a.pem"], {}, "tls_cert and tls_key must be set together"],
    ["a missing certificate", ["--tls-cert", "a.pem", "--tls-key", "b.pem", "--port", "0"], {}, "a.pem"],
    ["an address of another machine", ["--host", "203.0.113.7", "--port", "0"], {}, "203.0.113.7"],
    ["an ffmpeg that is not ffmpeg", ["--ffmpeg", "/bin/true", "--port", "0"], {}, "/bin/true"],
  ])(
    "%s fails the start with one line that names it",
    async (_, args, env, expected) => {
      await using folder = await folderWithAssets();
      const { code, stderr } = await runOffcut(["serve", ...args], { folder: folder.path, env });
      const said = `${code} ${stderr.trimEnd()}`;
      expect(said).toMatch(/^[12] offcut serve: /);
      expect(said).toContain(expected);
      expect(said).not.toContain("\n");
    },
    LONG,
  );

  test(
    "and a database that is none stop the start",
    async () => {
      await using folder = await folderWithAssets();
      const path = join(folder.path, "data/offcut.db");
      await Bun.write(path, "This is no database. ".repeat(100));
      expect(await refusal(folder.path, ["user", "list"])).toStartWith(
        `2 offcut user: cannot open the database ${path}`,
      );
      expect(await Bun.file(path).text()).toStartWith("This is no database.");
    },
    LONG,
  );

  test(
    "come from a file, and what a file cannot know is named",
    async () => {
      await using folder = await folderWithAssets();
      const file = join(folder.path, "offcut.toml");
      await Bun.write(file, "signup_credits = 3\n");
      const create = ["user", "create", "--email", "a@example.test", "--password", "correct horse", "--config", file];
      expect((await runOffcut(create, { folder: folder.path })).stdout).toContain("3 credits");
      await Bun.write(file, "[server]\nport = 1\n");
      expect(await refusal(folder.path, create)).toBe(`2 offcut user: ${file}: unknown setting "server"`);
    },
    LONG,
  );
});

test.skipIf(IS_BUNDLED_PASS)(
  "the server's log contains no secret",
  async () => {
    await using server = await startServer(BUNDLED);
    const user = await server.user();
    await user.must("GET", "/v1/users/me");
    await user.project("Secret plans");
    const log = JSON.stringify(server.log());
    expect(log).toContain('"event":"server.started"');
    for (const secret of [user.key!, "correct horse", "Secret plans", "signature="]) expect(log).not.toContain(secret);
  },
  LONG,
);
