/** The manifest of a model, a file in its folder: kind, languages, and the files with their checksums. */
import { AppError } from "../../domain/errors";

/** File name of the manifest in the model's folder, in an archive and on a mirror. */
export const MANIFEST_NAME = "offcut-model.json";

/** The roles of the files for each kind of model that sherpa-onnx runs. */
export const FILE_ROLES = {
  transducer: ["encoder", "decoder", "joiner", "tokens"],
  whisper: ["encoder", "decoder", "tokens"],
  "sense-voice": ["model", "tokens"],
  "nemo-ctc": ["model", "tokens"],
  moonshine: ["encoder", "decoder", "tokens"],
} as const;

export type ModelKind = keyof typeof FILE_ROLES;
export type FileRole = (typeof FILE_ROLES)[ModelKind][number];

/** A file of a model. `sha256` is lower-case hexadecimal. */
export type ModelFile = { role: FileRole; name: string; sizeBytes: number; sha256: string };

export type ModelManifest = {
  /** Lower-case letters, digits, dots and dashes. Also the name of the folder. */
  name: string;
  title: string;
  kind: ModelKind;
  /** ISO 639 codes. */
  languages: string[];
  licence: string;
  /** The home page of the model. */
  source: string;
  /** If several models support a language, the one with the highest preference is used. */
  preference: number;
  files: ModelFile[];
};

/** A manifest that may lack sizes and checksums. */
export type ManifestDraft = Omit<ModelManifest, "files"> & {
  files: { role: FileRole; name: string; sizeBytes: number | null; sha256: string | null }[];
};

/** A manifest that users write for their own model takes precedence over the general-purpose models. */
const DEFAULT_PREFERENCE = 70;
const MODEL_NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;

/** Returns whether a text is a valid model name, which cannot lead out of the models folder. */
export const isModelName = (text: string): boolean => MODEL_NAME.test(text) && !text.includes("..");

/** Returns whether a text is a valid file name for a model: without folders, not hidden. */
export const isFileName = (text: string): boolean => FILE_NAME.test(text) && text !== MANIFEST_NAME;

/** Formats the manifest as the text of its file. */
export function formatManifest(manifest: ModelManifest): string {
  const files = manifest.files.map(({ role, name, sizeBytes, sha256 }) => ({
    role,
    name,
    size_bytes: sizeBytes,
    sha256,
  }));
  return `${JSON.stringify({ format: 1, ...manifest, files }, null, 2)}\n`;
}

/** Parses a manifest. Throws `AppError` `validation_error` with one line that names the problem. */
export function parseManifest(text: string): ManifestDraft {
  const data = parseObject(text);
  if ((data.format ?? 1) !== 1) throw createManifestError("was written for a later version of Offcut");
  const name = getText(data, "name");
  if (!isModelName(name)) throw createManifestError('needs a "name" of lower-case letters, digits, dots and dashes');
  const kind = getText(data, "kind");
  if (!isKind(kind))
    throw createManifestError(`has the unknown kind "${kind}": use one of ${Object.keys(FILE_ROLES).join(", ")}`);
  const { languages, preference } = data;
  if (!Array.isArray(languages) || languages.length === 0 || !languages.every(isLanguage))
    throw createManifestError('needs "languages", a list of codes such as "de"');
  return {
    name,
    title: typeof data.title === "string" && data.title !== "" ? data.title : name,
    kind,
    languages,
    licence: typeof data.licence === "string" ? data.licence : "not stated",
    source: typeof data.source === "string" ? data.source : "not stated",
    preference: typeof preference === "number" && Number.isFinite(preference) ? preference : DEFAULT_PREFERENCE,
    files: parseFiles(kind, data.files),
  };
}

/** Returns the manifest if it has every size and checksum, otherwise null. */
export function completeManifest(draft: ManifestDraft): ModelManifest | null {
  const files: ModelFile[] = [];
  for (const { role, name, sizeBytes, sha256 } of draft.files) {
    if (sizeBytes === null || sha256 === null) return null;
    files.push({ role, name, sizeBytes, sha256 });
  }
  return { ...draft, files };
}

/** Returns the name of the file with a role. Throws if the model has none. */
export function getFileName(manifest: ModelManifest, role: FileRole): string {
  const file = manifest.files.find((f) => f.role === role);
  if (!file) throw new Error(`${manifest.name} has no file with the role ${role}`);
  return file.name;
}

function parseFiles(kind: ModelKind, value: unknown): ManifestDraft["files"] {
  if (!Array.isArray(value)) throw createManifestError('needs "files"');
  const files = value.map((item: unknown) => parseFile(kind, item));
  for (const role of FILE_ROLES[kind])
    if (files.filter((file) => file.role === role).length !== 1)
      throw createManifestError(`needs one file with the role "${role}"`);
  if (new Set(files.map((file) => file.name)).size < files.length) throw createManifestError("lists a file twice");
  return files;
}

function parseFile(kind: ModelKind, item: unknown): ManifestDraft["files"][number] {
  const data = typeof item === "object" && item !== null ? (item as Record<string, unknown>) : {};
  const name = getText(data, "name");
  if (!isFileName(name))
    throw createManifestError(`has the invalid file name "${name}": use a plain name without folders`);
  const role = FILE_ROLES[kind].find((known) => known === data.role);
  if (!role) throw createManifestError(`needs a role for ${name}: ${FILE_ROLES[kind].join(", ")}`);
  const sizeBytes = data.size_bytes ?? null;
  if (sizeBytes !== null && !(typeof sizeBytes === "number" && Number.isSafeInteger(sizeBytes) && sizeBytes > 0))
    throw createManifestError(`has an invalid size for ${name}`);
  const sha256 = typeof data.sha256 === "string" ? data.sha256.toLowerCase() : (data.sha256 ?? null);
  if (sha256 !== null && !isSha256(sha256)) throw createManifestError(`has an invalid SHA-256 for ${name}`);
  return { role, name, sizeBytes: sizeBytes as number | null, sha256 };
}

const isKind = (text: string): text is ModelKind => Object.hasOwn(FILE_ROLES, text);
const isLanguage = (value: unknown): value is string => typeof value === "string" && /^[a-z]{2,3}$/.test(value);
const isSha256 = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

function parseObject(text: string): Record<string, unknown> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw createManifestError("is not valid JSON");
  }
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw createManifestError("is not a JSON object");
  return data as Record<string, unknown>;
}

function getText(data: Record<string, unknown>, key: string): string {
  const value = data[key];
  if (typeof value !== "string" || value === "") throw createManifestError(`needs "${key}"`);
  return value;
}

const createManifestError = (what: string): AppError => new AppError("validation_error", `${MANIFEST_NAME} ${what}.`);
