import { FilterChips } from "../../editor/review/filter-chips";
import { useEditor } from "../../editor/state/context";
import { dragEdge } from "../../editor/state/edit-actions";
import { playJoin } from "../../editor/state/seek-actions";
import { Timeline } from "../../editor/timeline/timeline";
import { findSize, panelSizes } from "./panel-sizes";

/** The timeline of the recording. Removed spans have the color of their reason. */
export function TimelinePanel() {
  const { editor, playback, strip, differences, frame } = useEditor();
  const { waveform, storyboard } = strip;
  return (
    <section class="timeline-panel" aria-label="Timeline">
      <Timeline
        plan={editor.plan.value}
        words={editor.words}
        texts={editor.texts.value}
        waveform={waveform}
        storyboard={storyboard}
        playhead={playback.playhead}
        isPlaying={playback.isPlaying}
        selection={editor.range.value}
        edge={editor.edge}
        differences={differences.value}
        frameDuration={frame}
        waveformHeight={findSize(panelSizes.waveformHeight)}
        onSeek={playback.seek}
        onMoveEdge={
          editor.canEdit
            ? (edge, to, isDone) => {
                dragEdge(editor, edge, to, isDone);
                // Plays the new join.
                if (isDone) playJoin(editor, playback);
              }
            : undefined
        }
        onSelect={({ start, end }) => {
          editor.marks.value = { in: start, out: end };
        }}
      />
      <FilterChips />
    </section>
  );
}
