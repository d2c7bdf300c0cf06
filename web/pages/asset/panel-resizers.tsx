/**
 * The lines that resize the panels of the editor, and the sizes that the user chose. Not shown in narrow windows.
 */
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { watchMedia } from "../../app/narrow";
import { createSetting } from "../../app/settings";

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

type ResizerProps = {
  label: string;
  /** In pixels; null uses the page's default. */
  size: Signal<number | null>;
  /** Returns the current size. */
  measure(line: HTMLElement): number;
  min: number;
  max(): number;
  /** Whether the line is vertical and resizes the panel on its right. Otherwise, it resizes the panel below it. */
  isVertical?: boolean;
};

const STEP = 16;
const LARGE_STEP = 64;

/**
 * A line that resizes the panel next to it, by dragging or with the arrow keys. Enter and a double click restore the
 * default size.
 */
function Resizer({ label, size, measure, min, max, isVertical = false }: ResizerProps) {
  const line = useRef<HTMLDivElement>(null);
  const getSize = () => measure(line.current!);
  const drag = useRef<{ at: number; from: number } | null>(null);
  // A resize observer is used because measuring after each render would force another layout.
  useEffect(() => {
    const element = line.current!;
    const observer = new ResizeObserver(() => {
      // A narrower window first removes the line, then resizes the panel.
      if (element.isConnected) element.setAttribute("aria-valuenow", String(Math.round(measure(element))));
    });
    observer.observe(element.parentElement!);
    return () => observer.disconnect();
  }, []);
  const set = (pixels: number) => {
    size.value = Math.round(Math.max(min, Math.min(max(), pixels)));
  };
  const toPlace = (event: PointerEvent) => -(isVertical ? event.clientX : event.clientY);
  const [shrink, grow] = isVertical ? ["ArrowRight", "ArrowLeft"] : ["ArrowDown", "ArrowUp"];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.shiftKey ? LARGE_STEP : STEP;
    if (event.key === grow) set(getSize() + step);
    else if (event.key === shrink) set(getSize() - step);
    else if (event.key === "Home") set(min);
    else if (event.key === "End") set(max());
    else if (event.key === "Enter") size.value = null;
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an `hr` element cannot be moved.
    <div
      ref={line}
      class={isVertical ? "resizer vertical" : "resizer"}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isVertical ? "vertical" : "horizontal"}
      aria-valuemin={min}
      aria-valuemax={Math.round(max())}
      aria-valuenow={size.value ?? min}
      title="Drag to resize. Double-click for the usual size."
      onKeyDown={onKeyDown}
      onDblClick={() => {
        size.value = null;
      }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { at: toPlace(event), from: getSize() };
      }}
      onPointerMove={(event) => drag.current && set(drag.current.from + toPlace(event) - drag.current.at)}
      onPointerUp={() => {
        drag.current = null;
      }}
      onPointerCancel={() => {
        drag.current = null;
      }}
    />
  );
}

/** In pixels; null uses the page's default. */
type Size = Signal<number | null>;

/** Whether the window shows all panels side by side. The style sheet has the same limits. */
const isWide = watchMedia(matchMedia("(min-width: 1100px) and (min-height: 560px)"));

export const panelSizes = {
  waveHeight: createSetting<number | null>("panel.wave-height", null),
  sideWidth: createSetting<number | null>("panel.column-width", null),
};

/** Returns the chosen size, or undefined for the page's default. */
export const findSize = (size: Size): number | undefined => (isWide.value ? (size.value ?? undefined) : undefined);
