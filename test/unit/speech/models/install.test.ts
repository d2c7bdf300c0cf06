import { describe, expect, test } from "bun:test";
import { chmod, exists, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { lockFolder } from "../../../../src/lib/folder-lock";
import { installByName, installFromFile, removeModel } from "../../../../src/speech/models/install";
import { readInstalledModels } from "../../../../src/speech/models/installed-models";
import { MANIFEST_NAME } from "../../../../src/speech/models/manifest";
import { recordDiskCalls } from "../../../disk-calls";
import { temporaryFolder } from "../../../temporary-folder";
import { FILES, modelFolder, noise, sha256, smallCatalog, startHub } from "./test-models";

const QUICK = { tries: 2, pauseMs: 1 };
const names = (modelsDir: string) => readInstalledModels(modelsDir).installed.map(({ manifest }) => manifest.name);
const codeOf = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => "nothing was thrown",
    (error) => `${error.code ?? error.name}: ${error.message}`,
  );
/** Asserts that neither a model nor leftovers of a crash exist. */
async function expectNothing(modelsDir: string): Promise<void> {
  expect(readInstalledModels(modelsDir)).toEqual({ installed: [], damaged: [] });
  expect((await readdir(modelsDir)).filter((name) => name !== "lock" && name !== ".partial")).toEqual([]);
}

describe("installing by name", () => {
  test("downloads every file from its publisher, and nothing the second time", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    const modelsDir = join(folder.path, "data/models");
    const seen: [string, number][] = [];
    const options = { modelsDir, catalog: smallCatalog(hub.url), ...QUICK };
    const added = await installByName("small", { ...options, onProgress: (stage, share) => seen.push([stage, share]) });
    expect([added.isNew, added.unchecked]).toEqual([true, []]);
    expect((await readdir(join(modelsDir, "small"))).sort()).toEqual([...Object.keys(FILES), MANIFEST_NAME].sort());
    for (const [name, data] of Object.entries(FILES))
      expect(await Bun.file(join(modelsDir, "small", name)).bytes()).toEqual(data);
    expect(readInstalledModels(modelsDir).installed[0]!.manifest).toMatchObject({
      name: "small",
      kind: "whisper",
      languages: ["en", "de", "fr"],
    });
    expect(seen.map(([, share]) => share)).toEqual(seen.map(([, share]) => share).sort((a, b) => a - b));
    expect(seen.at(-1)).toEqual(["download", 1]);
    expect(hub.requests.map((r) => r.path)).toEqual(Object.keys(FILES).map((name) => `/upstream/${name}`));

    expect((await installByName("small", options)).isNew).toBe(false);
    expect(hub.requests).toHaveLength(3);
  });

  test("files and their names are on disk before the folder gets the name of the model", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    using disk = recordDiskCalls({ folder: folder.path });
    await installByName("small", { modelsDir: folder.path, catalog: smallCatalog(hub.url), ...QUICK });
    expect(disk.calls.slice(-3)).toEqual(["flush .partial/small", "rename small", "flush ."]);
  });

  test("a mirror is used instead, with the checksums of the catalog", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    const options = { modelsDir: folder.path, catalog: smallCatalog(), mirror: `${hub.url}/models/`, ...QUICK };
    await installByName("small", options);
    expect(hub.requests[0]!.path).toBe("/models/small/tiny-encoder.onnx");

    await removeModel("small", options);
    await using forged = startHub(undefined, { ...FILES, "tiny-decoder.onnx": noise(120_000, 66) });
    const error = await codeOf(installByName("small", { ...options, mirror: forged.url }));
    expect(error).toMatch(/^upstream_error: .*tiny-decoder.onnx.*checksum/);
    await expectNothing(folder.path);
  });

  test("a mirror may serve its own models with a manifest", async () => {
    await using folder = await temporaryFolder();
    const files = Object.entries(FILES).map(([name, data], i) => ({
      role: ["encoder", "decoder", "tokens"][i],
      name,
      size_bytes: data.length,
      sha256: sha256(data),
    }));
    const manifest = (part: object) =>
      new TextEncoder().encode(JSON.stringify({ name: "own", kind: "whisper", languages: ["gsw"], files, ...part }));
    await using hub = startHub(undefined, { ...FILES, [MANIFEST_NAME]: manifest({}) });
    const options = { modelsDir: folder.path, catalog: [], mirror: hub.url, ...QUICK };
    expect((await installByName("own", options)).manifest.languages).toEqual(["gsw"]);

    await removeModel("own", options);
    const open = files.map((file) => ({ ...file, sha256: undefined }));
    const wrong = [manifest({ name: "other" }), manifest({ files: open }), new TextEncoder().encode("<html>")];
    for (const data of wrong) {
      await using bad = startHub(undefined, { ...FILES, [MANIFEST_NAME]: data });
      expect(await codeOf(installByName("own", { ...options, mirror: bad.url }))).toMatch(
        /^(upstream|validation)_error: /,
      );
    }
    await expectNothing(folder.path);
  });

  test.each(["nonsense", "../evil", "", "a/b", ".partial", "Small"])("%p is not a model", async (name) => {
    await using folder = await temporaryFolder();
    await using hub = startHub(undefined, {});
    for (const mirror of [null, hub.url]) {
      const adding = installByName(name, { modelsDir: folder.path, catalog: smallCatalog(), mirror, ...QUICK });
      expect(await codeOf(adding)).toStartWith("not_found: ");
    }
    await expectNothing(folder.path);
  });

  test("an interrupted download installs nothing and resumes when run again", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    const stopping = new AbortController();
    const options = { modelsDir: folder.path, catalog: smallCatalog(hub.url), ...QUICK };
    const onProgress = (_: string, share: number) => {
      if (share > 0.75) stopping.abort(new Error("interrupted"));
    };
    expect(await codeOf(installByName("small", { ...options, signal: stopping.signal, onProgress }))).toContain(
      "interrupted",
    );
    await expectNothing(folder.path);
    const before = hub.requests.length;
    await installByName("small", options);
    expect(hub.requests.slice(before).map((r) => r.path)).not.toContain("/upstream/tiny-encoder.onnx");
    expect(names(folder.path)).toEqual(["small"]);
    expect(await readdir(join(folder.path, ".partial"))).toEqual([]);
  });

  test("a damaged model is repaired", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    const options = { modelsDir: folder.path, catalog: smallCatalog(hub.url), ...QUICK };
    await installByName("small", options);
    await Bun.write(join(folder.path, "small/tiny-decoder.onnx"), "cut");
    expect(readInstalledModels(folder.path).damaged).toEqual([
      { name: "small", problem: "tiny-decoder.onnx is incomplete" },
    ]);
    expect((await installByName("small", options)).isNew).toBe(true);
    expect(names(folder.path)).toEqual(["small"]);
  });

  test("insufficient disk space is reported before any request", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    const [entry] = smallCatalog(hub.url);
    const huge = { ...entry!, files: entry!.files.map((file) => ({ ...file, sizeBytes: 2 ** 52 })) };
    const adding = installByName("small", { modelsDir: folder.path, catalog: [huge], ...QUICK });
    expect(await codeOf(adding)).toMatch(/^storage_full: Not enough disk space: \d+ MB needed, \d+ MB free/);
    expect(hub.requests).toEqual([]);
  });
});

