/**
 * Code that runs as the job's child, as a hijacked decoder would. It is configured as the ffmpeg: a script that looks
 * around before it becomes the bundled ffmpeg, and fails if it can reach anything that it must not.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../../src/lib/programs";
import { linkExtractedAssets } from "../e2e/extracted-assets";
import { runOffcut, SEARCH_PATH, startOffcut } from "../e2e/offcut";
import { createUser } from "../e2e/server";
import { type Client, createClient } from "../http/client";
import { video } from "../http/media";
import { temporaryFolder } from "../temporary-folder";

const SECONDS = 1_000;

type Doctor = { checks: { name: string; state: string; about: string }[] };

/** Returns the result of `doctor` about the sandbox. */
async function sandboxCheck(folder: string, env: Record<string, string>): Promise<{ state: string; about: string }> {
  const { stdout } = await runOffcut(["doctor", "--json"], { folder, env });
  const found = (JSON.parse(stdout) as Doctor).checks.find((check) => check.name === "sandbox");
  if (found === undefined) throw new Error("doctor does not check the sandbox");
  return found;
}

/** Returns whether this machine supports the required features of `bwrap`, tried without the product. */
function tryBwrap(): string | null {
  const bwrap = findProgram("bwrap", undefined);
  if (bwrap === null) return "bwrap is not installed";
  const namespaces = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
  const { success, stderr } = Bun.spawnSync([bwrap, ...namespaces, "/bin/true"]);
  return success ? null : stderr.toString().trim();
}

const problem = tryBwrap();
if (problem !== null) console.log(`skipped: the tests of code in bwrap, because it does not work here: ${problem}`);

async function userOf(folder: string, url: string): Promise<Client> {
  const { id, key } = await createUser(join(folder, "data"), "a@example.test", 1_000);
  return createClient(() => url, key, id, 90);
}

