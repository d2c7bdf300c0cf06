import { type ReadonlySignal, type Signal, useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { EditorPlan, RemovalReason } from "../model/plan";
import { drawOverview } from "./draw-spans";
import type { Waveform } from "./peaks";
import { useCanvas } from "./use-canvas";
import { endOf, fitView, placeAt, toTime, type View } from "./view";

const HEIGHT = 26;
/** The overview contains every span of the recording, so it is redrawn only a few times per second during a drag. */
const REDRAW_MS = 120;

type OverviewProps = {
  plan: EditorPlan;
  waveform: Waveform | null;
  view: Signal<View>;
  playhead: ReadonlySignal<number>;
  filter: RemovalReason | null;
};

/**
 * A strip of the whole recording, with a frame around the visible part of the timeline. A press or drag moves the
 * frame.
 */
export function Overview({ plan, waveform, view, playhead, filter }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const part = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const { duration } = plan;
  // Redraws when the width changes, not with the view, which changes with each frame of a zoom.
  useComputed(() => view.value.width).value;
  useCanvas(
    canvas,
    () => ({
      width: view.peek().width,
      height: HEIGHT,
      draw: (context, colors) =>
        drawOverview(context, { plan, waveform, colors, filter, view: fitView(duration, view.peek().width) }, HEIGHT),
    }),
    REDRAW_MS,
  );
  useSignalEffect(() => {
    const { width } = view.value;
    const [start, end] = [toTime(view.value, 0), endOf(view.value)];
    if (!part.current || duration <= 0) return;
    part.current.style.width = `${Math.max(10, ((end - start) / duration) * width)}px`;
    part.current.style.transform = `translateX(${(start / duration) * width}px)`;
  });
  useSignalEffect(() => {
    const x = (playhead.value / Math.max(1, duration)) * view.value.width;
    if (line.current) line.current.style.transform = `translateX(${Math.round(x * 2) / 2}px)`;
  });
  const center = (event: PointerEvent) => {
    const current = view.peek();
    const x = event.clientX - canvas.current!.getBoundingClientRect().left;
    const time = (x / Math.max(1, current.width)) * duration;
    view.value = placeAt(current, time, current.width / 2, current.scale);
  };
  return (
    <div class="timeline-overview">
      <canvas
        ref={canvas}
        role="img"
        aria-label="Overview of the recording"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          center(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && center(event)}
      />
      <div class="timeline-part" ref={part} />
      <div class="timeline-playhead" ref={line} />
    </div>
  );
}
