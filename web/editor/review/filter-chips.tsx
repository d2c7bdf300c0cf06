import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Action, performAction, titleAction, useActions } from "../../app/actions";
import { formatDuration } from "../../app/format";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { fromSeconds, type RemovalReason, toSeconds } from "../model/plan";
import { countReasons, type ReasonTotal } from "../model/reason-edits";
import { nameCount, REASON_ICONS, REASON_NAMES, REASONS } from "../reasons";
import { useEditor } from "../state/context";
import { removeAll, removePausesFrom, restoreAll } from "../state/edit-actions";
import type { Editor } from "../state/editor-state";

/** The removal reasons of the cut. A pressed one dims the others, and offers to restore or remove all of it. */
export function FilterChips() {
  const { editor, differences } = useEditor();
  const totals = useMemo(() => countReasons(editor.latePlan.value), [editor.latePlan.value]);
  const shown = listShown(editor, totals);
  const filter = editor.filter.value;
  useActions(() => listActions(editor), [editor]);
  const row = useRef<HTMLDivElement>(null);
  // On a phone, the buttons of the pressed chip may be out of view.
  useLayoutEffect(() => {
    row.current?.querySelector(".button")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [filter]);
  return (
    <div class="chips">
      {differences.value.length > 0 && (
        <ul class="timeline-legend" aria-label="Colors of the comparison">
          <li>
            <span class="swatch only-first" />
            Only in this cut
          </li>
          <li>
            <span class="swatch only-second" />
            Only in the other cut
          </li>
        </ul>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
      <div ref={row} class="chips" role="group" aria-label="Removed, by reason">
        {shown.map((reason) => (
          <Chip key={reason} editor={editor} reason={reason} total={totals.get(reason)} />
        ))}
        {filter !== null && editor.canEdit && (
          <ReasonButtons key={filter} editor={editor} reason={filter} total={totals.get(filter)} />
        )}
      </div>
    </div>
  );
}

/** Returns the reasons of the edited cut and of the stored cut. */
function listShown(editor: Editor, totals = countReasons(editor.latePlan.value)): RemovalReason[] {
  const stored = countReasons(editor.stored.plan);
  return REASONS.filter((reason) => totals.has(reason) || stored.has(reason));
}

function listActions(editor: Editor): Action[] {
  const filters = REASONS.map((reason, index) => ({
    name: `filter.${reason}`,
    label: `Show only: ${REASON_NAMES[reason]}`,
    group: "Reasons",
    keys: [`Alt+${index + 1}`],
    isEnabled: () => editor.filter.value === reason || listShown(editor).includes(reason),
    perform: () => {
      editor.filter.value = editor.filter.peek() === reason ? null : reason;
    },
    explain: () => editor.announce(`No ${nameCount(reason, 0)}`),
  }));
  const leave = {
    name: "filter.leave",
    label: "Show all reasons again",
    group: "Reasons",
    keys: ["Escape"],
    isEnabled: () => editor.filter.value !== null && editor.range.value === null,
    perform: () => {
      editor.filter.value = null;
    },
  };
  return [...filters, leave];
}

type ChipProps = { editor: Editor; reason: RemovalReason; total: ReasonTotal | undefined };

function Chip({ editor, reason, total }: ChipProps) {
  const name = `filter.${reason}`;
  return (
    <button
      type="button"
      class={total === undefined ? `chip ${reason} restored` : `chip ${reason}`}
      aria-pressed={editor.filter.value === reason}
      title={titleAction(name)}
      onClick={() => performAction(name)}
    >
      <Icon name={REASON_ICONS[reason]} />
      <b>{REASON_NAMES[reason]}</b>
      <span class="number">
        {total === undefined ? "restored" : `${total.count} · ${formatDuration(toSeconds(total.time))}`}
      </span>
    </button>
  );
}

function ReasonButtons({ editor, reason, total }: ChipProps) {
  if (total === undefined) return <Button onClick={() => removeAll(editor, reason)}>Remove all again</Button>;
  return (
    <>
      <Button
        aria-label={`Restore all ${total.count} ${nameCount(reason, total.count)}`}
        onClick={() => restoreAll(editor, reason)}
      >
        Restore all {total.count}
      </Button>
      {reason === "silence" && <PauseLimit editor={editor} />}
    </>
  );
}

const FIRST_LIMIT = "0.6";

function PauseLimit({ editor }: { editor: Editor }) {
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const seconds = Number(limit);
  return (
    <form
      class="pause-limit"
      onSubmit={(event) => {
        event.preventDefault();
        if (seconds > 0) removePausesFrom(editor, fromSeconds(seconds));
      }}
    >
      <label>
        Longer than{" "}
        <input
          class="input number"
          type="number"
          min="0.1"
          max="60"
          step="0.1"
          required
          value={limit}
          onInput={(event) => setLimit(event.currentTarget.value)}
        />{" "}
        s
      </label>
      <Button type="submit">Remove only these</Button>
    </form>
  );
}
