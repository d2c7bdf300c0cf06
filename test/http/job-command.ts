/**
 * The child process of jobs as a bundle, which starts with less work than the sources do. Servers under test start
 * hundreds of children.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";

const PROJECT = join(import.meta.dir, "../..");
const ENTRY = join(PROJECT, "test/http/job-entry.ts");

/** As deep in the project as `src/lib`, because modules find the project's files from there. */
const FOLDER = join(PROJECT, "node_modules/.offcut-job-child");

/**
 * The executable that was built from these sources, in the project's folder: it starts with half of the work of the
 * bundle. `./install.sh test` names it.
 */
const { JOB_EXECUTABLE } = process.env;

let bundled: Promise<string> | null = null;

/** Returns the command that starts the child process of a job. */
export async function bundledJobCommand(): Promise<string[]> {
  if (JOB_EXECUTABLE !== undefined) return [JOB_EXECUTABLE, "__job"];
  bundled ??= bundle();
  return [process.execPath, await bundled];
}

/**
 * Returns the path of the entry. File names contain hashes of the contents, so that processes that bundle
 * simultaneously write the same files.
 */
async function bundle(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [ENTRY],
    target: "bun",
    splitting: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  mkdirSync(FOLDER, { recursive: true });
  let entry = "";
  for (const output of outputs) {
    const path = join(FOLDER, basename(output.path));
    if (output.kind === "entry-point") entry = path;
    if (existsSync(path)) continue;
    const part = `${path}.${crypto.randomUUID()}`;
    await Bun.write(part, output);
    renameSync(part, path);
  }
  return entry;
}
