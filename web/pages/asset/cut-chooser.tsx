import { describeCut } from "./describe-cut";
import type { Cuts } from "./use-cuts";

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
            {describeCut(cut, items)}
          </option>
        ))}
      </select>
    </label>
  );
}