describe("installing from a file", () => {
  test("a folder with the files of a catalog model is that model, whatever else it contains", async () => {
    await using folder = await temporaryFolder();
    const source = await modelFolder(folder.path, "source", {
      ...FILES,
      "tiny-encoder-big.onnx": noise(9),
      "README.txt": "hello",
    });
    const modelsDir = join(folder.path, "models");
    const options = { modelsDir, catalog: smallCatalog() };
    expect(await installFromFile(source, options)).toMatchObject({
      isNew: true,
      unchecked: [],
      manifest: { name: "small" },
    });
    expect((await readdir(join(modelsDir, "small"))).sort()).toEqual([...Object.keys(FILES), MANIFEST_NAME].sort());
    expect(await installFromFile(source, options)).toMatchObject({ isNew: false });
    // The model folder of another machine works as well.
    expect(
      await installFromFile(join(modelsDir, "small"), { ...options, modelsDir: join(folder.path, "other") }),
    ).toMatchObject({ isNew: true });
  });

  test("a file with different content is rejected, and nothing is installed", async () => {
    await using folder = await temporaryFolder();
    const changed = { ...FILES, "tiny-decoder.onnx": noise(120_000, 9) };
    const cases: [Record<string, Uint8Array | string>, RegExp][] = [
      [changed, /tiny-decoder.onnx has an unexpected checksum/],
      [
        {
          ...changed,
          [MANIFEST_NAME]: JSON.stringify({ name: "small", kind: "whisper", languages: ["en"], files: openFiles }),
        },
        /unexpected checksum/,
      ],
      [
        { "tiny-encoder.onnx": FILES["tiny-encoder.onnx"]!, "tiny-tokens.txt": FILES["tiny-tokens.txt"]! },
        /tiny-decoder.onnx is missing/,
      ],
      [{ "other.onnx": noise(10) }, /No known model found/],
      [{}, /No known model found/],
      [{ ...FILES, [MANIFEST_NAME]: "{" }, /is not valid JSON/],
      [
        { ...FILES, [MANIFEST_NAME]: JSON.stringify({ name: "../up", kind: "whisper", languages: ["en"], files: [] }) },
        /needs a "name"/,
      ],
    ];
    for (const [i, [files, message]] of cases.entries()) {
      const modelsDir = join(folder.path, `models-${i}`);
      const error = await codeOf(
        installFromFile(await modelFolder(folder.path, `source-${i}`, files), {
          modelsDir,
          catalog: smallCatalog(),
        }),
      );
      expect(error).toStartWith("validation_error: ");
      expect(error).toMatch(message);
      await expectNothing(modelsDir);
    }
  });

  const openFiles = [
    { role: "encoder", name: "tiny-encoder.onnx" },
    { role: "decoder", name: "tiny-decoder.onnx", sha256: sha256(FILES["tiny-decoder.onnx"]!).toUpperCase() },
    { role: "tokens", name: "tiny-tokens.txt", size_bytes: FILES["tiny-tokens.txt"]!.length },
  ];

  test("a custom model has a manifest; files without a checksum are reported and get one", async () => {
    await using folder = await temporaryFolder();
    const manifest = JSON.stringify({ name: "own", kind: "whisper", languages: ["gsw"], files: openFiles });
    const source = await modelFolder(folder.path, "source", { ...FILES, [MANIFEST_NAME]: manifest });
    const modelsDir = join(folder.path, "models");
    const added = await installFromFile(source, { modelsDir, catalog: [] });
    expect(added.unchecked).toEqual(["tiny-encoder.onnx", "tiny-tokens.txt"]);
    const { files } = readInstalledModels(modelsDir).installed[0]!.manifest;
    expect(files.map((file) => file.sha256)).toEqual(Object.values(FILES).map(sha256));

    await Bun.write(join(source, "tiny-encoder.onnx"), noise(300_000, 50));
    expect(await codeOf(installFromFile(source, { modelsDir, catalog: [] }))).toMatch(/^conflict: .*Remove it first/);
    await Bun.write(join(source, "tiny-decoder.onnx"), noise(120_000, 50));
    expect(await codeOf(installFromFile(source, { modelsDir, catalog: [] }))).toMatch(
      /^validation_error: .*unexpected checksum/,
    );
  });

  test("the checksum file next to an archive must match", async () => {
    await using folder = await temporaryFolder();
    const archive = join(folder.path, "model.tar");
    await Bun.write(archive, "whatever");
    const beside = `${archive}.sha256`;
    const adding = () =>
      codeOf(installFromFile(archive, { modelsDir: join(folder.path, "models"), catalog: smallCatalog() }));
    await Bun.write(beside, `${"0".repeat(64)}  model.tar\n`);
    expect(await adding()).toContain("its checksum differs from model.tar.sha256");
    await Bun.write(beside, "no checksum\nat all\n");
    expect(await adding()).toContain("has no checksum for model.tar");
    for (const text of [
      sha256("whatever"),
      `${"0".repeat(64)}  other.tar\n${sha256("whatever").toUpperCase()} *model.tar\n`,
    ]) {
      await Bun.write(beside, text);
      expect(await adding()).toContain("Cannot unpack");
    }
  });
});

