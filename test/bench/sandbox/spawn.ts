/**
 * What the sandbox costs at each start of a process: `bun test/bench/sandbox/spawn.ts [RUNS]`. Pairs of starts, without and with it, so that
 * whatever else the machine does slows both; prints medians and, for a busy machine, minima in milliseconds.
 */
import { spawnChild } from "../../../src/lib/process";
import { findProgram } from "../../../src/lib/programs";
import { findSandbox, type Sandbox } from "../../../src/lib/sandbox";
import { temporaryFolder } from "../../temporary-folder";

const runs = Number(process.argv[2] ?? 100);
const path = process.env.PATH;
const ffmpeg = findProgram("ffmpeg", path);
const commands = [["/bin/true"], ...(ffmpeg === null ? [] : [[ffmpeg, "-version"]])];

await using folder = await temporaryFolder();
const programs = commands.map(([program]) => program!);
const sandbox = await findSandbox({ wanted: true, programs, shared: [], probe: commands.at(-1)!, path });
console.log(`sandbox: ${sandbox.mode}${sandbox.reason === null ? "" : ` (${sandbox.reason})`}, ${runs} pairs`);

for (const command of commands) {
  const plain: number[] = [];
  const wrapped: number[] = [];
  for (let n = 0; n < runs; n++) {
    plain.push(await timeOf(command, null));
    wrapped.push(await timeOf(command, sandbox));
  }
  const added = median(wrapped.map((time, n) => time - plain[n]!)).toFixed(1);
  const least = (Math.min(...wrapped) - Math.min(...plain)).toFixed(1);
  console.log(
    `${command.join(" ")}: ${median(plain).toFixed(1)} ms, the sandbox adds ${added} ms; by minima ${least} ms`,
  );
}

async function timeOf(command: string[], within: Sandbox | null): Promise<number> {
  const view = { readOnly: [], writable: [folder.path], devices: true };
  const started = performance.now();
  const child = spawnChild({ command, ...(within === null ? {} : { sandbox: { sandbox: within, view } }) });
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${child.stderrTail()}`);
  return performance.now() - started;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
