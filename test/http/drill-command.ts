/** A stand-in for the restored server of a drill that starts immediately, for tests that are not about its findings. */
import type { DrillFindings } from "../../src/work/backup/drill";

export const GOOD_FINDINGS: DrillFindings = {
  files: 3912,
  checked_files: 3912,
  balances: 12,
  render_frames: 240,
  problems: [],
  damaged: [],
};

/** The command of a drill that proves every backup. */
export const PROVING_DRILL = ["/bin/sh", "-c", `echo '${JSON.stringify(GOOD_FINDINGS)}'`];
