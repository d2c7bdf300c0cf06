/** Gathers the licences of what the executable holds into one text, which `offcut licenses` prints. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

type Manifest = {
  name: string;
  version: string;
  license?: string | { type?: string };
  homepage?: string;
  repository?: string | { url?: string };
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

/** Not libraries of the program but files of these packages travel inside it. */
const FILES_FROM = ["@moonshine-ai/moonshine-js", "@ricky0123/vad-web", "bun"];

const NOTES = `Offcut is licensed under the Apache License 2.0. It holds software of others, whose licences follow.

ffmpeg is licensed under the GNU General Public License, version 3 or later. It is not linked with Offcut: it is a program of its own
inside the executable and runs as a process of its own. Its source code: https://ffmpeg.org and https://johnvansickle.com/ffmpeg/.
The speech recogniser is Moonshine tiny (MIT License), the voice detection Silero VAD (MIT License).
`;

/** The text: Offcut's own note and licence, ffmpeg's, then each package with its licence. `project` is the folder that has `node_modules`. */
export async function collectLicenses(project: string): Promise<string> {
  const root = await manifestAt(project);
  const seen = new Map<string, string>();
  for (const name of Object.keys(root.dependencies ?? {})) await visit(name, project, project, seen);
  for (const name of FILES_FROM) {
    const folder = locate(name, project, project);
    if (folder !== null) seen.set(folder, await entry(folder));
  }
  const own = await Bun.file(join(project, "LICENSE")).text();
  const ffmpeg = await Bun.file(join(import.meta.dir, "gpl-3.0.txt")).text();
  return [NOTES, own, ffmpeg, ...[...seen.values()].sort()].join(`\n${"-".repeat(100)}\n\n`);
}

async function visit(name: string, from: string, project: string, seen: Map<string, string>): Promise<void> {
  const folder = locate(name, from, project);
  // Optional ones of other kinds of machine are not installed.
  if (folder === null || seen.has(folder)) return;
  seen.set(folder, await entry(folder));
  const manifest = await manifestAt(folder);
  for (const next of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
    await visit(next, folder, project, seen);
}

/** The folder that a package resolves to from another's folder, as Node looks for it. */
function locate(name: string, from: string, project: string): string | null {
  for (let folder = from; folder.startsWith(project); folder = dirname(folder)) {
    const found = join(folder, "node_modules", name);
    if (existsSync(join(found, "package.json"))) return found;
  }
  return null;
}

async function entry(folder: string): Promise<string> {
  const manifest = await manifestAt(folder);
  const license = typeof manifest.license === "object" ? manifest.license.type : manifest.license;
  const repository = typeof manifest.repository === "object" ? manifest.repository.url : manifest.repository;
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => Bun.file(join(folder, name)).text()));
  const head = `${manifest.name} ${manifest.version}\nLicence: ${license ?? "see its page"}\n${manifest.homepage ?? repository ?? ""}`;
  return [head.trimEnd(), ...texts.map((text) => text.trim())].join("\n\n").concat("\n");
}

const manifestAt = (folder: string): Promise<Manifest> => Bun.file(join(folder, "package.json")).json();
