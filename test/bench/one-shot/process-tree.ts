/**
 * Runs a command and measures its whole process tree: wall time, CPU time of all descendants, and the command of each
 * process.
 */
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

export type TreeCost = { wallMs: number; cpuMs: number; stdout: string; processes: TreeProcess[] };

/** A process of the tree. Times are in milliseconds since the start; `cpuMs` is the value of the last sample. */
type TreeProcess = { pid: number; command: string; startMs: number; endMs: number; cpuMs: number; nice: number };

const SAMPLE_MS = 4;
const TICK_MS = 10;

/**
 * A control group also counts the CPU time of processes that are not waited for, and of those in their own PID
 * namespace, which the sum of `wait4` misses. Needs root.
 */
export function createGroup() {
  const name = `offcut-bench-${process.pid}`;
  const legacy = "/sys/fs/cgroup/cpuacct";
  const isLegacy = canRead(join(legacy, "cpuacct.usage"));
  const folder = join(isLegacy ? legacy : "/sys/fs/cgroup", name);
  mkdirSync(folder, { recursive: true });
  const readCpuMs = () =>
    isLegacy
      ? Number(readFileSync(join(folder, "cpuacct.usage"), "utf8")) / 1e6
      : Number(/usage_usec (\d+)/.exec(readFileSync(join(folder, "cpu.stat"), "utf8"))![1]) / 1e3;
  return { procs: join(folder, "cgroup.procs"), readCpuMs, remove: () => rmdirSync(folder) };
}

function canRead(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs the command to its end. `profile` samples the processes, which costs a few percent of a core. Throws when it
 * fails.
 */
export async function measureTree(command: string[], { profile = false } = {}): Promise<TreeCost> {
  const group = createGroup();
  const processes = new Map<string, TreeProcess>();
  const cpuBefore = group.readCpuMs();
  const started = performance.now();
  const child = Bun.spawn(["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', group.procs, ...command], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    env: process.env,
  });
  const sampling = profile
    ? setInterval(() => sample(group.procs, processes, performance.now() - started), SAMPLE_MS)
    : undefined;
  const stdout = await new Response(child.stdout).text();
  const code = await child.exited;
  const wallMs = performance.now() - started;
  clearInterval(sampling);
  while (readFileSync(group.procs, "utf8") !== "") await Bun.sleep(SAMPLE_MS);
  const cpuMs = group.readCpuMs() - cpuBefore;
  group.remove();
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}`);
  const listed = [...processes.values()].sort((a, b) => a.startMs - b.startMs);
  return { wallMs, cpuMs, stdout, processes: listed };
}

/** A process that becomes another program counts as a new one. */
function sample(procs: string, processes: Map<string, TreeProcess>, now: number): void {
  for (const pid of readFileSync(procs, "utf8").split("\n")) {
    if (pid === "") continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
      const key = `${pid} ${command}`;
      const known = processes.get(key);
      if (known !== undefined) Object.assign(known, { endMs: now, cpuMs, nice: Number(fields[16]) });
      else processes.set(key, { pid: Number(pid), command, startMs: now, endMs: now, cpuMs, nice: Number(fields[16]) });
    } catch {
      // The process has ended.
    }
  }
}
