import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatTimecode } from "../../app/format";
import { useComputedOf } from "../../app/use-computed-of";
import { comparePlans, type Difference } from "../../editor/model/compare";
import { readPlan, toSeconds } from "../../editor/model/plan";
import { useEditor } from "../../editor/state/context";
import type { Editor } from "../../editor/state/editor-state";
import { readExcerpt } from "../../editor/state/excerpt";
import { nameVersion } from "../../editor/versions/name-version";
import { ErrorPanel } from "../../ui/states";
import { fetchCut } from "./use-cuts";

/** The cut to compare with, or null. */
const otherId = signal<string | null>(null);

/** Lists the parts that only one of two cuts keeps. */
export function ComparePanel() {
  const { editor, cuts } = useEditor();
  const listed = cuts.items;
  const all = listed.kind === "ready" ? listed.value : [];
  const others = all.filter(({ id, state }) => state === "completed" && id !== cuts.openId);
  const isChosen = others.some(({ id }) => id === otherId.value);
  const chosen = isChosen ? otherId.value : null;
  if (editor.cut === null || others.length === 0) return null;
  return (
    <section id="compare" class="panel" aria-labelledby="compare-title" tabIndex={-1}>
      <h2 id="compare-title">Compare</h2>
      <label class="field">
        <span class="label">Compare with</span>
        <select
          class="input"
          value={chosen ?? ""}
          onChange={(event) => {
            otherId.value = event.currentTarget.value || null;
          }}
        >
          <option value="">No other cut</option>
          {others.map((cut) => (
            <option key={cut.id} value={cut.id}>
              {nameVersion(cut, all)}
            </option>
          ))}
        </select>
      </label>
      {chosen !== null && <Differences key={chosen} otherId={chosen} />}
    </section>
  );
}

function Differences({ otherId }: { otherId: string }) {
  const { editor, playback, differences } = useEditor();
  const other = useRead(["cut", otherId], (signal) => fetchCut(otherId, signal));
  const found = useComputedOf(() => {
    const { value } = other.state;
    return value.kind === "ready" && value.value.plan
      ? comparePlans(editor.latePlan.value, readPlan(value.value.plan))
      : [];
  }, [editor, other]);
  const list = found.value;
  useEffect(() => {
    differences.value = list;
  }, [list]);
  useEffect(
    () => () => {
      differences.value = [];
    },
    [],
  );
  const state = other.state.value;
  if (state.kind === "failed") return <ErrorPanel message={state.message} onRetry={() => void other.reload()} />;
  if (state.kind === "loading") return <p class="soft">Comparing…</p>;
  if (list.length === 0) return <p class="soft">Both cuts keep the same parts.</p>;
  return (
    <ul class="difference-list" aria-label="Differences">
      {list.map((difference) => (
        <li key={difference.start}>
          <button type="button" class="difference" onClick={() => playback.seek(difference.start)}>
            <span class="number">{formatTimecode(toSeconds(difference.start))}</span>
            <span class="difference-text">
              <strong>{difference.only === "first" ? "Only in this cut" : "Only in the other cut"}</strong>
              <span class="soft truncate" dir="auto">
                {describe(editor, difference)}
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

const describe = (editor: Editor, { start, end }: Difference): string =>
  readExcerpt(editor, { start, end }) || `${toNumber(Number(toSeconds(end - start).toFixed(2)))} s without words`;
