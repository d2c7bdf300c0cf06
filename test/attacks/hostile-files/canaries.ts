/**
 * Files that must not be read while hostile files are prepared: another user's upload and a video outside the data
 * folder. Their access time shows whether they were read, and no output of the product contains their content.
 */
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { FFMPEG } from "../../http/media";

export type Canaries = {
  /** Paths with which hostile files name them: absolute, and relative to an asset's folder and to the server's. */
  targets: readonly string[];
  /** A text that stands in each of them. */
  token: string;
  /** The canaries that were read since they were planted. */
  read(): Promise<string[]>;
};

const LONG_AGO = new Date("2001-01-01T00:00:00Z");

/** A video whose title is the token. */
export async function makeCanary(path: string, token: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const video = ["-f", "lavfi", "-t", "1", "-i", "color=magenta:size=160x120:rate=10"];
  const command = [FFMPEG, "-v", "error", "-nostdin", ...video, "-c:v", "libx264", "-metadata", `title=${token}`, path];
  const child = Bun.spawn(command, { stdin: "ignore", stderr: "pipe" });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`canary: ${errors}`);
}

/**
 * Sets the access times back. `folder` is the server's working folder. Throws when this file system does not keep them.
 */
export async function plantCanaries(paths: readonly string[], token: string, folder: string): Promise<Canaries> {
  await proveAccessTimes(folder);
  const now = new Date();
  for (const path of paths) await utimes(path, LONG_AGO, now);
  const beside = (path: string) => relative(join(folder, "data/media/asset"), path);
  return {
    token,
    targets: paths.flatMap((path) => [path, beside(path), relative(folder, path)]),
    read: async () => {
      const times = await Promise.all(paths.map(async (path) => (await stat(path)).atimeMs));
      return paths.filter((_, n) => times[n] !== LONG_AGO.getTime());
    },
  };
}

/** Reads its own file and checks whether that can be seen. */
async function proveAccessTimes(folder: string): Promise<void> {
  const path = join(folder, "access-time");
  await Bun.write(path, "read me");
  await utimes(path, LONG_AGO, new Date());
  await Bun.file(path).text();
  const isKept = (await stat(path)).atimeMs !== LONG_AGO.getTime();
  await rm(path);
  if (!isKept) throw new Error(`The file system of ${folder} keeps no access times: run the test with another TMPDIR.`);
}

/** The files below a folder that contain a text, but those with the name that uploads have. */
export async function filesWith(folder: string, token: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || entry.name === "source" || !(await Bun.file(path).exists())) continue;
    if (await contains(path, Buffer.from(token))) found.push(path);
  }
  return found;
}

async function contains(path: string, needle: Buffer): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of Bun.file(path).stream()) {
    const searched = Buffer.concat([rest, part]);
    if (searched.includes(needle)) return true;
    rest = searched.subarray(-needle.length);
  }
  return false;
}
