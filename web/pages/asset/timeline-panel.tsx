import { signal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import { touch } from "../../app/narrow";
import { isLongPress, openContextMenu } from "../../editor/context-menu";
import { findSpanIndex, type Range } from "../../editor/model/plan";
import { toTimecode } from "../../editor/model/timecodes";
import { findWordAt, getWordBounds } from "../../editor/model/words";
import { PacingButton } from "../../editor/pacing/pacing-panel";
import { toCutTime } from "../../editor/player/timeline";
import { measureRange, REASON_NAMES } from "../../editor/reasons";
import { FilterChips } from "../../editor/review/filter-chips";
import { useReview } from "../../editor/review/use-review";
import { useEditor } from "../../editor/state/context";
import { dragEdge } from "../../editor/state/edit-actions";
import { type Editor, NO_MARKS } from "../../editor/state/editor-state";
import { playJoin } from "../../editor/state/seek-actions";
import { Timeline } from "../../editor/timeline/timeline";
import { shownRange } from "../../editor/transcript/transcript-tab";
import { findSize, panelSizes, TimelineResizer } from "./panel-resizers";
import { SelectionTools } from "./selection-tools";

const MENU = [
  ["playback.toggle", "edit.toggle", "edit.restore-all", "playback.loop"],
  ["edit.mark-in", "edit.mark-out", "edit.clear"],
  ["edit.trim-previous", "edit.trim-next"],
  ["timeline.zoom-in", "timeline.zoom-out", "timeline.fit"],
];

/** Selects the removed span at a time. Keeps a selection that has the time, and clears any other. */
function selectAt(editor: Editor, time: number): void {
  const range = editor.range.peek();
  if (range !== null && range.start <= time && time < range.end) return;
  const { spans } = editor.plan.peek();
  const span = spans[findSpanIndex(editor.plan.peek(), time)]!;
  editor.selection.value = null;
  editor.marks.value = NO_MARKS;
  editor.span.value = span.isKept ? null : span;
}

/** Selects the removed span at a time, or returns the word there; an empty range if there is neither. */
function holdAt(editor: Editor, time: number): Range | null {
  const { plan, words, span } = editor;
  const { spans } = plan.peek();
  const found = spans[findSpanIndex(plan.peek(), time)]!;
  if (!found.isKept) {
    span.value = found;
    editor.announce(`${REASON_NAMES[found.reason]}, ${measureRange(editor, found)}, removed`);
    return null;
  }
  const word = findWordAt(words, time);
  const isSaid = word >= 0 && words.end[word]! > time;
  return isSaid ? getWordBounds(words, { from: word, to: word + 1 }) : { start: time, end: time };
}

/** Whether removed spans are shown as seams. */
export const isCollapsed = signal(false);

/** The timeline of the recording. Removed spans have the color of their reason. */
export function TimelinePanel() {
  const { asset, editor, playback, strip, differences, frame, clock } = useEditor();
  const { waveform, storyboard } = strip;
  // The flag has the time that the large timecode has.
  const formatTime = useCallback(
    (time: number) =>
      playback.mode.value === "cut"
        ? toTimecode(clock, toCutTime(playback.cutPieces.value, time), false)
        : toTimecode(clock, time, true),
    [playback, clock],
  );
  return (
    <section class="timeline-panel" aria-label="Timeline">
      <TimelineResizer />
      <Timeline
        plan={editor.plan.value}
        words={editor.words}
        texts={editor.texts.value}
        waveform={waveform}
        storyboard={storyboard}
        hasAudio={asset.audio_tracks !== 0}
        playhead={playback.playhead}
        isPlaying={playback.isPlaying}
        selection={editor.range.value}
        edge={editor.edge}
        differences={differences.value}
        found={editor.found.value}
        marks={useReview()?.openMarks.value}
        frameDuration={frame}
        height={findSize(panelSizes.waveHeight)}
        tools={
          <>
            <SelectionTools />
            <FilterChips />
            <span class="spacer" />
            <PacingButton />
            {editor.cut !== null && (
              <label class="collapse">
                <input
                  type="checkbox"
                  class="switch"
                  checked={isCollapsed.value}
                  onChange={(event) => {
                    isCollapsed.value = event.currentTarget.checked;
                  }}
                />
                <span>
                  Collapse<span class="collapse-what"> removed</span>
                </span>
              </label>
            )}
          </>
        }
        filter={editor.filter.value}
        isCollapsed={isCollapsed.value}
        formatTime={formatTime}
        onSeek={playback.seek}
        onScrub={playback.scrub}
        onMoveEdge={
          editor.canEdit
            ? (edge, to, isDone) => {
                dragEdge(editor, edge, to, isDone);
                // Plays the new join, unless the drag was canceled.
                if (isDone && to !== edge.time) playJoin(editor, playback);
              }
            : undefined
        }
        onSelect={({ start, end }, isDone) => {
          editor.marks.value = { in: start, out: end };
          // Fingers have the tools of the selection.
          if (!isDone) return;
          if (touch.matches) editor.announce(`${measureRange(editor, { start, end })} selected`);
          else shownRange.value = { start, end };
        }}
        onHold={(time) => holdAt(editor, time)}
        onMenu={(event, time) => {
          event.preventDefault();
          if (isLongPress(event)) return;
          selectAt(editor, time);
          playback.seek(time);
          openContextMenu(event, "Timeline", MENU);
        }}
      />
    </section>
  );
}
