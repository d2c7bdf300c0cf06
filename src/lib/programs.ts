/** Programs of the system: finds them on the PATH, and the command that installs them. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Folders searched after the PATH, because the PATH of a service may be short. */
const DEFAULT_FOLDERS = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** Returns the absolute path of the first executable named `name` on `path` or in the default folders, or null. */
export function findProgram(name: string, path: string | undefined): string | null {
  for (const folder of [...(path ?? "").split(delimiter), ...DEFAULT_FOLDERS]) {
    const candidate = join(folder, name);
    if (isAbsolute(folder) && isExecutableFile(candidate)) return candidate;
  }
  return null;
}

/** Returns whether the path is a file that this process may execute. */
export function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Package managers in order of preference, with the arguments that install a package. */
const PACKAGE_MANAGERS = [
  ["apt-get", "install"],
  ["dnf", "install"],
  ["zypper", "install"],
  ["pacman", "-S"],
  ["apk", "add"],
] as const;

/** Returns the command that installs a package, such as `apt-get install ffmpeg`; null without a package manager. */
export function findInstallCommand(name: string, path: string | undefined): string | null {
  const manager = PACKAGE_MANAGERS.find(([program]) => findProgram(program, path) !== null);
  return manager === undefined ? null : [...manager, name].join(" ");
}
