/**
 * Builds the executable: `bun src/build/executable.ts [--out dist/offcut] [--entry src/main.ts]`.
 *
 * The executable embeds the runtime of the Bun that runs this script. Since Bun 1.4.5 the x64 build and the "baseline"
 * build for processors without AVX2 are the same file, so there is no variant to choose. The code is not minified
 * because minifying breaks Elysia's static analysis of destructured contexts.
 */
import { chmod, mkdir, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import ffmpegInstaller from "@ffmpeg-installer/ffmpeg";
import packageJson from "../../package.json";
import { writeAtomic } from "../lib/atomic-file";
import type { EmbeddedFile, EmbeddedFiles } from "../lib/embedded-extraction";
import { hashFile } from "../lib/hash";
import { parsePublicKey } from "../lib/minisign";
import { collectLicenses } from "./licenses";
import { createNativeAddonsPlugin, listNativeFiles } from "./native-addons";
import { prepareSpeechGraphs } from "./speech-graphs";
import { bundleWeb, WEB_FOLDER } from "./web";

const PROJECT = resolve(import.meta.dir, "../..");
const ASSETS = join(PROJECT, "dist/assets");
/** Large compressed files by SHA-256: they rarely change, and compressing them takes a third of a build. */
const COMPRESSED = join(ASSETS, "compressed");
const MIN_KEPT_BYTES = 1e6;
/** Level 9 saves a third of the size in 2 s; the highest levels take a minute to save another 4%. */
const COMPRESSION_LEVEL = 9;

const { values } = parseArgs({
  options: { out: { type: "string", default: "dist/offcut" }, entry: { type: "string", default: "src/main.ts" } },
});
const started = performance.now();
/** The public key of releases: `offcut upgrade FILE` accepts only files signed with it. If null, it asks for a key. */
const releaseKey = process.env.OFFCUT_RELEASE_KEY?.trim() || null;
if (releaseKey !== null) parsePublicKey(releaseKey);
const out = resolve(values.out);
await prepareSpeechGraphs(join(ASSETS, "speech"));
await mkdir(ASSETS, { recursive: true });
await bundleWeb();
await Bun.write(join(ASSETS, "licenses.txt"), await collectLicenses(PROJECT));
const embedded = await describeFiles(await listAssetFiles());
await compile(embedded);
const { size } = await stat(out);
console.log(`${out}: ${(size / 1e6).toFixed(0)} MB in ${((performance.now() - started) / 1000).toFixed(1)} s`);

/** Lists the files to embed, with their paths in this project. */
async function listAssetFiles(): Promise<{ name: string; path: string; executable: boolean }[]> {
  const graphs = (await readdir(join(ASSETS, "speech"))).filter((name) => !name.startsWith(".")).sort();
  const web = (await readdir(WEB_FOLDER)).sort();
  return [
    { name: "ffmpeg", path: ffmpegInstaller.path, executable: true },
    { name: "licenses.txt", path: join(ASSETS, "licenses.txt"), executable: false },
    ...graphs.map((name) => ({ name: `speech/${name}`, path: join(ASSETS, "speech", name), executable: false })),
    ...web.map((name) => ({ name: `web/${name}`, path: join(WEB_FOLDER, name), executable: false })),
    ...listNativeFiles(PROJECT).map(({ name, path }) => ({ name: `native/${name}`, path, executable: true })),
  ];
}

/** Returns the files with their sizes and SHA-256 hashes, and an ID that changes whenever a file changes. */
async function describeFiles(files: Awaited<ReturnType<typeof listAssetFiles>>): Promise<EmbeddedFiles> {
  const described: EmbeddedFile[] = [];
  for (const file of files) {
    const sha256 = await hashFile(file.path);
    described.push({ ...file, sizeBytes: Bun.file(file.path).size, sha256 });
  }
  const hash = new Bun.CryptoHasher("sha256").update(described.map((f) => `${f.name} ${f.sha256}\n`).join(""));
  return { id: `${packageJson.version}-${hash.digest("hex").slice(0, 12)}`, files: described };
}

/** Writes the executable to `out`. Throws `AggregateError` with the log of the bundler. */
async function compile(embedded: EmbeddedFiles): Promise<void> {
  await mkdir(dirname(out), { recursive: true });
  // A running executable cannot be overwritten, and a failed build keeps the previous one: build next to it, then
  // rename.
  const draft = join(dirname(out), `.${basename(out)}.${process.pid}`);
  const result = await Bun.build({
    entrypoints: [resolve(values.entry)],
    target: "bun",
    // A process loads only the code that it needs: commands and child processes of jobs start in 30 ms instead of 180.
    splitting: true,
    // A start of the server takes half of the processor time when the code is already parsed. It adds 18 MB.
    format: "esm",
    bytecode: true,
    compile: {
      outfile: draft,
      // The executable runs in any folder, whose files must not change its behavior.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    plugins: [
      createNativeAddonsPlugin(join(PROJECT, "src/lib/native.ts")),
      createEmbeddedFilesPlugin(embedded),
      createReleaseKeyPlugin(),
    ],
  });
  if (!result.success) throw new AggregateError(result.logs, "Build failed.");
  await chmod(draft, 0o755);
  await rename(draft, out);
}

/** Returns the plugin that replaces `lib/embedded-files.ts` with a module that imports every file. */
function createEmbeddedFilesPlugin(embedded: EmbeddedFiles): Bun.BunPlugin {
  const imports = embedded.files.map(
    (file, index) => `import path${index} from ${JSON.stringify(`asset:${file.path}`)};`,
  );
  const files = embedded.files.map((file, index) => {
    const { path: _, ...rest } = file;
    return `{ path: path${index}, ...${JSON.stringify(rest)} }`;
  });
  const hashes = new Map(embedded.files.map(({ path, sha256 }) => [path, sha256]));
  return {
    name: "embedded-files",
    setup(build) {
      build.onLoad({ filter: /src\/lib\/embedded-files\.ts$/ }, () => ({
        contents: `${imports.join("\n")}\nexport const embeddedFiles = { id: ${JSON.stringify(embedded.id)}, files: [${files.join(", ")}] };\n`,
        loader: "js",
      }));
      build.onResolve({ filter: /^asset:/ }, ({ path }) => ({ path: path.slice("asset:".length), namespace: "asset" }));
      build.onLoad({ filter: /.*/, namespace: "asset" }, async ({ path }) => ({
        contents: await compressFile(path, hashes.get(path)!),
        loader: "file",
      }));
    },
  };
}

/** Returns a compressed file, and keeps a large one for the next build. */
async function compressFile(path: string, sha256: string): Promise<Uint8Array> {
  const kept = join(COMPRESSED, `${sha256}-${COMPRESSION_LEVEL}.zst`);
  if (await Bun.file(kept).exists()) return Bun.file(kept).bytes();
  const bytes = await Bun.file(path).bytes();
  const compressed = await Bun.zstdCompress(bytes, { level: COMPRESSION_LEVEL });
  if (bytes.length >= MIN_KEPT_BYTES) await writeAtomic(kept, compressed);
  return compressed;
}

/** Returns the plugin that replaces `lib/release-key.ts` with the public key of releases. */
function createReleaseKeyPlugin(): Bun.BunPlugin {
  return {
    name: "release-key",
    setup(build) {
      build.onLoad({ filter: /src\/lib\/release-key\.ts$/ }, () => ({
        contents: `export const releaseKey = ${JSON.stringify(releaseKey)};\n`,
        loader: "js",
      }));
    },
  };
}
