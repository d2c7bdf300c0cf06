/** Names of cuts in lists. */
import { toClock, toDay, toMonthDay } from "../../app/english";
import type { ListedCut } from "./use-cuts";

type DescribedCut = Pick<ListedCut, "id" | "state" | "script" | "options" | "edited_from" | "created_at">;

const MODES: Record<string, string> = { tight: "Tight", natural: "Natural", loose: "Loose", manual: "By hand" };
const STATES: Record<string, string> = { pending: "waiting", processing: "in progress", failed: "failed" };

function formatCreated(iso: string, hasSeconds: boolean): string {
  const time = new Date(iso);
  const toDate = time.getFullYear() === new Date().getFullYear() ? toMonthDay : toDay;
  return `${toDate(time)}, ${toClock(time, hasSeconds)}`;
}

const MINUTE_CHARACTERS = "2026-11-22T14:03".length;
const toMinute = ({ created_at }: DescribedCut): string => created_at.slice(0, MINUTE_CHARACTERS);

/** Returns a name such as "Natural, with script · Nov 22, 2:03 PM". Cuts created in the same minute show seconds. */
export function describeCut(cut: DescribedCut, all: readonly DescribedCut[]): string {
  const kind = cut.edited_from !== null ? "Edited" : (MODES[cut.options.mode] ?? cut.options.mode);
  const script = cut.script === "" ? "" : ", with script";
  const state = STATES[cut.state];
  const hasSeconds = all.some((other) => other.id !== cut.id && toMinute(other) === toMinute(cut));
  return `${kind}${script} · ${formatCreated(cut.created_at, hasSeconds)}${state ? ` · ${state}` : ""}`;
}
