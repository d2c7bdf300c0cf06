import { describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BUILT_IN, CATALOG, sumFileBytes } from "../../../../src/speech/models/catalog";
import {
  chooseModel,
  findLanguageDetector,
  readInstalledModels,
  toLanguageCode,
} from "../../../../src/speech/models/installed-models";
import {
  completeManifest,
  FILE_ROLES,
  formatManifest,
  isFileName,
  isModelName,
  parseManifest,
} from "../../../../src/speech/models/manifest";
import { temporaryFolder } from "../../../temporary-folder";
import { installed } from "./test-models";

describe("the catalog", () => {
  test.each(CATALOG.map((entry) => [entry.name, entry] as const))(
    "%s is whole, checksummed and from a fixed revision",
    (_, entry) => {
      const { urls, ...manifest } = entry;
      expect(completeManifest(parseManifest(formatManifest(manifest)))).toEqual(manifest);
      expect(entry.files.map((file) => file.role)).toEqual([...FILE_ROLES[entry.kind]]);
      for (const file of entry.files)
        expect(urls[file.name]).toMatch(/^https:\/\/[^?]+\/resolve\/[0-9a-f]{40}\/[\w.-]+$/);
      expect(new Set(entry.languages).size).toBe(entry.languages.length);
      expect(sumFileBytes(entry.files)).toBeGreaterThan(50e6);
    },
  );

  test("has models for European, East Asian and other languages, sorted by preference", () => {
    const first = (language: string) => CATALOG.find((entry) => entry.languages.includes(language))?.name;
    expect(["de", "uk", "ja", "ar"].map(first)).toEqual([
      "parakeet-tdt-v3",
      "parakeet-tdt-v3",
      "sense-voice",
      "whisper-small",
    ]);
    const preferences = CATALOG.map((entry) => entry.preference);
    expect(preferences).toEqual([...preferences].sort((a, b) => b - a));
    expect(new Set([...CATALOG.map((entry) => entry.name), BUILT_IN.name]).size).toBe(CATALOG.length + 1);
  });
});

describe("names", () => {
  test.each(["whisper-tiny", "a", "parakeet-tdt-0.6b-v3"])("%p is a valid model name", (name) =>
    expect(isModelName(name)).toBe(true),
  );
  test.each(["", "..", ".partial", "a..b", "a/b", "A", "-x", "x".repeat(65), "a b", "lock\n"])(
    "%p is not a valid model name",
    (name) => expect(isModelName(name)).toBe(false),
  );
  test.each(["../x.onnx", "a/b.onnx", ".x.onnx", "", "offcut-model.json", "a\0b"])(
    "%p is not a valid file name",
    (name) => expect(isFileName(name)).toBe(false),
  );
});

describe("a manifest", () => {
  const file = { role: "model", name: "model.onnx", size_bytes: 5, sha256: "a".repeat(64) };
  const tokens = { role: "tokens", name: "tokens.txt" };
  const good = { name: "own", kind: "sense-voice", languages: ["ja"], files: [file, tokens] };
  const wrong: [string, object, string][] = [
    ["of a later format", { ...good, format: 2 }, "later version"],
    ["without languages", { ...good, languages: [] }, "languages"],
    ["with an invalid language", { ...good, languages: ["German"] }, "languages"],
    ["of an unknown kind", { ...good, kind: "magic" }, 'the unknown kind "magic"'],
    ["with a missing role", { ...good, files: [file] }, 'role "tokens"'],
    ["with a role twice", { ...good, files: [file, { ...file, name: "b.onnx" }, tokens] }, 'role "model"'],
    ["with a name twice", { ...good, files: [file, { ...tokens, name: "model.onnx" }] }, "a file twice"],
    [
      "with a role of another kind",
      { ...good, files: [{ ...file, role: "joiner" }, tokens] },
      "needs a role for model.onnx",
    ],
    ["with a path for a name", { ...good, files: [{ ...file, name: "../model.onnx" }, tokens] }, "plain name"],
    ["with an invalid checksum", { ...good, files: [{ ...file, sha256: "abc" }, tokens] }, "invalid SHA-256"],
    ["with an invalid size", { ...good, files: [{ ...file, size_bytes: -1 }, tokens] }, "invalid size"],
    ["that is a list", [], "not a JSON object"],
    ["with files that are not a list", { ...good, files: {} }, '"files"'],
  ];
  test.each(wrong)("%s is rejected with one line", (_, data, message) => {
    expect(() => parseManifest(JSON.stringify(data))).toThrow(message);
  });

  test("without checksums, a manifest is a draft", () => {
    const draft = parseManifest(JSON.stringify(good));
    expect(draft.files[1]).toEqual({ role: "tokens", name: "tokens.txt", sizeBytes: null, sha256: null });
    expect(completeManifest(draft)).toBeNull();
    expect(draft.title).toBe("own");
  });
});

describe("the models folder", () => {
  test("a missing folder, or one with other files, has no models", async () => {
    await using folder = await temporaryFolder();
    expect(readInstalledModels(join(folder.path, "none"))).toEqual({ installed: [], damaged: [] });
    await Bun.write(join(folder.path, "lock"), "");
    await mkdir(join(folder.path, ".partial"));
    expect(readInstalledModels(folder.path)).toEqual({ installed: [], damaged: [] });
    await mkdir(join(folder.path, "half"));
    await installed(folder.path, { name: "moved" });
    await Bun.write(join(folder.path, "moved/offcut-model.json"), "{}");
    expect(
      readInstalledModels(folder.path)
        .damaged.map((one) => one.name)
        .sort(),
    ).toEqual(["half", "moved"]);
  });

  test("a language uses the preferred model that supports it, and English the built-in recognizer", async () => {
    await using folder = await temporaryFolder();
    await installed(folder.path, { name: "general", languages: ["en", "de", "ar"], preference: 40 });
    await installed(folder.path, { name: "european", kind: "transducer", languages: ["en", "de"], preference: 90 });
    const { installed: models } = readInstalledModels(folder.path);
    const chosen = (language: string) => {
      const choice = chooseModel(language, models);
      return choice?.use === "installed" ? choice.model.manifest.name : (choice?.use ?? null);
    };
    expect(["de", "de-AT", "DE", "ar", "en", "en_GB", "ja", ""].map(chosen)).toEqual([
      ...["european", "european", "european", "general", "built-in", "built-in", null, null],
    ]);
    expect(toLanguageCode(" Pt-BR ")).toBe("pt");
  });

  test("the smallest Whisper detects languages, else SenseVoice; other models do not", async () => {
    await using folder = await temporaryFolder();
    await installed(folder.path, { name: "parakeet", kind: "transducer", languages: ["de", "fr"], preference: 90 });
    await installed(folder.path, { name: "german", languages: ["de"] });
    const detector = () => findLanguageDetector(readInstalledModels(folder.path).installed)?.manifest.name ?? null;
    expect(detector()).toBeNull();
    await installed(folder.path, { name: "eastern", kind: "sense-voice", languages: ["ja", "zh"] });
    expect(detector()).toBe("eastern");
    await installed(folder.path, { name: "whisper", languages: ["de", "ja"], preference: 10 });
    expect(detector()).toBe("whisper");
  });
});
