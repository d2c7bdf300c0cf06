import { formatTimecode } from "../../app/format";
import { useComputedOf } from "../../app/use-computed-of";
import { findSpanIndex, toSeconds } from "../../editor/model/plan";
import { restoreSpan } from "../../editor/state/edit-actions";
import type { Editor } from "../../editor/state/editor-state";
import { describeReason, describeReview, describeRule } from "../../editor/state/reason-texts";
import { Button } from "../../ui/button";

/** Describes the span under the playhead: why it was removed or needs review. Offers to restore it. */
export function SpanInspector({ editor }: { editor: Editor }) {
  // Renders again only for another span, not for each frame.
  const index = useComputedOf(() => findSpanIndex(editor.plan.value, editor.playhead.value), [editor]);
  const span = editor.plan.value.spans[index.value]!;
  const times = `${formatTimecode(toSeconds(span.start))} to ${formatTimecode(toSeconds(span.end))}`;
  const rule = span.isKept ? null : describeRule(span.rule);
  return (
    <div class="inspector">
      <span class={`reason-dot ${span.isKept ? "kept" : span.reason}`} />
      <p class="inspector-text">
        {span.isKept ? (
          <>
            <strong>Kept</strong>
            {span.review !== null && <> · to review: {describeReview(span.review)}</>}
          </>
        ) : (
          <>
            <strong>{describeReason(span.reason)}</strong>
            {rule !== null && <>: {rule}</>}
          </>
        )}{" "}
        <span class="soft number">{times}</span>
      </p>
      {!span.isKept && editor.canEdit && <Button onClick={() => restoreSpan(editor, span)}>Restore</Button>}
    </div>
  );
}
