/** Finds out which sandbox works on this machine. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { spawnChild } from "./process";
import { findInstallCommand, findProgram } from "./programs";
import { type BwrapHost, buildBwrapArguments, createNullSandbox, type Sandbox, type SystemEntry } from "./sandbox";

/** Unshares all namespaces, ends with the server, and drops all capabilities and the ways to regain them. */
const ISOLATION_OPTIONS = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"];
const NO_NESTED_NAMESPACES_OPTIONS = ["--unshare-user", "--disable-userns"];
const MAX_TMP_BYTES = 64 * 1024 ** 2;
const TMP_OPTIONS = ["--size", String(MAX_TMP_BYTES), "--tmpfs", "/tmp"];

/** Option sets, from the strictest to the one that `bwrap` 0.4 supports. */
const OPTION_SETS = [
  [...ISOLATION_OPTIONS, ...NO_NESTED_NAMESPACES_OPTIONS, ...TMP_OPTIONS],
  [...ISOLATION_OPTIONS, ...TMP_OPTIONS],
  [...ISOLATION_OPTIONS, "--dir", "/tmp"],
];

const LIBRARY_FOLDERS = ["lib", "lib32", "lib64", "libx32"];
const SYSTEM_FOLDERS = [
  ...LIBRARY_FOLDERS.flatMap((name) => [`/${name}`, `/usr/${name}`]),
  "/usr/local/lib",
  "/nix/store",
  "/gnu/store",
];
/** Files that the dynamic loader reads. On Debian, some libraries are links through `/etc/alternatives`. */
const LOADER_FILES = ["/etc/ld.so.cache", "/etc/alternatives", "/bin/sh"];
const DEVICE_INFORMATION = ["/sys/bus/pci", "/sys/class/drm", "/sys/dev/char", "/sys/devices"];
const DEVICE_NAMES = /^(dri|nvidia.*|video\d+)$/;

const MAX_PROBE_SECONDS = 20;

/**
 * Finds the strictest sandbox that works on this machine by running `probe` (a short, harmless command) in it.
 * `programs` are the programs that jobs run: they and their libraries are visible. `shared` are additional visible
 * files and folders.
 */
export async function findSandbox(options: {
  /** False if the administrator has turned the sandbox off. */
  wanted: boolean;
  programs: string[];
  shared: string[];
  probe: string[];
  /** Receives the output of the probe that worked in `bwrap`. */
  onProbed?: (output: ProgramOutput) => void;
  /** The PATH on which `bwrap` and `unshare` are searched first. */
  path: string | undefined;
}): Promise<Sandbox> {
  if (!options.wanted) return createNullSandbox("disabled by the setting sandbox");
  const bwrap = await findBwrap(options);
  if (typeof bwrap !== "string") {
    const hasDevices = bwrap.devices.nodes.length > 0;
    const wrap: Sandbox["wrap"] = (command, view) => buildBwrapArguments(bwrap, command, view);
    return { mode: "bwrap", reason: null, hasDevices, wrap };
  }
  const prefix = await findUnshare(options);
  if (prefix === null) return createNullSandbox(`${bwrap}; unshare cannot remove the network either`);
  return { mode: "unshare", reason: bwrap, wrap: (command) => [...prefix, ...command] };
}

type SandboxSearch = Omit<Parameters<typeof findSandbox>[0], "wanted">;

/** Output of a program. `stderr` is limited to the last 8 KiB. */
export type ProgramOutput = { stdout: string; stderr: string };

/** Returns the arguments of `bwrap`, or the reason why it cannot be used, in one line. */
async function findBwrap(search: SandboxSearch): Promise<BwrapHost | string> {
  const program = findProgram("bwrap", search.path);
  if (program === null) {
    const command = findInstallCommand("bubblewrap", search.path);
    return `bwrap is not installed${command === null ? "" : `: run ${command}`}`;
  }
  const nodes = listDeviceNodes();
  const common = {
    program,
    system: [...listSystemEntries(), ...LOADER_FILES.filter((path) => existsSync(path)).map((bind) => ({ bind }))],
    devices: { nodes, information: nodes.length === 0 ? [] : DEVICE_INFORMATION },
  };
  const programs = [...search.shared, ...search.programs.flatMap((path) => [path, realpathSync(path)])];
  let problem = "";
  // Checked last: listing libraries takes longer than a probe, and few are outside of the system folders.
  for (const libraries of [
    async () => [],
    async () => (await Promise.all(search.programs.map(listLibraries))).flat(),
  ]) {
    const shared = [...programs, ...(await libraries())].filter(isOutsideSystemFolders);
    for (const options of OPTION_SETS) {
      const host = { ...common, shared, options };
      const view = { readOnly: [], writable: [], devices: true };
      const outcome = await runProbe(buildBwrapArguments(host, search.probe, view));
      if (outcome.ok) {
        search.onProbed?.(outcome.output);
        return host;
      }
      problem = outcome.message;
    }
  }
  return `bwrap does not work here (${problem})${getRestrictionHint()}`;
}

/** Returns how to lift the restriction on Ubuntu, which allows user namespaces only to confined programs. */
function getRestrictionHint(): string {
  try {
    const restricted = readFileSync("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "utf8").trim();
    return restricted === "1"
      ? ": AppArmor restricts user namespaces, load a profile for bwrap that allows userns"
      : "";
  } catch {
    return "";
  }
}

/** Returns the command prefix that removes the network, directly as root or otherwise with a user namespace. */
async function findUnshare(search: SandboxSearch): Promise<string[] | null> {
  const program = findProgram("unshare", search.path);
  if (program === null) return null;
  for (const flags of ["-n", "-rn"]) {
    const prefix = [program, flags, "--"];
    if ((await runProbe([...prefix, ...search.probe])).ok) return prefix;
  }
  return null;
}

async function runProbe(command: string[]): Promise<{ ok: boolean; message: string; output: ProgramOutput }> {
  const child = spawnChild({ command, stdout: "pipe", limits: { wallSeconds: MAX_PROBE_SECONDS } });
  const [stdout, { code, signal }] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  const stderr = child.stderrTail();
  const lastLine = stderr.split("\n").at(-1)?.trim();
  return { ok: code === 0, message: lastLine || `ended with ${signal ?? `code ${code}`}`, output: { stdout, stderr } };
}

function listSystemEntries(): SystemEntry[] {
  return SYSTEM_FOLDERS.filter((path) => existsSync(path)).map((path) =>
    lstatSync(path).isSymbolicLink() ? { link: path, target: readlinkSync(path) } : { bind: path },
  );
}

function listDeviceNodes(): string[] {
  return readdirSync("/dev")
    .filter((name) => DEVICE_NAMES.test(name))
    .map((name) => join("/dev", name));
}

const isOutsideSystemFolders = (path: string): boolean =>
  !SYSTEM_FOLDERS.some((folder) => path.startsWith(`${folder}/`));

/** Returns the libraries that `ldd` lists. The list is empty for a static program or a script. */
async function listLibraries(program: string): Promise<string[]> {
  const ldd = findProgram("ldd", undefined);
  if (ldd === null) return [];
  const child = spawnChild({ command: [ldd, program], stdout: "pipe", limits: { wallSeconds: MAX_PROBE_SECONDS } });
  const [text] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return [...text.matchAll(/(?:=>\s*|^[ \t]+)(\/\S+)/gm)].map((match) => match[1]!).filter((path) => existsSync(path));
}
