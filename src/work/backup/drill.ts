/**
 * The drill: restores a backup to a scratch folder, starts this program on it, and makes it check the data. The
 * restored server listens on a private socket only, runs no jobs, sends nothing, and knows only the scratch folder,
 * which is removed at the end.
 */
import { join } from "node:path";
import type { Folders } from "../../blobs/folders";
import type { Config } from "../../config";
import { sumBytes } from "../../domain/backup";
import { AppError, conflict } from "../../domain/errors";
import { spawnChild } from "../../lib/process";
import type { Backup } from "./backup-folder";
import { createDrillFolder, discardAbandonedDrills, restoreToScratch } from "./drill-folder";

export type DrillSource = {
  config: Pick<Config, "ffmpeg" | "encoder" | "sandbox">;
  folders: Folders;
  /** Starts this program on a restored backup. The path of the scratch folder is added. */
  drillCommand: string[];
  now(): number;
};

/** The findings of the restored server. Each problem is a sentence. `damaged`: paths of files. */
export type DrillFindings = {
  files: number;
  checked_files: number;
  balances: number;
  render_frames: number | null;
  problems: string[];
  damaged: string[];
};

export type DrillReport = Omit<DrillFindings, "damaged"> & { path: string; bytes: number; duration_ms: number };

const MAX_MINUTES = 30;
/** Settings of the restored server. None of them allows it to send or listen anywhere. */
const SETTINGS_NAME = "settings.toml";

/**
 * Tries out a backup. Files that seem to be damaged are verified in the backup, so that the next one stores them again.
 * `bytes` of the report: of the whole backup. Errors: `AppError` `storage_full` when the scratch folder does not fit,
 * `conflict` for a damaged database and after 30 minutes, `internal_error` when the restored server does not run; the
 * signal's reason.
 */
export async function runDrill(
  { config, folders, drillCommand, now }: DrillSource,
  backup: Backup,
  stopping: AbortSignal,
): Promise<DrillReport> {
  const started = performance.now();
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(conflict(`The drill took longer than ${MAX_MINUTES} minutes.`)),
    MAX_MINUTES * 60_000,
  );
  const signal = AbortSignal.any([stopping, limit.signal]);
  const suspects = new Set<string>();
  try {
    const parents = backup.download === null ? [join(backup.path, ".."), folders.root] : [folders.root];
    await discardAbandonedDrills(parents);
    await using scratch = await createDrillFolder(parents, now());
    await restoreToScratch(backup, scratch.path, suspects, signal);
    await Bun.write(join(scratch.path, SETTINGS_NAME), formatSettings(scratch.path, config));
    const { damaged, ...findings } = await runRestoredServer(drillCommand, scratch.path, signal);
    for (const path of damaged) suspects.add(path);
    const bytes = sumBytes(backup.manifest.files);
    return { path: backup.path, bytes, ...findings, duration_ms: Math.round(performance.now() - started) };
  } finally {
    clearTimeout(timer);
    // The drill itself reports the problem.
    if (suspects.size > 0) await backup.verify({ paths: suspects, signal: stopping }).catch(() => {});
  }
}

function formatSettings(scratch: string, { ffmpeg, encoder, sandbox }: DrillSource["config"]): string {
  const settings = { data_dir: join(scratch, "data"), port: 0, disk_reserve_bytes: 0, ffmpeg, encoder, sandbox };
  const given = Object.entries(settings).filter((setting) => setting[1] !== null);
  // The strings of JSON are strings of TOML.
  return given.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join("");
}

async function runRestoredServer(command: string[], scratch: string, signal: AbortSignal): Promise<DrillFindings> {
  const ionice = Bun.which("ionice", { PATH: "/usr/bin:/bin" });
  const temporary = join(scratch, "tmp");
  const child = spawnChild({
    command: [...(ionice === null ? [] : [ionice, "-t", "-c", "3"]), ...command, scratch],
    env: { PATH: process.env.PATH ?? "", HOME: scratch, TMPDIR: temporary, BUN_TMPDIR: temporary },
    cwd: scratch,
    stdout: "pipe",
    priority: "lowest",
    signal,
  });
  const [text, { code }] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  signal.throwIfAborted();
  if (code === 0) return JSON.parse(text) as DrillFindings;
  const reason = child.stderrTail().split("\n").at(-1) ?? "";
  throw new AppError("internal_error", `The restored server did not run: ${reason || `exit code ${code}`}`);
}
