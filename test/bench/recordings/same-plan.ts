/**
 * Cuts each recording three times with the executable, and compares the plans byte for byte:
 * `bun test/bench/recordings/same-plan.ts FILE|FOLDER… [--script FILE] [--runs N]`. The first run has the machine to
 * itself, the others run at once: the load changes how streams are divided between reads. Exits with 1 when a plan
 * differs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { listMedia } from "./media-files";

const EXECUTABLE = join(import.meta.dir, "../../../dist/offcut");

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { script: { type: "string" }, runs: { type: "string", default: "3" } },
  allowPositionals: true,
});
if (positionals.length === 0) throw new Error("usage: bun test/bench/recordings/same-plan.ts FILE|FOLDER…");
const files = (await Promise.all(positionals.map(listMedia))).flat();
const folder = await mkdtemp(join(tmpdir(), "offcut-same-plan-"));

/** Returns the plan as it was written, or the error. */
async function cut(file: string, run: number): Promise<string> {
  const plan = join(folder, `plan-${run}.json`);
  await rm(plan, { force: true });
  const script = values.script ? ["--script", values.script] : [];
  const child = Bun.spawn([EXECUTABLE, "cut", file, "--plan", plan, ...script], {
    env: { PATH: process.env.PATH ?? "", HOME: folder, OFFCUT_DATA_DIR: join(folder, `data-${run}`) },
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) === 0) return Bun.file(plan).text();
  return errors.trim().split("\n").at(-1)!;
}

let differing = 0;
try {
  for (const file of files) {
    const others = Array.from({ length: Number(values.runs) - 1 }, (_, i) => i + 2);
    const first = await cut(file, 1);
    const plans = [first, ...(await Promise.all(others.map((run) => cut(file, run))))];
    const distinct = new Set(plans).size;
    if (distinct > 1) differing++;
    const outcome = first.startsWith("{") ? "" : ` (${first})`;
    console.log(`${basename(file)}: ${distinct === 1 ? "the same plan" : `${distinct} different plans`}${outcome}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`${files.length - differing} of ${files.length} recordings gave the same plan in ${values.runs} runs`);
process.exit(differing > 0 ? 1 : 0);
