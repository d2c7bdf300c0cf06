/** Controls of the timeline that the keyboard reaches: the playhead and the edges in view. */

import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { formatTimecode } from "../../app/format";
import { countEdgesIn, type Edge, getEdgeKey, listEdgesIn } from "../model/edges";
import { type EditorPlan, toSeconds } from "../model/plan";
import { useComputedOf } from "../state/context";
import { endOf, toX, type View } from "./view";

type PlayheadFlagProps = {
  duration: number;
  playhead: ReadonlySignal<number>;
  frameDuration: number;
  formatTime(time: number): string;
  flag: RefObject<HTMLDivElement | null>;
  onSeek(time: number): void;
};

/** Width of the flag in CSS pixels. All timecodes have the same length. */
const FLAG_WIDTH = 82;
/** Height of its target for fingers: it reaches below the ruler. */
const FLAG_REACH = 44;

/** Returns the left side of the flag at a time. It never leaves the timeline. */
export const placeFlag = (view: View, time: number): number =>
  Math.min(view.width - FLAG_WIDTH, Math.max(0, toX(view, time) - FLAG_WIDTH / 2));

/** Returns whether a finger at a position is on the flag. */
export function isOnFlag(view: View, time: number, x: number, y: number): boolean {
  const left = placeFlag(view, time);
  return y < FLAG_REACH && x >= left && x <= left + FLAG_WIDTH;
}

/** The playhead as a slider over the whole recording: a flag with the time in the ruler. */
export function PlayheadFlag({ duration, playhead, frameDuration, formatTime, flag, onSeek }: PlayheadFlagProps) {
  const text = useComputedOf(() => formatTime(playhead.value), [formatTime, playhead]);
  const said = useRef(-1);
  useSignalEffect(() => {
    const time = playhead.value;
    const element = flag.current!;
    // During playback, screen readers get one value per second.
    const precision = document.activeElement === element ? 10_000 : TICKS_PER_SECOND;
    const value = Math.floor(time / precision);
    if (value === said.current) return;
    said.current = value;
    element.setAttribute("aria-valuenow", String(Math.round(toSeconds(time))));
    element.setAttribute("aria-valuetext", toText(time, duration));
  });

  const steps: Record<string, (time: number) => number> = {
    ArrowLeft: (time) => time - frameDuration,
    ArrowRight: (time) => time + frameDuration,
    "Shift+ArrowLeft": (time) => time - TICKS_PER_SECOND,
    "Shift+ArrowRight": (time) => time + TICKS_PER_SECOND,
    PageDown: (time) => time - 10 * TICKS_PER_SECOND,
    PageUp: (time) => time + 10 * TICKS_PER_SECOND,
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

type EdgeListProps = {
  plan: EditorPlan;
  view: Signal<View>;
  edge: Edge | null;
  onSelect(edge: Edge): void;
  /** Moves an edge by a number of frames. */
  onNudge?: ((edge: Edge, frames: number) => void) | undefined;
};

const MAX_SHOWN = 40;
/** The list is updated after scrolling has ended. */
const SETTLED_MS = 150;

/**
 * Lists the edges in view as buttons. The keys `,` and `.` move the focused edge by a frame, as an alternative to
 * dragging. The list is visible while it has the focus.
 */
export function EdgeList({ plan, view, edge, onSelect, onNudge }: EdgeListProps) {
  const settled = useSignal(view.peek());
  useSignalEffect(() => {
    const current = view.value;
    const timer = setTimeout(() => {
      settled.value = current;
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  });
  const range = { start: settled.value.start, end: endOf(settled.value) };
  const count = countEdgesIn(plan, range);
  if (count === 0 || count > MAX_SHOWN) return null;
  return (
    <ul class="edge-list" aria-label="Edges in view">
      {listEdgesIn(plan, range).map((one) => (
        // An edge keeps its button and the focus when it moves.
        <li key={getEdgeKey(plan, one)}>
          <button
            type="button"
            class="edge number"
            aria-pressed={edge !== null && edge.time === one.time && edge.side === one.side}
            title={onNudge && "Press comma or period to move it by a frame"}
            onClick={() => onSelect(one)}
            onKeyDown={(event) => {
              const frames = FRAMES[event.key];
              if (!onNudge || frames === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
              event.preventDefault();
              onNudge(one, frames);
            }}
          >
            {one.side === "start" ? "Kept from" : "Kept until"} {formatTimecode(toSeconds(one.time))}
          </button>
        </li>
      ))}
    </ul>
  );
}

const FRAMES: Record<string, number> = { ",": -1, ".": 1 };
