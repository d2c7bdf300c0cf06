/** Collects the licenses of everything in the executable into the text that `offcut licenses` prints. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

type PackageManifest = {
  name: string;
  version: string;
  license?: string | { type?: string };
  homepage?: string;
  repository?: string | { url?: string };
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

/** Packages that the code does not import, whose files are embedded in the executable. */
const EMBEDDED_PACKAGES = ["@moonshine-ai/moonshine-js", "@ricky0123/vad-web", "bun"];

const NOTES = `Offcut is licensed under the Apache License 2.0. It contains third-party software under the licenses below.

ffmpeg is licensed under the GNU General Public License, version 3 or later. It is not linked with Offcut: it is a separate program
that is embedded in the executable and runs as a separate process. Its source code: https://ffmpeg.org and https://johnvansickle.com/ffmpeg/.
Speech recognition uses Moonshine tiny (MIT License), voice detection uses Silero VAD (MIT License).
Noise reduction uses RNNoise (BSD License).
`;

/**
 * Returns the notes, the licenses of Offcut and ffmpeg, and each package with its license. `project` is the folder with
 * `node_modules`.
 */
export async function collectLicenses(project: string): Promise<string> {
  const root = await readManifest(project);
  const seen = new Map<string, string>();
  for (const name of Object.keys(root.dependencies ?? {})) await collectEntries(name, project, project, seen);
  for (const name of EMBEDDED_PACKAGES) {
    const folder = findPackage(name, project, project);
    if (folder !== null) seen.set(folder, await formatEntry(folder));
  }
  const own = await Bun.file(join(project, "LICENSE")).text();
  const ffmpeg = await Bun.file(join(import.meta.dir, "gpl-3.0.txt")).text();
  return [NOTES, own, ffmpeg, ...[...seen.values()].sort()].join(`\n${"-".repeat(100)}\n\n`);
}

/** Adds the entries of a package and its dependencies to `seen`, by folder. */
async function collectEntries(name: string, from: string, project: string, seen: Map<string, string>): Promise<void> {
  const folder = findPackage(name, from, project);
  // Optional dependencies for other platforms are not installed.
  if (folder === null || seen.has(folder)) return;
  seen.set(folder, await formatEntry(folder));
  const manifest = await readManifest(folder);
  for (const next of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
    await collectEntries(next, folder, project, seen);
}

/** Finds the folder that `name` resolves to from the folder `from`, as Node.js does. */
function findPackage(name: string, from: string, project: string): string | null {
  for (let folder = from; folder.startsWith(project); folder = dirname(folder)) {
    const found = join(folder, "node_modules", name);
    if (existsSync(join(found, "package.json"))) return found;
  }
  return null;
}

/** Formats the entry of the package in `folder`: name, version, license, and the texts of its license files. */
async function formatEntry(folder: string): Promise<string> {
  const manifest = await readManifest(folder);
  const license = typeof manifest.license === "object" ? manifest.license.type : manifest.license;
  const repository = typeof manifest.repository === "object" ? manifest.repository.url : manifest.repository;
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => Bun.file(join(folder, name)).text()));
  const head = `${manifest.name} ${manifest.version}\nLicense: ${license ?? "see its website"}\n${manifest.homepage ?? repository ?? ""}`;
  return [head.trimEnd(), ...texts.map((text) => text.trim())].join("\n\n").concat("\n");
}

const readManifest = (folder: string): Promise<PackageManifest> => Bun.file(join(folder, "package.json")).json();
