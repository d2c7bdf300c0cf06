/**
 * Measures `offcut cut RECORDING -o OUT`: `bun test/bench/one-shot/run.ts RECORDING EXECUTABLE [BEFORE] [--runs N]
 * [--profile]`. Each round runs auto-editor if it is installed, a stand-in for it (`loudness-cut.ts`), the executable
 * and the one before, in turn, so that other load affects all. Prints medians of wall and CPU time of the whole process
 * tree, and of the ratios within a round; with `--profile`, each process of one run. Needs root, for a control group.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../../temporary-folder";
import { measureTree, type TreeCost } from "./process-tree";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "5" }, profile: { type: "boolean", default: false } },
});
const [recording = "", executable = "", before] = positionals;
await using folder = await temporaryFolder();
const output = join(folder.path, "out.mp4");
/** Each version has a home of its own: one removes the extracted files of another. */
const cut = (program: string, home: string) => {
  const env = ["env", `HOME=${join(folder.path, home)}`];
  return [...env, program, "cut", recording, "-o", output, "--force", "--json"];
};
const commands: Record<string, string[]> = {
  ...(Bun.which("auto-editor") === null
    ? {}
    : { "auto-editor": ["auto-editor", recording, "--no-open", "-o", output] }),
  "stand-in": ["bun", join(import.meta.dir, "loudness-cut.ts"), recording, output],
  ...(before === undefined ? {} : { before: cut(before, "before") }),
  now: cut(executable, "now"),
};

const costs = Object.fromEntries(Object.keys(commands).map((name) => [name, [] as TreeCost[]]));
// The first run of an executable extracts its files.
for (const command of Object.values(commands)) await measureTree(command);
for (let n = 0; n < Number(values.runs); n++)
  for (const [name, command] of Object.entries(commands)) costs[name]!.push(await measureTree(command));

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(2);
for (const [name, runs] of Object.entries(costs)) {
  const walls = runs.map(({ wallMs }) => wallMs);
  const cpu = getMedian(runs.map(({ cpuMs }) => cpuMs));
  const least = seconds(Math.min(...walls));
  console.log(
    `${name}: ${seconds(getMedian(walls))} s wall (least ${least}), ${seconds(cpu)} s CPU, n = ${runs.length}`,
  );
}
for (const other of ["auto-editor", "stand-in", "before"].filter((name) => name in costs)) {
  const ratio = (key: "wallMs" | "cpuMs") =>
    getMedian(costs.now!.map((cost, n) => cost[key] / costs[other]![n]![key])).toFixed(2);
  console.log(`now to ${other}: ${ratio("wallMs")} of its wall time, ${ratio("cpuMs")} of its CPU time`);
}

if (values.profile)
  for (const { command, startMs, endMs, cpuMs, nice } of (await measureTree(commands.now!, { profile: true }))
    .processes)
    console.log(
      `${startMs.toFixed(0)} to ${endMs.toFixed(0)} ms, ${cpuMs} ms CPU, nice ${nice}: ${command.slice(0, 200)}`,
    );

function getMedian(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
}
