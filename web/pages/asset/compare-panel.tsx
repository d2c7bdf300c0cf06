import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useRead } from "../../app/cache";
import { formatCount, formatTimecode } from "../../app/format";
import { formatRounded } from "../../app/rare-formats";
import { applyPlanTexts, rebaseCorrections } from "../../editor/model/corrections";
import {
  comparePlans,
  type Difference,
  type EditorPlan,
  fromSeconds,
  keepOnly,
  listKept,
  readPlan,
  toSeconds,
} from "../../editor/model/plan";
import { findContext } from "../../editor/model/review-queue";
import { readExcerpt } from "../../editor/reasons";
import { useComputedOf, useEditor } from "../../editor/state/context";
import { describeChange } from "../../editor/state/edit-actions";
import type { Editor, Plan } from "../../editor/state/editor-state";
import { MIN_PAUSE } from "../../editor/transcript/paragraphs";
import { nameVersion } from "../../editor/versions/name-version";
import { Button } from "../../ui/button";
import { SelectField } from "../../ui/form";
import { ErrorPanel } from "../../ui/states";
import { fetchCut } from "./use-cuts";

/** The cut to compare with, or null. */
const otherId = signal<string | null>(null);

/** Versions of a cut differ in hundreds of pauses by a few frames, which are not worth comparing. */
const isAudible = (editor: Editor, difference: Difference): boolean =>
  readExcerpt(editor, difference) !== "" || difference.end - difference.start >= MIN_PAUSE;

type Filter = "audible" | "long" | "all";
const FILTERS: { value: Filter; label: string }[] = [
  { value: "audible", label: "Words, and pauses from 0.3 s" },
  { value: "long", label: "From 1 s" },
  { value: "all", label: "Every difference" },
];
const IS_SHOWN: Record<Filter, (editor: Editor, difference: Difference) => boolean> = {
  audible: isAudible,
  long: (_, { start, end }) => end - start >= fromSeconds(1),
  all: () => true,
};
const filter = signal<Filter>("audible");

/** Lists the parts that only one of two cuts keeps. Each can be played in both, and the other cut can be restored. */
export function ComparePanel() {
  const { editor, cuts } = useEditor();
  const listed = cuts.items;
  const all = listed.kind === "ready" ? listed.value : [];
  const others = all.filter(({ id, state }) => state === "completed" && id !== editor.cut?.id);
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
      {chosen !== null && (
        <SelectField
          label="Show"
          value={filter.value}
          options={FILTERS}
          onChange={(value) => {
            filter.value = value;
          }}
        />
      )}
      {chosen !== null && (
        <Differences key={chosen} otherId={chosen} name={nameVersion(others.find(({ id }) => id === chosen)!, all)} />
      )}
    </section>
  );
}

function Differences({ otherId, name }: { otherId: string; name: string }) {
  const { editor, playback, differences } = useEditor();
  const other = useRead(["cut", otherId], (signal) => fetchCut(otherId, signal));
  const { value: loaded } = other.state;
  const plan = loaded.kind === "ready" ? (loaded.value.plan ?? null) : null;
  const found = useComputedOf(
    () => (plan === null ? [] : comparePlans(editor.latePlan.value, readPlan(plan))),
    [editor, plan],
  );
  const list = found.value.filter((difference) => IS_SHOWN[filter.value](editor, difference));
  useEffect(() => {
    differences.value = list;
  }, [found.value, filter.value]);
  useEffect(
    () => () => {
      differences.value = [];
    },
    [],
  );
  if (loaded.kind === "failed") return <ErrorPanel error={loaded.error} onRetry={() => void other.reload()} />;
  if (loaded.kind === "loading") return <p class="soft">Comparing…</p>;
  if (found.value.length === 0) return <p class="soft">Both cuts keep the same parts.</p>;
  const play = (one: EditorPlan, difference: Difference) => playback.playPart(one, findContext(one, difference));
  const isReady = playback.isReady.value;
  const hidden = found.value.length - list.length;
  return (
    <>
      {editor.canEdit && plan !== null && (
        <Button icon="undo" onClick={() => restoreVersion(editor, plan, name)}>
          Restore this version
        </Button>
      )}
      {hidden > 0 && (
        <p class="soft">
          {formatCount(hidden, "shorter difference")} {hidden === 1 ? "is" : "are"} hidden.
        </p>
      )}
      <ul class="difference-list" aria-label="Differences">
        {list.map((difference) => {
          const at = formatTimecode(toSeconds(difference.start));
          return (
            <li key={difference.start} class="difference-row">
              <button type="button" class="difference" onClick={() => playback.seek(difference.start)}>
                <span class="number">{at}</span>
                <span class="difference-text">
                  <strong>{difference.only === "first" ? "Only in this cut" : "Only in the other cut"}</strong>
                  <span class="soft truncate" dir="auto">
                    {describe(editor, difference)}
                  </span>
                </span>
              </button>
              <Button
                class="filled"
                icon="play"
                disabled={!isReady}
                aria-label={`Play this cut at ${at}`}
                title="Play this cut"
                onClick={() => play(editor.plan.value, difference)}
              >
                This
              </Button>
              <Button
                class="filled"
                icon="play"
                disabled={!isReady || plan === null}
                aria-label={`Play the other cut at ${at}`}
                title="Play the other cut"
                onClick={() => plan !== null && play(readPlan(plan), difference)}
              >
                Other
              </Button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** Edits the open cut so that it has the parts and texts of another one. Undo restores the previous edits. */
function restoreVersion(editor: Editor, plan: Plan, name: string): void {
  const before = editor.plan.value;
  const restored = keepOnly(before, listKept(readPlan(plan)));
  const texts = applyPlanTexts(editor.words, [...plan.segments, ...plan.removed]);
  const corrections = rebaseCorrections([], texts, editor.words);
  editor.apply(
    { plan: restored, corrections },
    `Restore ${name}`,
    `${name} restored, ${describeChange(before, restored)}`,
  );
}

const describe = (editor: Editor, { start, end }: Difference): string =>
  readExcerpt(editor, { start, end }) || `${formatRounded(toSeconds(end - start), 2)} s without words`;
