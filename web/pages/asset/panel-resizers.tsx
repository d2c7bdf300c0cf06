/** The lines that resize the panels of the editor. Narrow windows have none. */
import { WAVEFORM_HEIGHT } from "../../editor/timeline/lanes";
import { Resizer } from "../../ui/resizer";
import { isWide, panelSizes } from "./panel-sizes";

/** Space for the content above and below a panel. */
const MARGIN = 150;
const getRoom = () => Math.max(240, innerHeight - MARGIN);

export const VideoResizer = () =>
  isWide.value ? <Resizer label="Height of the video" size={panelSizes.videoHeight} min={120} max={getRoom} /> : null;

export const TimelineResizer = () =>
  isWide.value ? (
    <Resizer
      label="Height of the timeline"
      size={panelSizes.waveformHeight}
      measure={() => panelSizes.waveformHeight.value ?? WAVEFORM_HEIGHT}
      min={40}
      max={() => 320}
    />
  ) : null;

export const TranscriptResizer = () =>
  isWide.value ? (
    <Resizer label="Height of the transcript" size={panelSizes.transcriptHeight} min={200} max={getRoom} />
  ) : null;

export const SideResizer = () =>
  isWide.value ? (
    <Resizer
      label="Width of the transcript"
      size={panelSizes.sideWidth}
      measure={(line) => line.parentElement!.getBoundingClientRect().width}
      min={320}
      max={() => Math.max(320, innerWidth * 0.6)}
      isVertical
    />
  ) : null;
