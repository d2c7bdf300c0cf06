/** Reads what the head sends at the start of an execution. Names become paths here, so they are checked, although the head is trusted. */
import {
  EXECUTION_KINDS,
  type ExecutionFile,
  type ExecutionFileRole,
  type ExecutionKind,
  type ExecutionManifest,
} from "../../domain/workers";
import { isUuid } from "../../lib/ids";
import { HeadError } from "../../outbound/head";

const ROLES = ["input", "output", "work"] as const satisfies readonly ExecutionFileRole[];
const MAX_FILES = 100_000;
const MAX_KEY_CHARACTERS = 500;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Returns whether a name is one path component that no file system reads as something else. */
export const isFileName = (name: unknown): name is string => typeof name === "string" && FILE_NAME.test(name);

/** Checks a manifest. Throws `HeadError`. */
export function parseManifest(body: unknown, execution: string): ExecutionManifest {
  const manifest = (body ?? {}) as Record<string, unknown>;
  const { kind, asset, owner, input, files } = manifest;
  if (manifest.execution !== execution || !isUuid(execution)) throw invalid("it is that of another execution");
  if (!EXECUTION_KINDS.some((known) => known === kind)) throw invalid("its kind is unknown");
  if (typeof asset !== "string" || !isUuid(asset)) throw invalid("its asset is missing");
  if (typeof owner !== "string" || typeof input !== "object" || input === null) throw invalid("its input is missing");
  if (!Array.isArray(files) || files.length > MAX_FILES) throw invalid("its files are missing or too many");
  const parsed = files.map(parseFile);
  const names = new Set(parsed.map(({ role, name }) => `${role}/${name}`));
  if (names.size !== parsed.length) throw invalid("two files have the same name");
  return { execution, kind: kind as ExecutionKind, asset, owner, input, files: parsed };
}

function parseFile(file: unknown): ExecutionFile {
  const { name, role, bytes, key, modifiedAt } = (file ?? {}) as Record<string, unknown>;
  const isValid =
    isFileName(name) &&
    ROLES.some((known) => known === role) &&
    isCount(bytes) &&
    isCount(modifiedAt) &&
    typeof key === "string" &&
    key.length > 0 &&
    key.length <= MAX_KEY_CHARACTERS;
  if (!isValid) throw invalid("a file of it is not valid");
  return { name, role: role as ExecutionFileRole, bytes, key, modifiedAt: modifiedAt };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const invalid = (why: string): HeadError =>
  new HeadError(200, "", `The manifest of an execution is not valid: ${why}.`);
