import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chown, mkdir, readdir, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { version } from "../../package.json";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { HAS_SYSTEM_FFMPEG, runOffcut, startOffcut } from "./offcut";

const SECONDS = 1000;
/** What the start may take once the files inside have been taken out, and the memory of a server without work. */
const START_MS = 1_500;
const RESIDENT_MB = 200;

type Doctor = {
  version: string;
  checks: { name: string; state: string; about: string }[];
  settings: { data_dir: string };
};

describe("the executable alone in a folder", () => {
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder[Symbol.asyncDispose]());
  const run = (args: string[], env?: Record<string, string>) => runOffcut(args, { folder: folder.path, env });

  test("knows its version, its help, and what is no command", async () => {
    expect((await run(["version", "--help"])).stdout).toContain("Prints the version");
    expect(await run(["version"])).toEqual({ code: 0, stdout: `offcut ${version}\n`, stderr: "" });
    expect((await run(["--help"])).stdout).toContain("offcut cut FILE…");
    const wrong = await run(["brew"]);
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test(
    "works without a temporary folder, and takes its files out into the data folder only",
    async () => {
      const { code, stdout, stderr } = await run(["doctor", "--json"], { TMPDIR: "/nonexistent" });
      expect(stderr).toBe("");
      const doctor = JSON.parse(stdout) as Doctor;
      expect(doctor.checks.filter((check) => check.state === "broken")).toEqual([]);
      expect(code).toBe(0);
      expect(doctor.settings.data_dir).toBe(join(folder.path, "data"));
      const ffmpeg = doctor.checks.find((check) => check.name === "ffmpeg")?.about;
      expect(ffmpeg).toContain(HAS_SYSTEM_FFMPEG ? "of the system" : "bundled");
      expect(await readdir(folder.path)).toEqual(["data"]);
      expect((await stat(join(folder.path, "data"))).mode & 0o777).toBe(0o700);
    },
    60 * SECONDS,
  );

  test(
    "warns of webhooks that may stay in the house, and of a model that is cut off",
    async () => {
      const warned = async (env: Record<string, string>) => {
        const { checks } = JSON.parse((await run(["doctor", "--json"], env)).stdout) as Doctor;
        const of = (name: string) => checks.find((check) => check.name === name)!;
        return [of("webhooks"), of("added models")].map(({ state, about }) => `${state}: ${about}`);
      };
      expect(await warned({})).toEqual([
        "ok: go to public addresses only",
        "ok: none: other languages than English are cut by their pauses alone",
      ]);
      const model = join(folder.path, "data/models/parakeet");
      await mkdir(model, { recursive: true });
      const [webhooks, models] = await warned({ OFFCUT_WEBHOOKS_ALLOW_PRIVATE: "true" });
      expect(webhooks).toStartWith("warning: may also go to the private network (webhooks_allow_private)");
      expect(models).toStartWith("warning: parakeet is damaged: ");
      await rm(join(folder.path, "data/models"), { recursive: true });
    },
    60 * SECONDS,
  );

  test("prints the licences of what is inside", async () => {
    const { code, stdout } = await run(["licenses"]);
    expect(code).toBe(0);
    for (const name of ["ffmpeg", "Moonshine", "Silero", "onnxruntime", "elysia"]) expect(stdout).toContain(name);
  });

  test("repairs a damaged file at the next start", async () => {
    const assets = join(folder.path, "data/assets");
    const [id] = await readdir(assets);
    const ffmpeg = join(assets, id!, "ffmpeg");
    const { size } = await stat(ffmpeg);
    await truncate(ffmpeg, 1_000);
    expect((await run(["licenses"])).code).toBe(0);
    expect((await stat(ffmpeg)).size).toBe(size);
  });
});

test("two starts at once take the files out once", async () => {
  await using folder = await temporaryFolder();
  const runs = await Promise.all([1, 2, 3].map(() => runOffcut(["licenses"], { folder: folder.path })));
  expect(runs.map((run) => [run.code, run.stderr])).toEqual([
    [0, ""],
    [0, ""],
    [0, ""],
  ]);
  expect(await readdir(join(folder.path, "data/assets"))).toHaveLength(1);
}, 30_000);

test.skipIf(process.getuid?.() !== 0)(
  "a data folder of somebody else is left alone",
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
    expect(server.stderr).toContain("belongs to user 65534");
  },
  30_000,
);

test("what lies in the working folder changes nothing", async () => {
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
    "is ready fast and small on its second start, and stops cleanly",
    async () => {
      await using folder = await temporaryFolder();
      const first = await startOffcut({ folder: folder.path });
      expect(await first.stop()).toBe(0);
      await using second = await startOffcut({ folder: folder.path });
      const ready = second.log.find((line) => line.event === "ready") as { milliseconds: number; resident_mb: number };
      expect(ready.milliseconds).toBeLessThan(START_MS);
      expect(ready.resident_mb).toBeLessThan(RESIDENT_MB);
      expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
      expect(await second.stop()).toBe(0);
      await expect(fetch(`${second.url}/healthz`)).rejects.toThrow();
    },
    60 * SECONDS,
  );

  test(
    "is refused on a folder that another one has, and on a taken port",
    async () => {
      await using folder = await temporaryFolder();
      await using running = await startOffcut({ folder: folder.path });
      const port = new URL(running.url).port;
      const sameFolder = await runOffcut(["serve", "--port", "0"], { folder: folder.path });
      const other = join(folder.path, "other");
      await mkdir(other);
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
