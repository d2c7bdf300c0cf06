import type { Signal } from "@preact/signals";
import type { Difference } from "../../editor/model/compare";
import { Timeline } from "../../editor/timeline/timeline";
import type { Asset } from "./asset";
import { dragEdge, findMarkedRange, setMarks } from "./edit-actions";
import type { Editor } from "./editor-state";
import { findSize, panelSizes } from "./panel-sizes";
import type { Playback } from "./playback";
import { playJoin } from "./seek-actions";
import type { AssetMedia } from "./use-media";
import { useStrip } from "./use-strip";

type TimelinePanelProps = {
  asset: Asset;
  editor: Editor;
  playback: Playback;
  media: AssetMedia | null;
  differences: Signal<readonly Difference[]>;
  /** Duration of a frame in microseconds. */
  frame: number;
};

/** The timeline of the recording. Removed spans have the color of their reason. */
export function TimelinePanel({ asset, editor, playback, media, differences, frame }: TimelinePanelProps) {
  const { waveform, storyboard } = useStrip(asset, media);
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
        selection={findMarkedRange(editor)}
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
        onSelect={({ start, end }) => setMarks(editor, { in: start, out: end })}
      />
    </section>
  );
}
