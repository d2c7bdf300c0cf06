/** The manifest of a model, a file in its folder: kind, languages, and the files with their checksums. */
import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
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

export function formatManifest(manifest: ModelManifest): string {
  const files = manifest.files.map(({ role, name, sizeBytes, sha256 }) => ({
    role,
    name,
    size_bytes: sizeBytes,
    sha256,
  }));
  return `${JSON.stringify({ format: 1, ...manifest, files }, null, 2)}\n`;
}

const text = (key: string) => Type.String({ minLength: 1, problem: () => `needs "${key}"` });
const optional = <S extends TSchema>(schema: S, problem: (name: string) => string) =>
  Type.Union([schema, Type.Null(), Type.Undefined()], { problem });

const OBJECT = Type.Object({});
const MANIFEST = Type.Object({
  format: optional(Type.Literal(1), () => "was written for a later version of Offcut"),
  name: text("name"),
  kind: text("kind"),
  languages: Type.Array(Type.String({ pattern: "^[a-z]{2,3}$" }), {
    minItems: 1,
    problem: () => 'needs "languages", a list of codes such as "de"',
  }),
  files: Type.Array(Type.Unknown(), { problem: () => 'needs "files"' }),
});
const FILE = Type.Object({
  name: text("name"),
  size_bytes: optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    (name) => `has an invalid size for ${name}`,
  ),
  sha256: optional(Type.String({ pattern: "^[0-9A-Fa-f]{64}$" }), (name) => `has an invalid SHA-256 for ${name}`),
});

/** Parses a manifest. Throws `AppError` `validation_error` with one line that names the problem. */
export function parseManifest(json: string): ManifestDraft {
  const data = parseObject(json);
  const { name, kind, languages, files } = check(MANIFEST, data);
  if (!isModelName(name)) throw createManifestError('needs a "name" of lower-case letters, digits, dots and dashes');
  if (!isKind(kind))
    throw createManifestError(`has the unknown kind "${kind}": use one of ${Object.keys(FILE_ROLES).join(", ")}`);
  const { title, licence, source, preference } = data;
  return {
    name,
    title: typeof title === "string" && title !== "" ? title : name,
    kind,
    languages,
    licence: typeof licence === "string" ? licence : "not stated",
    source: typeof source === "string" ? source : "not stated",
    preference: typeof preference === "number" && Number.isFinite(preference) ? preference : DEFAULT_PREFERENCE,
    files: parseFiles(kind, files),
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

function parseFiles(kind: ModelKind, items: unknown[]): ManifestDraft["files"] {
  const files = items.map((item) => parseFile(kind, Value.Check(OBJECT, item) ? item : {}));
  for (const role of FILE_ROLES[kind])
    if (files.filter((file) => file.role === role).length !== 1)
      throw createManifestError(`needs one file with the role "${role}"`);
  if (new Set(files.map((file) => file.name)).size < files.length) throw createManifestError("lists a file twice");
  return files;
}

function parseFile(kind: ModelKind, item: Record<string, unknown>): ManifestDraft["files"][number] {
  const { name, size_bytes, sha256 } = check(FILE, item);
  if (!isFileName(name))
    throw createManifestError(`has the invalid file name "${name}": use a plain name without folders`);
  const role = FILE_ROLES[kind].find((known) => known === item.role);
  if (!role) throw createManifestError(`needs a role for ${name}: ${FILE_ROLES[kind].join(", ")}`);
  return { role, name, sizeBytes: size_bytes ?? null, sha256: sha256?.toLowerCase() ?? null };
}

const isKind = (value: string): value is ModelKind => Object.hasOwn(FILE_ROLES, value);

function parseObject(json: string): Record<string, unknown> {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    throw createManifestError("is not valid JSON");
  }
  if (!Value.Check(OBJECT, data)) throw createManifestError("is not a JSON object");
  return data;
}

/** Returns the value if it matches. Throws the `problem` of the first field that does not. */
function check<S extends TObject>(shape: S, value: Record<string, unknown>): Static<S> {
  for (const [key, schema] of Object.entries(shape.properties))
    if (!Value.Check(schema, value[key])) throw createManifestError(schema.problem(value.name));
  return value as Static<S>;
}

const createManifestError = (what: string): AppError => new AppError("validation_error", `${MANIFEST_NAME} ${what}.`);
