/** `offcut models`: adds and removes speech models. They are files only, so it works beside a running server, which finds them by itself. */
import { prepareDataFolder } from "../data-folder";
import { BUILT_IN, CATALOG, sumFileBytes } from "../speech/models/catalog";
import { type InstallResult, installByName, installFromFile, removeModel } from "../speech/models/install";
import { getModelsFolder, readInstalledModels } from "../speech/models/installed-models";
import { getWordTimesSource } from "../speech/sherpa";
import { loadCommandConfig, type ParsedCommand, parseCommand, runCommand, UsageError } from "./options";
import { createProgress } from "./progress";

const HELP = `offcut models list
offcut models add NAME
offcut models add --file PATH
offcut models remove NAME

The executable transcribes English. Models that are added transcribe other languages: a recording is given to the best one that knows its
language, and a recording without a language to the one that a Whisper or SenseVoice model hears in it.

add NAME downloads a model of the list; run it again to go on where it stopped. models_url names a mirror that has each file as
<models_url>/<model>/<file>. add --file installs from a .tar, .tar.gz or .tar.bz2, or from a folder, without the internet: the files of a
listed model, or others with an offcut-model.json beside them. Every file is checked against its checksum.
--json prints one object.
`;

const INTERRUPTED_EXIT_CODE = 130;

/** Gives the exit code; 130 when interrupted. */
export function modelsCommand(argv: string[]): Promise<number> {
  return runCommand("models", async () => {
    const parsed = parseCommand(argv, { file: { type: "string" } });
    const [action, name, ...extra] = parsed.positionals;
    if (parsed.values.help || !action) {
      process.stdout.write(HELP);
      return parsed.values.help ? 0 : 2;
    }
    if (extra.length > 0) throw new UsageError(`unexpected argument "${extra[0]}"`);
    if (parsed.values.file !== undefined && (action !== "add" || name))
      throw new UsageError("--file stands for the name in add");
    return run(action, name, parsed);
  });
}

async function run(action: string, name: string | undefined, parsed: ParsedCommand): Promise<number> {
  const config = await loadCommandConfig(parsed);
  const modelsDir = getModelsFolder(prepareDataFolder(config.dataDir));
  switch (action) {
    case "list": {
      if (name) throw new UsageError(`unexpected argument "${name}"`);
      const rows = listModels(modelsDir);
      process.stdout.write(parsed.values.json ? `${JSON.stringify({ items: rows })}\n` : formatModelTable(rows));
      return 0;
    }
    case "add": {
      const file = parsed.values.file as string | undefined;
      if (!file && !name) throw new UsageError("add takes the name of a model, or --file PATH");
      return addModel(file, name ?? "", modelsDir, config.modelsUrl, parsed);
    }
    case "remove": {
      if (!name) throw new UsageError("remove takes the name of a model");
      await removeModel(name, { modelsDir });
      process.stdout.write(parsed.values.json ? `${JSON.stringify({ name, removed: true })}\n` : `removed ${name}\n`);
      return 0;
    }
    default:
      throw new UsageError(`there is no "models ${action}"; see offcut models --help`);
  }
}

async function addModel(
  file: string | undefined,
  name: string,
  modelsDir: string,
  mirror: string | null,
  parsed: ParsedCommand,
): Promise<number> {
  const aborting = new AbortController();
  const onSignal = () => aborting.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  const progress = createProgress(process.stderr);
  const onProgress = (stage: string, share: number) => progress.show(file ?? name, stage, share);
  const options = { modelsDir, mirror, signal: aborting.signal, onProgress };
  try {
    const installed = await (file ? installFromFile(file, options) : installByName(name, options));
    progress.clear();
    process.stdout.write(
      parsed.values.json ? `${JSON.stringify(toInstallJson(installed))}\n` : formatInstallResult(installed),
    );
    return 0;
  } catch (error) {
    progress.clear();
    if (!aborting.signal.aborted) throw error;
    const next = file ? "nothing was installed" : "run it again to go on";
    process.stderr.write(`offcut models: interrupted; ${next}\n`);
    return INTERRUPTED_EXIT_CODE;
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
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
  if (!isNew) return `${name} is installed already\n`;
  const note = unchecked.length > 0 ? `no checksum came with ${unchecked.join(", ")}: taken as they are\n` : "";
  return `added ${name}: ${title}\n${note}licence: ${licence} (${source})\n`;
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

/** Everything that is there, then what can be added. */
function listModels(modelsDir: string): ModelRow[] {
  const { installed, damaged } = readInstalledModels(modelsDir);
  const present = new Set(installed.map(({ manifest }) => manifest.name));
  const { name, title, licence, source } = BUILT_IN;
  const added = (
    manifest: (typeof CATALOG)[number] | (typeof installed)[number]["manifest"],
    state: ModelRow["state"],
  ): ModelRow => ({
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
    const nothing = { title: name, languages: [], word_times: null, can_force: false, licence: "", source: "" };
    return { ...nothing, ...(known ? added(known, "damaged") : {}), name, state: "damaged", size_bytes: null, problem };
  });
  const taken = new Set([...present, ...damaged.map((one) => one.name)]);
  return [
    {
      ...{ name, title, licence, source, languages: [...BUILT_IN.languages] },
      ...{ state: "built_in", size_bytes: null, word_times: "attention", can_force: true, problem: null },
    },
    ...installed.map(({ manifest }) => added(manifest, "installed")),
    ...broken,
    ...CATALOG.filter((entry) => !taken.has(entry.name)).map((entry) => added(entry, "available")),
  ];
}

const STATE_LABELS: Record<ModelRow["state"], string> = {
  built_in: "built in",
  installed: "installed",
  available: "can be added",
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
      return `${cells.join("  ")}  ${row.problem ? `${row.problem}; remove it and add it again` : row.licence}\n`;
    })
    .join("");
}
