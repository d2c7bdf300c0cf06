import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chown, mkdir, readdir, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { version } from "../../package.json";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { folderWithAssets, linkExtractedAssets } from "./extracted-assets";
import { HAS_SYSTEM_FFMPEG, IS_BUNDLED_PASS, runOffcut, startOffcut } from "./offcut";
import { memoryOf } from "./server";

/** For tests that do not depend on the ffmpeg in use. */
const once = test.skipIf(IS_BUNDLED_PASS);
const SECONDS = 1000;
/**
 * Limits of a start whose files have been extracted, and of a server without work. They are printed next to the
 * measurements.
 */
const MAX_START_SECONDS = 0.5;
const MAX_IDLE_MEGABYTES = 120;
/**
 * A machine on which other tests run is slower, so only this many times the limit of a start fails. Memory does not
 * depend on the load.
 */
const BUSY_FACTOR = 20;
const STARTS = 3;
const IDLE_MS = 1_000;
/** A busy machine needs several. */
const IDLE_READINGS = 10;

type Doctor = {
  version: string;
  checks: { name: string; state: string; about: string }[];
  settings: { data_dir: string };
};

describe("the executable in an empty folder", () => {
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder[Symbol.asyncDispose]());
  const run = (args: string[], env?: Record<string, string>) => runOffcut(args, { folder: folder.path, env });

  once("prints its version and help, and rejects an unknown command", async () => {
    expect((await run(["version", "--help"])).stdout).toContain("Prints the version");
    expect((await run(["help", "cut"])).stdout).toStartWith("Usage: offcut cut FILE…");
    expect(await run(["version"])).toEqual({ code: 0, stdout: `offcut ${version}\n`, stderr: "" });
    expect((await run(["--help"])).stdout).toContain("cut FILE…");
    const wrong = await run(["brew"]);
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test(
    "works without a temporary folder, and extracts its assets only to the data folder",
    async () => {
      const { code, stdout, stderr } = await run(["doctor", "--json"], { TMPDIR: "/nonexistent" });
      expect(stderr).toBe("");
      const doctor = JSON.parse(stdout) as Doctor;
      expect(doctor.checks.filter((check) => check.state === "broken")).toEqual([]);
      expect(code).toBe(0);
      expect(doctor.settings.data_dir).toBe(join(folder.path, "data"));
      const ffmpeg = doctor.checks.find((check) => check.name === "ffmpeg")?.about;
      expect(ffmpeg).toContain(HAS_SYSTEM_FFMPEG ? "from the system" : "bundled");
      expect(await readdir(folder.path)).toEqual(["data"]);
      expect((await stat(join(folder.path, "data"))).mode & 0o777).toBe(0o700);
    },
    60 * SECONDS,
  );

  once(
    "doctor warns about webhooks to private addresses and about an incomplete model",
    async () => {
      const warned = async (env: Record<string, string>) => {
        const { checks } = JSON.parse((await run(["doctor", "--json"], env)).stdout) as Doctor;
        const of = (name: string) => checks.find((check) => check.name === name)!;
        return [of("webhooks"), of("installed models")].map(({ state, about }) => `${state}: ${about}`);
      };
      expect(await warned({})).toEqual([
        "ok: public addresses only",
        "ok: none: recordings in languages other than English are cut at pauses only",
      ]);
      const model = join(folder.path, "data/models/parakeet");
      await mkdir(model, { recursive: true });
      const [webhooks, models] = await warned({ OFFCUT_WEBHOOKS_ALLOW_PRIVATE: "true" });
      expect(webhooks).toStartWith("warning: may also target private networks (webhooks_allow_private)");
      expect(models).toStartWith("warning: parakeet is damaged: ");
      await rm(join(folder.path, "data/models"), { recursive: true });
    },
    60 * SECONDS,
  );

  once(
    "doctor with the settings of a worker checks the head and Redis, and nothing of a server",
    async () => {
      const data = join(folder.path, "worker");
      const [head, redis] = ["http://127.0.0.1:9", "redis://127.0.0.1:9"];
      const env = { OFFCUT_DATA_DIR: data, OFFCUT_HEAD: head, OFFCUT_TOKEN: "wt_secret", OFFCUT_REDIS: redis };
      const { code, stdout } = await run(["doctor"], env);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^FAIL {2}head +http:\/\/127\.0\.0\.1:9: Connection to the head failed: ECONNREFUSED\. /m);
      expect(stdout).toMatch(/^FAIL {2}redis +127\.0\.0\.1:9 cannot be used: /m);
      expect(stdout).not.toMatch(
        /Storage by user|Workers:|^\S+ +(database|port|webhooks|billing|mail) |smtp_url|wt_secret/m,
      );
      expect(await Bun.file(join(data, "offcut.db")).exists()).toBe(false);
      await rm(data, { recursive: true });
    },
    60 * SECONDS,
  );

  once("prints the licenses of the bundled software", async () => {
    const { code, stdout } = await run(["licenses"]);
    expect(code).toBe(0);
    for (const name of ["ffmpeg", "Moonshine", "Silero", "onnxruntime", "elysia"]) expect(stdout).toContain(name);
  });

  once("repairs a damaged file on the next start", async () => {
    const assets = join(folder.path, "data/assets");
    const [id] = await readdir(assets);
    const ffmpeg = join(assets, id!, "ffmpeg");
    const { size } = await stat(ffmpeg);
    await truncate(ffmpeg, 1_000);
    expect((await run(["licenses"])).code).toBe(0);
    expect((await stat(ffmpeg)).size).toBe(size);
  });
});

