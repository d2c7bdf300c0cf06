/** The stored results of backups, verifications and drills. */

/** `bytes` is the size of all files including the database, `copied_bytes` that of files not in the previous backup. */
export type BackupFigures = {
  files: number;
  bytes?: number;
  copied_bytes?: number;
  /** Number of files that the data folder itself lacked. */
  missing_files?: number;
  /** Number of files whose contents were read and compared. */
  checked_files?: number;
  /** Number of workspaces whose balance was compared. */
  balances?: number;
  /** Number of frames of the render that was repeated; null if there was none. */
  render_frames?: number | null;
};

const MAX_NAMED_PROBLEMS = 5;

/** Formats the problems of a run as its error. Returns null if there are none. */
export function formatProblems(problems: readonly string[]): string | null {
  if (problems.length === 0) return null;
  const rest = problems.length - MAX_NAMED_PROBLEMS;
  return `${problems.slice(0, MAX_NAMED_PROBLEMS).join(" ")}${rest > 0 ? ` And ${rest} more.` : ""}`;
}
