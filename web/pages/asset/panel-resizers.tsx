/** The lines that resize the panels of the editor. Narrow windows have none. */
import { Resizer } from "../../ui/resizer";
import { isWide, panelSizes } from "./panel-sizes";

const getParentWidth = (line: HTMLElement): number => line.parentElement!.getBoundingClientRect().width;

export const TimelineResizer = () =>
  isWide.value ? (
    <Resizer
      label="Height of the timeline"
      size={panelSizes.waveHeight}
      measure={(line) => line.parentElement!.querySelector(".timeline-canvas")!.getBoundingClientRect().height}
      min={100}
      max={() => Math.max(100, innerHeight * 0.5)}
    />
  ) : null;

export const SideResizer = () =>
  isWide.value ? (
    <Resizer
      label="Width of the right column"
      size={panelSizes.sideWidth}
      measure={getParentWidth}
      min={360}
      max={() => Math.max(360, Math.min(720, innerWidth - 500))}
      isVertical
    />
  ) : null;
