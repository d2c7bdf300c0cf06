import { type ReadonlySignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatTimecode } from "../../app/format";
import { toSeconds } from "../model/plan";

type PlayheadSliderProps = {
  width: number;
  duration: number;
  playhead: ReadonlySignal<number>;
  frameDuration: number;
  onSeek(time: number): void;
};

const SECOND = 1_000_000;

/** The playhead as a slider over the whole recording. */
export function PlayheadSlider({ width, duration, playhead, frameDuration, onSeek }: PlayheadSliderProps) {
  const thumb = useRef<HTMLDivElement>(null);
  const said = useRef(-1);
  const show = (time: number) => {
    const element = thumb.current;
    if (!element) return;
    element.style.transform = `translateX(${duration > 0 ? (time / duration) * width : 0}px)`;
    // During playback, screen readers get one value per second.
    const precision = document.activeElement === element ? 10_000 : SECOND;
    const value = Math.floor(time / precision);
    if (value === said.current) return;
    said.current = value;
    element.setAttribute("aria-valuenow", String(Math.round(toSeconds(time))));
    element.setAttribute("aria-valuetext", toText(time, duration));
  };
  useSignalEffect(() => show(playhead.value));
  // The width is not a signal.
  if (thumb.current) show(playhead.peek());

  const steps: Record<string, (time: number) => number> = {
    ArrowLeft: (time) => time - frameDuration,
    ArrowRight: (time) => time + frameDuration,
    "Shift+ArrowLeft": (time) => time - SECOND,
    "Shift+ArrowRight": (time) => time + SECOND,
    PageDown: (time) => time - 10 * SECOND,
    PageUp: (time) => time + 10 * SECOND,
    Home: () => 0,
    End: () => duration,
  };
  return (
    <div
      ref={thumb}
      class="timeline-thumb"
      role="slider"
      tabIndex={0}
      aria-label="Playhead"
      aria-valuemin={0}
      aria-valuemax={Math.round(toSeconds(duration))}
      aria-valuenow={Math.round(toSeconds(playhead.peek()))}
      aria-valuetext={toText(playhead.peek(), duration)}
      onKeyDown={(event) => {
        const step = steps[`${event.shiftKey ? "Shift+" : ""}${event.key}`];
        if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        onSeek(Math.round(Math.min(duration, Math.max(0, step(playhead.peek())))));
      }}
    />
  );
}

const toText = (time: number, duration: number): string =>
  `${formatTimecode(toSeconds(time))} of ${formatTimecode(toSeconds(duration))}`;