/** A server whose ffmpeg is the script `spy`, which leaves its findings in the file `seen` where it can. */
async function startSpied(env: Record<string, string>) {
  const folder = await temporaryFolder();
  let requests = 0;
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      requests++;
      return new Response("no");
    },
  });
  const data = join(folder.path, "data");
  const ffmpeg = join(folder.path, "ffmpeg");
  await Bun.write(ffmpeg, spy({ data, seen: join(folder.path, "seen"), url: `http://127.0.0.1:${listener.port}/` }));
  await chmod(ffmpeg, 0o755);
  await linkExtractedAssets(folder.path);
  const server = await startOffcut({
    folder: folder.path,
    env: { OFFCUT_RATE_LIMIT: "0", OFFCUT_FFMPEG: ffmpeg, ...env },
  });
  return {
    client: await userOf(folder.path, server.url),
    log: server.log,
    requests: () => requests,
    wroteToDataFolder: () => Bun.file(join(data, "new")).exists(),
    findings: async () => {
      const seen = Bun.file(join(folder.path, "seen"));
      return (await seen.exists()) ? [...new Set((await seen.text()).trim().split("\n"))].sort() : [];
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await listener.stop(true);
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Looks around whenever it is called on a recording, using only shell built-ins. */
const spy = ({ data, seen, url }: { data: string; seen: string; url: string }) => `#!/bin/sh
for real in ${data}/assets/*/ffmpeg; do :; done
case "$*" in *file:${data}/*) ;; *) exec "$real" "$@" ;; esac
found=
finds() { found=1; echo "$1" >&2; { echo "$1" >>${seen}; } 2>/dev/null; }
for path in /etc/passwd /etc/hostname /home /root /var /usr/bin/env; do [ -e "$path" ] && finds "$path"; done
for path in ${data}/*; do
  case $path in */assets|*/media|*/work|*/new) ;; *) finds "data folder: \${path##*/}" ;; esac
done
set_of() { echo $#; }
[ "$(set_of ${data}/media/*)" -gt 1 ] && finds "another asset"
[ "$(set_of /proc/[0-9]*)" -gt 9 ] && finds "other processes"
while read -r name rest; do case $name in *:*) [ "$name" = lo: ] || finds "network: $name" ;; esac; done </proc/net/dev
(: >${data}/new) 2>/dev/null
for path in ${data}/media/*; do (: >>$path/source) 2>/dev/null && finds "can change the source"; done
"$real" -v quiet -nostdin -i ${url} -f null - </dev/null >/dev/null 2>&1
[ -z "$found" ] || exit 1
exec "$real" "$@"
`;

/** Uploads two recordings, the second once the first is prepared; returns the states they end in. */
async function prepareTwo(client: Client): Promise<string[]> {
  const states: string[] = [];
  for (let n = 0; n < 2; n++) states.push((await client.prepared(await client.upload(await video(2)))).state);
  return states;
}

describe.skipIf(problem !== null)("code that runs as a job's child", () => {
  test(
    "sees no network, no other recording, no secret, and changes nothing but its scratch folder",
    async () => {
      await using spied = await startSpied({});
      const states = await prepareTwo(spied.client);
      expect(await spied.findings()).toEqual([]);
      expect(states).toEqual(["ready", "ready"]);
      expect(spied.requests()).toBe(0);
      expect(await spied.wroteToDataFolder()).toBe(false);
      expect(spied.log.find((line) => line.event === "sandbox.selected")).toMatchObject({
        level: "info",
        mode: "bwrap",
      });
    },
    120 * SECONDS,
  );

  test(
    "sees all of it when the sandbox is off: the test would notice",
    async () => {
      await using spied = await startSpied({ OFFCUT_SANDBOX: "off" });
      const states = await prepareTwo(spied.client);
      expect(states).toEqual(["failed", "failed"]);
      expect(await spied.findings()).toEqual(
        expect.arrayContaining(["/etc/passwd", "another asset", "data folder: offcut.db"]),
      );
      expect(spied.requests()).toBeGreaterThan(0);
      expect(await spied.wroteToDataFolder()).toBe(true);
      expect(spied.log.find((line) => line.event === "sandbox.selected")).toMatchObject({
        level: "warn",
        mode: "none",
      });
    },
    120 * SECONDS,
  );
});

describe("a machine without a bwrap that works", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let path = "";
  beforeAll(async () => {
    folder = await temporaryFolder();
    path = `${join(folder.path, "bin")}:${SEARCH_PATH}`;
    await mkdir(join(folder.path, "bin"));
    const bwrap = join(folder.path, "bin/bwrap");
    await Bun.write(bwrap, "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n");
    await chmod(bwrap, 0o755);
    await linkExtractedAssets(folder.path);
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  test(
    "prepares recordings all the same; the log and doctor warn with the reason",
    async () => {
      const { state, about } = await sandboxCheck(folder.path, { PATH: path });
      expect(state).toBe("warning");
      expect(about).toMatch(/^(unshare|none): /);
      expect(about).toContain("bwrap does not work here (bwrap: No permissions to create a new namespace)");
      await using server = await startOffcut({ folder: folder.path, env: { PATH: path, OFFCUT_RATE_LIMIT: "0" } });
      const client = await userOf(folder.path, server.url);
      expect((await client.prepared(await client.upload(await video(2)))).state).toBe("ready");
      expect(server.log.find((line) => line.event === "sandbox.selected")).toMatchObject({ level: "warn" });
    },
    120 * SECONDS,
  );

  test(
    "does not start when the settings require bwrap",
    async () => {
      const env = { PATH: path, OFFCUT_SANDBOX: "require" };
      const { code, stderr } = await runOffcut(["serve", "--port", "0"], { folder: folder.path, env });
      expect(code).not.toBe(0);
      expect(stderr).toContain('sandbox is "require", but bwrap does not work here');
      expect(stderr.trim().split("\n")).toHaveLength(1);
    },
    60 * SECONDS,
  );
});