describe("locking", () => {
  test("a second command fails until the first one has ended", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    const options = { modelsDir: folder.path, catalog: smallCatalog(hub.url), ...QUICK };
    const results = await Promise.all([
      codeOf(installByName("small", options)),
      codeOf(installByName("small", options)),
    ]);
    expect(results.sort()).toEqual([
      "conflict: Another offcut process is adding or removing a model.",
      "nothing was thrown",
    ]);
    expect(names(folder.path)).toEqual(["small"]);
    const lock = lockFolder(folder.path);
    expect(await codeOf(removeModel("small", options))).toStartWith("conflict: ");
    lock?.release();
    await removeModel("small", options);
    expect(names(folder.path)).toEqual([]);
  });

  test("leftovers of a killed command are removed", async () => {
    await using folder = await temporaryFolder();
    await using hub = startHub();
    await mkdir(join(folder.path, ".new-abc"), { recursive: true });
    await Bun.write(join(folder.path, ".new-abc/half.onnx"), "half");
    await installByName("small", { modelsDir: folder.path, catalog: smallCatalog(hub.url), ...QUICK });
    expect(await exists(join(folder.path, ".new-abc"))).toBe(false);
  });
});

describe("removing", () => {
  test("removes the model and its incomplete download; a missing model is an error", async () => {
    await using folder = await temporaryFolder();
    const modelsDir = folder.path;
    await installFromFile(await modelFolder(folder.path, "source.d"), { modelsDir, catalog: smallCatalog() });
    await modelFolder(folder.path, ".partial/other", { "a.part": "x" });
    await removeModel("small", { modelsDir });
    await removeModel("other", { modelsDir });
    expect((await readdir(folder.path)).sort()).toEqual([".partial", "lock", "source.d"]);
    expect(await readdir(join(folder.path, ".partial"))).toEqual([]);
    for (const name of ["small", "other", "../source.d", "..", ".partial"])
      expect(await codeOf(removeModel(name, { modelsDir }))).toStartWith("not_found: ");
    expect(await codeOf(removeModel("moonshine-tiny-en", { modelsDir }))).toMatch(/^conflict: .*cannot be removed/);
    expect((await stat(join(folder.path, "source.d"))).isDirectory()).toBe(true);
  });
});

test("the models folder is accessible to its owner only", async () => {
  await using folder = await temporaryFolder();
  const modelsDir = join(folder.path, "models");
  await installFromFile(await modelFolder(folder.path, "source"), { modelsDir, catalog: smallCatalog() });
  for (const path of [modelsDir, join(modelsDir, "small")]) expect((await stat(path)).mode & 0o077).toBe(0);
  await chmod(modelsDir, 0o700);
});
