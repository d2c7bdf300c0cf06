/** Short names of the removal reasons, in legend order. */
import type { RemovalReason } from "./model/plan";

export const REASON_NAMES: Record<RemovalReason, string> = {
  silence: "Pause",
  filler: "Filler",
  retake: "Retake",
  off_script: "Not in the script",
  noise: "Noise",
  manual: "Removed by hand",
};

export const REASONS = Object.keys(REASON_NAMES) as RemovalReason[];
