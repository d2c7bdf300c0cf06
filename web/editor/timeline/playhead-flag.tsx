import { type ReadonlySignal, useComputed, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { formatTimecode } from "../../app/format";
import { toSeconds } from "../model/plan";

type PlayheadFlagProps = {
  duration: number;
  playhead: ReadonlySignal<number>;
  frameDuration: number;
  formatTime(time: number): string;
  flag: RefObject<HTMLDivElement | null>;
  onSeek(time: number): void;
};

const SECOND = 1_000_000;

/** In CSS pixels. All timecodes have the same length. */
export const FLAG_WIDTH = 82;

/** The playhead as a slider over the whole recording: a flag with the time in the ruler. */
export function PlayheadFlag({ duration, playhead, frameDuration, formatTime, flag, onSeek }: PlayheadFlagProps) {
  const text = useComputed(() => formatTime(playhead.value));
  const said = useRef(-1);
  useSignalEffect(() => {
    const time = playhead.value;
    const element = flag.current!;
    // During playback, screen readers get one value per second.
    const precision = document.activeElement === element ? 10_000 : SECOND;
    const value = Math.floor(time / precision);
    if (value === said.current) return;
    said.current = value;
    element.setAttribute("aria-valuenow", String(Math.round(toSeconds(time))));
    element.setAttribute("aria-valuetext", toText(time, duration));
  });

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
      ref={flag}
      class="timeline-flag number"
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
    >
      <span aria-hidden="true">{text}</span>
    </div>
  );
}

const toText = (time: number, duration: number): string =>
  `${formatTimecode(toSeconds(time))} of ${formatTimecode(toSeconds(duration))}`;
