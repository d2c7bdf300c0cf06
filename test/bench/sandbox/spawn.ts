/**
 * Measures the time that the sandbox adds to the start of a process: `bun test/bench/sandbox/spawn.ts [RUNS]`. Starts
 * come in pairs, without and with the sandbox, so that other load affects both; prints medians and, for a busy machine,
 * minima in milliseconds.
 */

import { findSandbox } from "../../../src/lib/find-sandbox";
import { spawnChild } from "../../../src/lib/process";
import { findProgram } from "../../../src/lib/programs";
import type { Sandbox } from "../../../src/lib/sandbox";
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
  const sandboxed: number[] = [];
  for (let n = 0; n < runs; n++) {
    plain.push(await measureStart(command, null));
    sandboxed.push(await measureStart(command, sandbox));
  }
  const added = getMedian(sandboxed.map((time, n) => time - plain[n]!)).toFixed(1);
  const least = (Math.min(...sandboxed) - Math.min(...plain)).toFixed(1);
  console.log(
    `${command.join(" ")}: ${getMedian(plain).toFixed(1)} ms, the sandbox adds ${added} ms; by minima ${least} ms`,
  );
}

async function measureStart(command: string[], sandbox: Sandbox | null): Promise<number> {
  const view = { readOnly: [], writable: [folder.path], devices: true };
  const started = performance.now();
  const child = spawnChild({ command, ...(sandbox === null ? {} : { sandbox: { sandbox, view } }) });
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}: ${child.stderrTail()}`);
  return performance.now() - started;
}

function getMedian(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
