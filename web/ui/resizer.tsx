import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

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
export function Resizer({ label, size, measure, min, max, isVertical = false }: ResizerProps) {
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
