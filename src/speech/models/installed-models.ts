/**
 * Reads the folder of installed models, and chooses the model for a language. The folder is read each time, because a
 * command may change it while a server runs.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUILT_IN, sumFileBytes } from "./catalog";
import { completeManifest, isModelName, MANIFEST_NAME, type ModelManifest, parseManifest } from "./manifest";

export type InstalledModel = { manifest: ModelManifest; folder: string };

/** The models in a folder. `installed` is sorted by preference, then by name; `damaged` lists incomplete models. */
export type InstalledModels = { installed: InstalledModel[]; damaged: { name: string; problem: string }[] };

export const getModelsFolder = (dataDir: string): string => join(dataDir, "models");

/** Reads the folder. Returns no models if it is missing. */
export function readInstalledModels(modelsDir: string): InstalledModels {
  const models: InstalledModels = { installed: [], damaged: [] };
  for (const name of listModelFolders(modelsDir)) {
    try {
      models.installed.push(readModel(join(modelsDir, name), name));
    } catch (error) {
      models.damaged.push({ name, problem: (error as Error).message });
    }
  }
  models.installed.sort(
    (a, b) => b.manifest.preference - a.manifest.preference || (a.manifest.name < b.manifest.name ? -1 : 1),
  );
  return models;
}

function listModelFolders(modelsDir: string): string[] {
  try {
    const entries = readdirSync(modelsDir, { withFileTypes: true });
    return entries.filter((e) => e.isDirectory() && isModelName(e.name)).map((e) => e.name);
  } catch {
    return [];
  }
}

function readModel(folder: string, name: string): InstalledModel {
  const manifest = completeManifest(parseManifest(readFileSync(join(folder, MANIFEST_NAME), "utf8")));
  if (!manifest || manifest.name !== name) throw new Error(`${MANIFEST_NAME} does not describe ${name}`);
  for (const file of manifest.files) {
    const found = statSync(join(folder, file.name), { throwIfNoEntry: false });
    if (found?.size !== file.sizeBytes) throw new Error(`${file.name} is ${found ? "incomplete" : "missing"}`);
  }
  return { manifest, folder };
}

/** Returns the languages that the built-in recognizer and the models of a folder transcribe, as ISO 639-1 codes. */
export function listLanguages(modelsDir: string): string[] {
  const { installed } = readInstalledModels(modelsDir);
  return [...new Set([...BUILT_IN.languages, ...installed.flatMap(({ manifest }) => manifest.languages)])].sort();
}

/** Converts a language tag to the code that models use, such as `de` for `de-AT`. */
export const toLanguageCode = (language: string): string => language.trim().toLowerCase().split(/[-_]/)[0] ?? "";

/** The transcriber for a language: the built-in recognizer, an installed model, or null. */
export type ModelChoice = { use: "built-in" } | { use: "installed"; model: InstalledModel } | null;

/**
 * Chooses the model for a language. English always uses the built-in recognizer, the only one that supports forced
 * alignment; other languages use the preferred model that supports them.
 */
export function chooseModel(language: string, installed: readonly InstalledModel[]): ModelChoice {
  const code = toLanguageCode(language);
  if (BUILT_IN.languages.includes(code)) return { use: "built-in" };
  const model = installed.find(({ manifest }) => manifest.languages.includes(code));
  return model ? { use: "installed", model } : null;
}

/**
 * Finds the model that detects the spoken language: the smallest Whisper, otherwise a SenseVoice, which reports the
 * language of its transcript. Returns null if neither is installed.
 */
export function findLanguageDetector(installed: readonly InstalledModel[]): InstalledModel | null {
  const size = ({ manifest }: InstalledModel) => sumFileBytes(manifest.files);
  const whispers = installed.filter(({ manifest }) => manifest.kind === "whisper" && manifest.languages.length > 1);
  return (
    whispers.sort((a, b) => size(a) - size(b))[0] ?? installed.find((m) => m.manifest.kind === "sense-voice") ?? null
  );
}
