/**
 * Writes hostile files in a separate process: some take seconds to make, in which the test could not watch the server.
 * Run as a program it takes one argument, the options as JSON, and prints the files as JSON.
 */
import { join } from "node:path";
import type { WrittenFile } from "./attempt";
import { makeBaseFiles } from "./bases";
import { chooseFew, hostileFiles } from "./generate";

type Options = {
  folder: string;
  targets: readonly string[];
  seed: number;
  /** The files whose name contains a text, a number of files spread over containers and mutations, or all. */
  choice: { only: string } | { few: number } | "all";
};

/** Writes the chosen files. Throws with the program's last words. */
export async function writeFiles(options: Options): Promise<WrittenFile[]> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(options)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [written, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`hostile files: ${errors}`);
  return JSON.parse(written) as WrittenFile[];
}

if (import.meta.main) {
  const { folder, targets, seed, choice } = JSON.parse(process.argv[2]!) as Options;
  const all = hostileFiles({ bases: await makeBaseFiles(folder), targets, seed });
  const chosen =
    choice === "all"
      ? all
      : "few" in choice
        ? chooseFew(all, choice.few)
        : all.filter(({ name }) => name.includes(choice.only));
  const written: WrittenFile[] = [];
  for (const [n, { name, container, make }] of chosen.entries()) {
    const path = join(folder, `hostile-${n}`);
    await Bun.write(path, make());
    written.push({ name, container, path });
  }
  console.log(JSON.stringify(written));
}
