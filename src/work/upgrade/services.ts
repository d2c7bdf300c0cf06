/** The services that `./install.sh --systemd` installs, through systemctl. */
import { existsSync, realpathSync } from "node:fs";
import { spawnChild } from "../../lib/process";
import { findProgram } from "../../lib/programs";

/** `isWorker`: it has no `/readyz`. */
export type Service = { name: string; isWorker: boolean };

const SERVICES: Service[] = [
  { name: "offcut", isWorker: false },
  { name: "offcut-worker", isWorker: true },
];
const ENDED_STATES = new Set(["inactive", "failed"]);

/**
 * Returns the services on this machine that run the executable, which is a path without symbolic links. A service that
 * the administrator has stopped stays so.
 */
export async function findServices(executable: string): Promise<Service[]> {
  const found: Service[] = [];
  for (const service of SERVICES) {
    const properties = await readProperties(service, ["LoadState", "ActiveState", "ExecStart"]);
    const program = /\bpath=([^ ;]+)/.exec(properties.get("ExecStart") ?? "")?.[1];
    const runsIt = program !== undefined && existsSync(program) && realpathSync(program) === executable;
    if (properties.get("LoadState") === "loaded" && properties.get("ActiveState") !== "inactive" && runsIt)
      found.push(service);
  }
  return found;
}

/** Returns whether systemd has given up on a service, and does not start it again. */
export async function hasEnded(service: Service): Promise<boolean> {
  return ENDED_STATES.has((await readProperties(service, ["ActiveState"])).get("ActiveState") ?? "");
}

export async function isActive(service: Service): Promise<boolean> {
  return (await readProperties(service, ["ActiveState"])).get("ActiveState") === "active";
}

/** Throws an `Error` with the output of systemctl. */
export async function changeService(action: "restart" | "stop", { name }: Service): Promise<void> {
  const systemctl = requireSystemctl();
  // A version that crashed at each start has used up the starts that systemd allows.
  if (action === "restart") await runProgram([systemctl, "reset-failed", name]);
  const { code, stderr } = await runProgram([systemctl, action, name]);
  if (code !== 0) throw new Error(`systemctl ${action} ${name} failed: ${stderr}`);
}

async function readProperties({ name }: Service, properties: string[]): Promise<Map<string, string>> {
  const systemctl = findSystemctl();
  if (systemctl === null) return new Map();
  const { code, stdout } = await runProgram([systemctl, "show", name, `--property=${properties.join(",")}`]);
  if (code !== 0) return new Map();
  return new Map(
    stdout.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

const findSystemctl = (): string | null => findProgram("systemctl", process.env.PATH);

function requireSystemctl(): string {
  const systemctl = findSystemctl();
  if (systemctl === null) throw new Error("systemctl is missing.");
  return systemctl;
}

/** Runs a program with the environment of this process. `stderr`: its last lines. The signal ends it. */
export async function runProgram(command: string[], signal?: AbortSignal) {
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]));
  const child = spawnChild({ command, env, stdout: "pipe", priority: "interactive", signal });
  const stdout = await new Response(child.stdout).text();
  const { code } = await child.exited;
  signal?.throwIfAborted();
  return { code, stdout, stderr: child.stderrTail() };
}
