import { type ReadonlySignal, type Signal, useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { EditorPlan } from "../model/plan";
import { drawOverview } from "./draw-spans";
import type { Waveform } from "./peaks";
import { PlayheadSlider } from "./playhead-slider";
import { useCanvas } from "./use-canvas";
import { fitView, isFit, limitView, type View } from "./view";

const HEIGHT = 36;
/** The overview contains every span of the recording, so it is redrawn only a few times per second during a drag. */
const REDRAW_MS = 120;

type OverviewProps = {
  plan: EditorPlan;
  waveform: Waveform | null;
  view: Signal<View>;
  playhead: ReadonlySignal<number>;
  frameDuration: number;
  onSeek(time: number): void;
};

/**
 * A strip of the whole recording, with a frame around the visible part of the timeline. A press or drag moves the
 * frame.
 */
export function Overview({ plan, waveform, view, playhead, frameDuration, onSeek }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const part = useRef<HTMLDivElement>(null);
  const { duration } = plan;
  // Not the view itself, which changes with each frame of a zoom.
  const width = useComputed(() => view.value.width).value;
  useCanvas(
    canvas,
    () => ({
      width: view.peek().width,
      height: HEIGHT,
      draw: (context, colors) =>
        drawOverview(context, { plan, waveform, colors, view: fitView(duration, view.peek().width) }, HEIGHT),
    }),
    REDRAW_MS,
  );
  useSignalEffect(() => {
    const { start, scale, width } = view.value;
    if (!part.current || duration <= 0) return;
    part.current.hidden = isFit(view.value);
    part.current.style.width = `${Math.max(6, ((width * scale) / duration) * width)}px`;
    part.current.style.transform = `translateX(${(start / duration) * width}px)`;
  });
  const center = (event: PointerEvent) => {
    const current = view.peek();
    const x = event.clientX - canvas.current!.getBoundingClientRect().left;
    const time = (x / Math.max(1, current.width)) * duration;
    view.value = limitView({ ...current, start: time - (current.width * current.scale) / 2 });
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
      <PlayheadSlider
        width={width}
        duration={duration}
        playhead={playhead}
        frameDuration={frameDuration}
        onSeek={onSeek}
      />
    </div>
  );
}
