/**
 * Writes hostile files in a process of its own: some take seconds to make, in which the test could not watch the server. Run as a program
 * it takes one argument, the options as JSON.
 */
import { join } from "node:path";
import { makeBaseFiles } from "./bases";
import { hostileFiles } from "./generate";

type Options = { folder: string; targets: readonly string[]; seed: number; names: readonly string[] };

/** Writes the files with these names and returns where each one is. Throws with the program's last words. */
export async function writeFiles(options: Options): Promise<ReadonlyMap<string, string>> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(options)], {
    stdin: "ignore",
    stderr: "pipe",
  });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`hostile files: ${errors}`);
  return new Map(options.names.map((name, n) => [name, pathOf(options.folder, n)]));
}

const pathOf = (folder: string, n: number) => join(folder, `hostile-${n}`);

if (import.meta.main) {
  const { folder, targets, seed, names } = JSON.parse(process.argv[2]!) as Options;
  const files = new Map(
    hostileFiles({ bases: await makeBaseFiles(folder), targets, seed }).map((file) => [file.name, file]),
  );
  for (const [n, name] of names.entries()) await Bun.write(pathOf(folder, n), files.get(name)!.make());
}
