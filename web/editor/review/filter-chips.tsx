import { useMemo } from "preact/hooks";
import { formatDuration } from "../../app/format";
import { type EditorPlan, getKeptDuration, type RemovalReason, toSeconds } from "../model/plan";
import { REASON_NAMES, REASONS } from "../reasons";
import { useEditor } from "../state/context";

/** Explains the colors, with the total duration of each. */
export function FilterChips() {
  const { editor, differences: compared } = useEditor();
  const late = editor.latePlan.value;
  const differences = compared.value;
  const { kept, removed, hasReviews } = useMemo(() => sumUp(late), [late]);
  return (
    <ul class="timeline-legend" aria-label="Colors of the timeline">
      <Entry name="kept" label="Kept" time={kept} />
      {REASONS.filter((reason) => removed.has(reason)).map((reason) => (
        <Entry key={reason} name={reason} label={REASON_NAMES[reason]} time={removed.get(reason)!} />
      ))}
      {hasReviews && <Entry name="to-review" label="To review" />}
      {differences.length > 0 && <Entry name="only-first" label="Only in this cut" />}
      {differences.length > 0 && <Entry name="only-second" label="Only in the other cut" />}
    </ul>
  );
}

function sumUp(plan: EditorPlan) {
  const removed = new Map<RemovalReason, number>();
  let hasReviews = false;
  for (const span of plan.spans) {
    if (span.isKept) hasReviews ||= span.review !== null;
    else removed.set(span.reason, (removed.get(span.reason) ?? 0) + span.end - span.start);
  }
  return { kept: getKeptDuration(plan), removed, hasReviews };
}

const Entry = ({ name, label, time }: { name: string; label: string; time?: number }) => (
  <li>
    <span class={`swatch ${name}`} />
    {label}
    {time !== undefined && <span class="soft number">{formatDuration(toSeconds(time))}</span>}
  </li>
);
