/** Names and icons of the removal reasons, in the order of the chips. */
import type { IconName } from "../ui/icon";
import type { RemovalReason } from "./model/plan";

export const REASON_NAMES: Record<RemovalReason, string> = {
  silence: "Pause",
  filler: "Filler",
  retake: "Retake",
  off_script: "Off script",
  noise: "Noise",
  manual: "By hand",
};

export const REASONS = Object.keys(REASON_NAMES) as RemovalReason[];

export const REASON_ICONS: Record<RemovalReason, IconName> = {
  silence: "pause",
  filler: "filler",
  retake: "retake",
  off_script: "offScript",
  noise: "noise",
  manual: "byHand",
};

/** The reason for which a marked part would be removed, by what the server says about it. */
const MARKED: Record<string, RemovalReason> = { "maybe a retake": "retake", "differs from the script": "off_script" };

/** Returns whose color and icon a place to review has; null if it belongs to no reason. */
export const getLook = ({ reason, review }: { reason: RemovalReason | null; review: string | null }) =>
  reason ?? MARKED[review ?? ""] ?? null;

const PLURALS: Record<RemovalReason, string> = {
  silence: "pauses",
  filler: "fillers",
  retake: "retakes",
  off_script: "parts off script",
  noise: "noises",
  manual: "removals by hand",
};

/** Returns "pause" or "pauses". */
export const nameCount = (reason: RemovalReason, count: number): string =>
  count === 1 ? PLURALS[reason].replace(/s(?= |$)/, "") : PLURALS[reason];
