/** What the server remembers of a backup, of its verification, and of a drill. */

/** `bytes`: of all files, with the database; `copied_bytes`: of those that the previous backup lacks. */
export type BackupFigures = {
  files: number;
  bytes?: number;
  copied_bytes?: number;
  /** Files that the data folder itself lacked. */
  missing_files?: number;
  /** Files whose contents were read and compared. */
  checked_files?: number;
  /** Workspaces whose balance was compared. */
  balances?: number;
  /** Frames of the render that was rendered again; null when there was none to render. */
  render_frames?: number | null;
};

/** Maximum number of problems that the error of a run names. */
const MAX_NAMED_PROBLEMS = 5;

/** Returns the problems of a run as its error. Null without problems. */
export function formatProblems(problems: readonly string[]): string | null {
  if (problems.length === 0) return null;
  const rest = problems.length - MAX_NAMED_PROBLEMS;
  return `${problems.slice(0, MAX_NAMED_PROBLEMS).join(" ")}${rest > 0 ? ` And ${rest} more.` : ""}`;
}
