/**
 * The sandbox for processes that read uploaded media. They have no network access, and of the file system they see only
 * the programs, their libraries and the folders of one job. `bwrap` (bubblewrap) restricts both; where it does not
 * work, `unshare` removes only the network.
 */
/** The paths that a sandboxed process can access besides the programs. All are absolute. The innermost path applies. */
export type SandboxView = {
  readOnly: string[];
  writable: string[];
  /** Whether GPUs and hardware encoders are visible. */
  devices: boolean;
};

export type Sandbox = {
  mode: "bwrap" | "unshare" | "none";
  /** Why the mode is not `bwrap`, and how to fix it; null if it is. */
  reason: string | null;
  /** Whether `devices` of a view makes a difference. */
  hasDevices?: boolean;
  /** Returns the command that runs `command` in the sandbox. */
  wrap(command: string[], view: SandboxView): string[];
};

/** A system folder or file. It is bound read-only, or recreated if it is a symbolic link. */
export type SystemEntry = { bind: string } | { link: string; target: string };

/** The `bwrap` arguments that do not depend on the command. */
export type BwrapHost = {
  /** Absolute path of `bwrap`. */
  program: string;
  /** The namespace and privilege options that work here. */
  options: readonly string[];
  system: readonly SystemEntry[];
  /** Files and folders visible to every job: the programs, their libraries, the extracted assets. */
  shared: readonly string[];
  /** Device nodes, and the files that drivers read to find them. */
  devices: { nodes: readonly string[]; information: readonly string[] };
};

/** Creates a sandbox that does not restrict anything. */
export function createNullSandbox(reason: string): Sandbox {
  return { mode: "none", reason, wrap: (command) => command };
}

/** Builds the command line of `bwrap`. Mounts are made in order, so a path must come after those that contain it. */
export function buildBwrapArguments(host: BwrapHost, command: readonly string[], view: SandboxView): string[] {
  const access = new Map<string, string[]>();
  for (const path of host.shared) access.set(path, ["--ro-bind-try", path, path]);
  for (const path of view.readOnly) access.set(path, ["--ro-bind", path, path]);
  for (const path of view.writable) access.set(path, ["--bind", path, path]);
  const outerPathsFirst = [...access].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, bind]) => bind);
  return [
    host.program,
    ...host.options,
    ...host.system.flatMap((entry) =>
      "bind" in entry ? ["--ro-bind", entry.bind, entry.bind] : ["--symlink", entry.target, entry.link],
    ),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...(view.devices ? buildDeviceArguments(host.devices) : []),
    ...outerPathsFirst,
    // If the server runs as root, its user ID owns the files below /proc/sys.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    "--",
    ...command,
  ];
}

function buildDeviceArguments({ nodes, information }: BwrapHost["devices"]): string[] {
  return [
    ...nodes.flatMap((path) => ["--dev-bind-try", path, path]),
    ...information.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}
