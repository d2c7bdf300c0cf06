/** Runs a program to its end and collects its output. */
import { spawnChild } from "../../lib/process";

export type ProgramResult = { code: number | null; stdout: string; stderr: string };

/** Runs a program with the environment of this process. `stderr`: its last lines. The signal ends it. */
export async function runProgram(command: string[], signal?: AbortSignal): Promise<ProgramResult> {
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]));
  const child = spawnChild({ command, env, stdout: "pipe", priority: "interactive", signal });
  const stdout = await new Response(child.stdout).text();
  const { code } = await child.exited;
  signal?.throwIfAborted();
  return { code, stdout, stderr: child.stderrTail() };
}
