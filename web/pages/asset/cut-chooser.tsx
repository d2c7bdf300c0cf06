import { toClock, toDay, toMonthDay } from "../../app/english";
import type { Cuts, ListedCut } from "./use-cuts";

const MODES: Record<string, string> = { tight: "Tight", natural: "Natural", loose: "Loose" };
const STATES: Record<string, string> = { pending: "waiting", processing: "in progress", failed: "failed" };

const formatCreated = (iso: string): string => {
  const time = new Date(iso);
  const toDate = time.getFullYear() === new Date().getFullYear() ? toMonthDay : toDay;
  return `${toDate(time)}, ${toClock(time)}`;
};

/** Returns "Natural, with script · Nov 22, 2:03 PM". */
export function describeCut(cut: ListedCut): string {
  const kind = cut.edited_from !== null ? "Edited" : (MODES[cut.options.mode] ?? cut.options.mode);
  const script = cut.script === "" ? "" : ", with script";
  const state = STATES[cut.state];
  return `${kind}${script} · ${formatCreated(cut.created_at)}${state ? ` · ${state}` : ""}`;
}

/** Chooses which cut of the recording is open. */
export function CutChooser({ cuts }: { cuts: Cuts }) {
  const listed = cuts.items;
  const items = listed.kind === "ready" ? listed.value : [];
  if (items.length === 0) return null;
  return (
    <label class="cut-chooser">
      <span class="soft">Cut</span>
      <select class="input" value={cuts.openId ?? ""} onChange={(event) => cuts.choose(event.currentTarget.value)}>
        {items.map((cut) => (
          <option key={cut.id} value={cut.id}>
            {describeCut(cut)}
          </option>
        ))}
      </select>
    </label>
  );
}