once(
  "two concurrent starts extract the assets once",
  async () => {
    await using folder = await temporaryFolder();
    const runs = await Promise.all([1, 2, 3].map(() => runOffcut(["licenses"], { folder: folder.path })));
    expect(runs.map((run) => [run.code, run.stderr])).toEqual([
      [0, ""],
      [0, ""],
      [0, ""],
    ]);
    expect(await readdir(join(folder.path, "data/assets"))).toHaveLength(1);
  },
  30_000,
);

test.skipIf(IS_BUNDLED_PASS || process.getuid?.() !== 0)(
  "a data folder of another user is not changed",
  async () => {
    await using folder = await temporaryFolder();
    const data = join(folder.path, "data");
    await mkdir(data, { mode: 0o755 });
    await chown(data, 65_534, 65_534);
    expect((await runOffcut(["licenses"], { folder: folder.path })).code).toBe(0);
    expect(await readdir(data)).toEqual([]);
    expect(await readdir(join(folder.path, ".cache/offcut/assets"))).toHaveLength(1);
    const server = await runOffcut(["serve", "--port", "0"], { folder: folder.path });
    expect(server.code).not.toBe(0);
    expect(server.stderr).toContain("belongs to user ID 65534");
  },
  30_000,
);

once("files in the working folder have no effect", async () => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, ".env"), "OFFCUT_PORT=nonsense\n");
  await Bun.write(join(folder.path, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
  await Bun.write(join(folder.path, "preload.ts"), 'await Bun.write("preloaded", "yes");\n');
  await Bun.write(join(folder.path, "package.json"), "{ broken");
  expect((await runOffcut(["licenses"], { folder: folder.path })).code).toBe(0);
  expect(await Bun.file(join(folder.path, "preloaded")).exists()).toBe(false);
});

describe("the server", () => {
  test(
    "starts fast, uses little memory when idle, and stops cleanly",
    async () => {
      await using folder = await folderWithAssets();
      const seconds: number[] = [];
      const megabytes: number[] = [];
      for (let n = 0; n < STARTS; n++) {
        await using server = await startOffcut({ folder: folder.path });
        const ready = server.log.find((line) => line.event === "server.started") as { startup_ms: number };
        seconds.push(ready.startup_ms / 1000);
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
        // Garbage of the start is collected while the server is idle.
        let used = Number.POSITIVE_INFINITY;
        for (let n = 0; n < IDLE_READINGS && used >= MAX_IDLE_MEGABYTES; n++) {
          await Bun.sleep(IDLE_MS);
          used = await memoryOf(server.pid, "VmRSS");
        }
        megabytes.push(used);
        expect(await server.stop()).toBe(0);
        await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
      }
      const [start, idle] = [Math.min(...seconds), Math.max(...megabytes)];
      console.log(
        `start: ${start.toFixed(2)} s (limit ${MAX_START_SECONDS} s), idle: ${idle.toFixed(0)} MB resident (limit ${MAX_IDLE_MEGABYTES} MB)`,
      );
      expect(start).toBeLessThan(BUSY_FACTOR * MAX_START_SECONDS);
      expect(idle).toBeLessThan(MAX_IDLE_MEGABYTES);
    },
    60 * SECONDS,
  );

  once(
    "does not start on a locked folder or a used port",
    async () => {
      await using folder = await folderWithAssets();
      await using running = await startOffcut({ folder: folder.path });
      const port = new URL(running.url).port;
      const sameFolder = await runOffcut(["serve", "--port", "0"], { folder: folder.path });
      const other = join(folder.path, "other");
      await linkExtractedAssets(other);
      const samePort = await runOffcut(["serve", "--port", port], { folder: other });
      for (const refused of [sameFolder, samePort]) {
        expect(refused.code).not.toBe(0);
        expect(refused.stderr.trimEnd().split("\n")).toHaveLength(1);
      }
      expect(sameFolder.stderr).toContain(join(folder.path, "data"));
      expect(samePort.stderr).toContain(port);
    },
    60 * SECONDS,
  );
});
