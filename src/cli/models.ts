/** `offcut models`: installs and removes speech models. Models are just files; a running server detects them. */
import { prepareDataFolder } from "../data-folder";
import { BUILT_IN, CATALOG, sumFileBytes } from "../speech/models/catalog";
import { type InstallResult, installByName, installFromFile, removeModel } from "../speech/models/install";
import { getModelsFolder, readInstalledModels } from "../speech/models/installed-models";
import type { ModelManifest } from "../speech/models/manifest";
import { getWordTimesSource } from "../speech/sherpa";
import {
  abortWhenInterrupted,
  INTERRUPTED_EXIT_CODE,
  loadCommandConfig,
  type ParsedCommand,
  rejectExtra,
  runCommand,
  textOptions,
  UsageError,
} from "./options";
import { print, printError } from "./print";
import { createProgress } from "./progress";

const HELP = `Usage: offcut models list
       offcut models add NAME
       offcut models add --file PATH
       offcut models remove NAME

Manages speech models. English is built in. Other languages need an installed model: a recording is transcribed by the preferred model that
supports its language. When a recording has no language, an installed Whisper or SenseVoice model detects it.

  list             List installed and available models
  add NAME         Download a model. Run the command again to resume. The setting models_url selects a mirror that serves each file as
                   <models_url>/<model>/<file>.
  add --file PATH  Install without internet access from a .tar, .tar.gz or .tar.bz2 archive or a folder, which has the files of a listed
                   model, or other files with an offcut-model.json
  remove NAME      Remove a model

  --json           Print a JSON object

The checksum of every file is verified.
`;

/** Returns the exit code; 130 if interrupted. */
export function modelsCommand(argv: string[]): Promise<number> {
  const command = { name: "models", help: HELP, options: textOptions("file"), takes: 2, needs: "action" } as const;
  return runCommand(command, argv, async (parsed) => {
    const [action = "", name] = parsed.positionals;
    if (parsed.values.file !== undefined && (action !== "add" || name))
      throw new UsageError("--file can only be used with add, in place of a name.");
    return run(action, name, parsed);
  });
}

async function run(action: string, name: string | undefined, parsed: ParsedCommand): Promise<number> {
  const config = await loadCommandConfig(parsed);
  const modelsDir = getModelsFolder(prepareDataFolder(config.dataDir));
  switch (action) {
    case "list": {
      rejectExtra(name);
      const rows = listModels(modelsDir);
      print(parsed.values.json ? `${JSON.stringify({ items: rows })}\n` : formatModelTable(rows));
      return 0;
    }
    case "add": {
      const file = parsed.values.file as string | undefined;
      if (!file && !name) throw new UsageError("add needs the name of a model, or --file PATH.");
      return addModel(file, name ?? "", modelsDir, config.modelsUrl, parsed);
    }
    case "remove": {
      if (!name) throw new UsageError("remove needs the name of a model.");
      await removeModel(name, { modelsDir });
      print(parsed.values.json ? `${JSON.stringify({ name, removed: true })}\n` : `Removed ${name}.\n`);
      return 0;
    }
    default:
      throw new UsageError(`Unknown action "models ${action}". See offcut models --help.`);
  }
}

async function addModel(
  file: string | undefined,
  name: string,
  modelsDir: string,
  mirror: string | null,
  parsed: ParsedCommand,
): Promise<number> {
  const signal = abortWhenInterrupted("Interrupted.");
  const progress = createProgress(process.stderr);
  const onProgress = (stage: string, share: number) => progress.show(file ?? name, stage, share);
  const options = { modelsDir, mirror, signal, onProgress };
  try {
    const installed = await (file ? installFromFile(file, options) : installByName(name, options));
    progress.clear();
    print(parsed.values.json ? `${JSON.stringify(toInstallJson(installed))}\n` : formatInstallResult(installed));
    return 0;
  } catch (error) {
    progress.clear();
    if (!signal.aborted) throw error;
    const next = file ? "Nothing was installed." : "Run the command again to resume.";
    printError(`offcut models: Interrupted. ${next}`);
    return INTERRUPTED_EXIT_CODE;
  }
}

const toInstallJson = ({ manifest, isNew, unchecked }: InstallResult) => ({
  name: manifest.name,
  added: isNew,
  languages: manifest.languages,
  licence: manifest.licence,
  source: manifest.source,
  size_bytes: sumFileBytes(manifest.files),
  unchecked_files: unchecked,
});

function formatInstallResult({ manifest, isNew, unchecked }: InstallResult): string {
  const { name, title, licence, source } = manifest;
  if (!isNew) return `${name} is already installed.\n`;
  const note = unchecked.length > 0 ? `No published checksum, not verified: ${unchecked.join(", ")}\n` : "";
  return `Added ${name}: ${title}\n${note}License: ${licence} (${source})\n`;
}

type ModelRow = {
  name: string;
  title: string;
  state: "built_in" | "installed" | "available" | "damaged";
  languages: string[];
  size_bytes: number | null;
  word_times: string | null;
  can_force: boolean;
  licence: string;
  source: string;
  problem: string | null;
};

/** Lists the built-in, installed and damaged models, then those that can be added. */
function listModels(modelsDir: string): ModelRow[] {
  const { installed, damaged } = readInstalledModels(modelsDir);
  const present = new Set(installed.map(({ manifest }) => manifest.name));
  const toRow = (manifest: ModelManifest, state: ModelRow["state"]): ModelRow => ({
    name: manifest.name,
    title: manifest.title,
    state,
    languages: manifest.languages,
    size_bytes: sumFileBytes(manifest.files),
    word_times: getWordTimesSource(manifest.kind),
    can_force: false,
    licence: manifest.licence,
    source: manifest.source,
    problem: null,
  });
  const broken = damaged.map(({ name, problem }): ModelRow => {
    const known = CATALOG.find((entry) => entry.name === name);
    const unknown = { title: name, languages: [], word_times: null, can_force: false, licence: "", source: "" };
    const row = known ? toRow(known, "damaged") : unknown;
    return { ...row, name, state: "damaged", size_bytes: null, problem };
  });
  const taken = new Set([...present, ...damaged.map((one) => one.name)]);
  return [
    { ...toRow(BUILT_IN, "built_in"), size_bytes: null, word_times: "attention", can_force: true },
    ...installed.map(({ manifest }) => toRow(manifest, "installed")),
    ...broken,
    ...CATALOG.filter((entry) => !taken.has(entry.name)).map((entry) => toRow(entry, "available")),
  ];
}

const STATE_LABELS: Record<ModelRow["state"], string> = {
  built_in: "built in",
  installed: "installed",
  available: "available",
  damaged: "DAMAGED",
};
const MAX_SHOWN_LANGUAGES = 8;

function formatModelTable(rows: ModelRow[]): string {
  const width = Math.max(...rows.map((row) => row.name.length));
  return rows
    .map((row) => {
      const { languages } = row;
      const shown = languages.length > MAX_SHOWN_LANGUAGES ? `${languages.length} languages` : languages.join(" ");
      const size = row.size_bytes === null ? "" : `${Math.round(row.size_bytes / 1e6)} MB`;
      const cells = [row.name.padEnd(width), STATE_LABELS[row.state].padEnd(12), size.padStart(7), shown.padEnd(18)];
      return `${cells.join("  ")}  ${row.problem ? `${row.problem}; remove and add it again` : row.licence}\n`;
    })
    .join("");
}
