/** The models' folder: what is installed, and which of it is used for a language. Read afresh each time: a command may change it beside a server. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUILT_IN } from "./catalog";
import { completeManifest, isModelName, MANIFEST_NAME, type ModelManifest, parseManifest } from "./manifest";

export type InstalledModel = { manifest: ModelManifest; folder: string };

/** `damaged`: folders that hold no whole model. Both by preference, then by name. */
export type InstalledModels = { installed: InstalledModel[]; damaged: { name: string; problem: string }[] };

/** Where the models are in a data folder. */
export const getModelsFolder = (dataDir: string): string => join(dataDir, "models");

/** Reads the folder. Without one there are no models. */
export function readInstalledModels(modelsDir: string): InstalledModels {
  const shelf: InstalledModels = { installed: [], damaged: [] };
  for (const name of listModelFolders(modelsDir)) {
    try {
      shelf.installed.push(readModel(join(modelsDir, name), name));
    } catch (error) {
      shelf.damaged.push({ name, problem: (error as Error).message });
    }
  }
  shelf.installed.sort(
    (a, b) => b.manifest.preference - a.manifest.preference || (a.manifest.name < b.manifest.name ? -1 : 1),
  );
  return shelf;
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
  if (!manifest || manifest.name !== name) throw new Error(`${MANIFEST_NAME} is not that of ${name}`);
  for (const file of manifest.files) {
    const found = statSync(join(folder, file.name), { throwIfNoEntry: false });
    if (found?.size !== file.sizeBytes) throw new Error(`${file.name} is ${found ? "cut off" : "missing"}`);
  }
  return { manifest, folder };
}

/** A language as the models name it: `de` for `de-AT`. */
export const toLanguageCode = (language: string): string => language.trim().toLowerCase().split(/[-_]/)[0] ?? "";

/** What transcribes a language: the recogniser in the executable, an added model, or nothing (null). */
export type ModelChoice = { use: "built-in" } | { use: "added"; model: InstalledModel } | null;

/**
 * English stays with the built-in recogniser, the only one that can hold a script against the sound; other languages go to the best
 * model that knows them.
 */
export function chooseModel(language: string, installed: readonly InstalledModel[]): ModelChoice {
  const code = toLanguageCode(language);
  if ((BUILT_IN.languages as readonly string[]).includes(code)) return { use: "built-in" };
  const model = installed.find(({ manifest }) => manifest.languages.includes(code));
  return model ? { use: "added", model } : null;
}

/** The model that tells which language is spoken, or null: a Whisper, the smallest; else one that names the language of what it heard. */
export function findLanguageDetector(installed: readonly InstalledModel[]): InstalledModel | null {
  const size = ({ manifest }: InstalledModel) => manifest.files.reduce((sum, f) => sum + f.sizeBytes, 0);
  const whispers = installed.filter(({ manifest }) => manifest.kind === "whisper" && manifest.languages.length > 1);
  return (
    whispers.sort((a, b) => size(a) - size(b))[0] ?? installed.find((m) => m.manifest.kind === "sense-voice") ?? null
  );
}
