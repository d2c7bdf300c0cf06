import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { createInGroup, useActions } from "../../app/actions";
import { formatTimecode } from "../../app/format";
import { touch } from "../../app/narrow";
import { ActionButton } from "../../ui/button";
import { glide } from "../../ui/glide";
import { type Edge, findJoin, getEdgeRange } from "../model/edges";
import { type Difference, type EditorPlan, type Range, type RemovalReason, toSeconds } from "../model/plan";
import type { WordRange, Words } from "../model/words";
import { EdgeList, PlayheadFlag, placeFlag } from "./controls";
import { drawTimeline } from "./draw";
import { type GestureOptions, handleGestures } from "./gestures";
import { layOutLanes } from "./lanes";
import { Overview } from "./overview";
import type { Waveform } from "./peaks";
import { type Storyboard, useSheets } from "./storyboard";
import { useCanvas } from "./use-canvas";
import {
  blendWarps,
  createFlatWarp,
  createWarp,
  fitView,
  isFit,
  isInView,
  reveal,
  toTime,
  toX,
  useView,
  type Warp,
  zoomAt,
} from "./view";

export type TimelineProps = {
  plan: EditorPlan;
  words: Words;
  /** The text of each word with corrections. Default: the texts of `words`. */
  texts?: readonly string[];
  waveform: Waveform | null;
  storyboard: Storyboard | null;
  /** Default: true. */
  hasAudio?: boolean;
  /** Microseconds of the source. */
  playhead: ReadonlySignal<number>;
  isPlaying?: ReadonlySignal<boolean>;
  /** The selected range. */
  selection: Range | null;
  /** The selected edge. Without it, the timeline keeps its own selection. */
  edge?: Signal<Edge | null>;
  /** The ranges that only one of two cuts keeps. */
  differences: readonly Difference[];
  /** Matches of a search. */
  found?: readonly WordRange[];
  /** Places to review, by time. */
  marks?: readonly Range[] | undefined;
  /** The reason to which the page is limited. */
  filter?: RemovalReason | null;
  /** Whether removed spans are narrow seams. */
  isCollapsed?: boolean;
  /** Duration of a frame in microseconds. Default: 40 ms. */
  frameDuration?: number;
  /** Height of the canvas in CSS pixels. By default, the style sheet decides. */
  height?: number | undefined;
  /** Returns the text of the flag at the playhead. */
  formatTime?(time: number): string;
  onSeek(time: number): void;
  /** Called after each seek of a dragged playhead or of a key, and with null at the end of a drag. */
  onScrub?(time: number | null): void;
  /**
   * `edge` is the edge before the drag. `isDone` is true once the drag has ended. Without this function, edges cannot
   * be moved.
   */
  onMoveEdge?: ((edge: Edge, to: number, isDone: boolean) => void) | undefined;
  /** `isDone` is true once the drag has ended. */
  onSelect(range: Range, isDone: boolean): void;
  /**
   * Called when a finger rests at a time. Returns the range with which a selection starts, which may be empty; null if
   * something else was selected.
   */
  onHold(time: number): Range | null;
  /** Opens the context menu at a time. */
  onMenu?(event: MouseEvent, time: number): void;
  /** Controls to the left of the zoom buttons. */
  tools?: ComponentChildren;
};

const NONE: readonly never[] = [];
const ZOOM = 1.6;
const inTimeline = createInGroup("Timeline");
const formatSeconds = (time: number): string => formatTimecode(toSeconds(time));

/** The storyboard, audio and spans of the recording over time. */
export function Timeline(props: TimelineProps) {
  const { plan, words, texts = words.text, waveform, storyboard, playhead, selection, differences } = props;
  const { filter = null, isCollapsed = false, frameDuration = 40_000, formatTime = formatSeconds } = props;
  const { onSeek, onMoveEdge } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const flag = useRef<HTMLDivElement>(null);
  const isDragging = useSignal(false);
  const wanted = useMemo(() => (isCollapsed ? createWarp(plan) : null), [isCollapsed, isCollapsed && plan]);
  const warp = useGlidingWarp(wanted, plan.duration, isDragging);
  const { view, height } = useView(box, plan.duration, playhead, { ...props, isDragging }, warp);
  const own = useSignal<Edge | null>(null);
  const edge = props.edge ?? own;
  const hovered = useSignal<Range | null>(null);
  /** Returns the joins whose edges have handles: those under the mouse and of the selection. Fingers have grips. */
  const listJoins = (): Range[] => {
    const chosen = selection === null || touch.matches ? null : findJoin(plan, selection.start);
    const isChosen = chosen !== null && chosen.end >= selection!.end;
    return [hovered.peek(), isChosen ? chosen : null].filter((join) => join !== null);
  };
  const isWhole = useComputed(() => isFit(view.value)).value;
  const lanes = layOutLanes({
    hasStoryboard: storyboard !== null,
    hasAudio: props.hasAudio ?? true,
    hasDifferences: differences.length > 0,
    height: height.value,
  });
  const sheets = useSheets(() => request());

  const request = useCanvas(canvas, () => ({
    width: view.peek().width,
    height: lanes.height,
    draw: (context, colors) => {
      const data = { plan, words, texts, waveform, storyboard, found: props.found ?? NONE, marks: props.marks ?? NONE };
      const scene = { ...data, selection, differences, filter, lanes, sheets, colors, hasGrips: touch.matches };
      drawTimeline(context, { ...scene, view: view.peek(), edge: edge.peek(), joins: onMoveEdge ? listJoins() : [] });
    },
  }));
  useSignalEffect(() => {
    edge.value;
    hovered.value;
    if (view.value.width > 0) request();
  });
  useSignalEffect(() => {
    const time = playhead.value;
    const x = toX(view.value, time);
    line.current!.hidden = !isInView(view.value, time);
    line.current!.style.transform = `translateX(${Math.round(x * 2) / 2}px)`;
    flag.current!.style.transform = `translateX(${Math.round(placeFlag(view.value, time))}px)`;
  });

  const selectEdge = (chosen: Edge | null) => {
    edge.value = chosen;
    if (chosen === null) return;
    view.value = reveal(view.peek(), chosen.time, 0.5);
    onSeek(chosen.time);
  };
  const move = (moved: Edge, time: number, isDone: boolean) => {
    // Selected before it moves, because the move may remove the edge where it meets the next one.
    edge.value = { ...moved, time };
    onMoveEdge?.(moved, time, isDone);
  };
  const nudge = (chosen: Edge, frames: number) => {
    const { start, end } = getEdgeRange(plan, chosen);
    const time = Math.min(end, Math.max(start, Math.round(chosen.time + frames * frameDuration)));
    move(chosen, time, true);
  };
  const gestures = useRef<GestureOptions | null>(null);
  gestures.current = {
    plan,
    lanes,
    playhead,
    isDragging,
    getRange: (one) => getEdgeRange(plan, one),
    onSeek,
    onScrub: props.onScrub,
    onMoveEdge: onMoveEdge && move,
    selection,
    edge: edge.peek(),
    onSelect: props.onSelect,
    onSelectEdge: selectEdge,
    onHoverJoin: (join) => {
      const before = hovered.peek();
      if (join?.start !== before?.start || join?.end !== before?.end) hovered.value = join;
    },
    onHold: props.onHold,
  };
  useEffect(() => handleGestures(canvas.current!, view, () => gestures.current!), []);

  const zoom = (factor: number) => {
    const { width } = view.peek();
    const x = isInView(view.peek(), playhead.peek()) ? toX(view.peek(), playhead.peek()) : width / 2;
    view.value = zoomAt(view.peek(), factor, x);
  };
  const fit = () => {
    const { duration, width } = view.peek();
    view.value = { ...view.peek(), ...fitView(duration, width) };
  };
  useActions(
    () => [
      inTimeline("timeline.zoom-out", "Zoom out", ["-"], () => zoom(1 / ZOOM), { icon: "minus" }),
      inTimeline("timeline.zoom-in", "Zoom in", ["=", "+"], () => zoom(ZOOM), { icon: "plus" }),
      inTimeline("timeline.fit", "Show the whole recording", ["Shift+z"], fit, { icon: "fit" }),
    ],
    [plan.duration],
  );

  return (
    <div class="timeline">
      <div class="timeline-tools">
        {props.tools}
        <div class="timeline-zoom">
          <ActionButton name="timeline.zoom-out" />
          <ActionButton name="timeline.zoom-in" />
          <ActionButton name="timeline.fit" />
        </div>
      </div>
      <div
        class="timeline-canvas"
        ref={box}
        style={props.height === undefined ? undefined : { height: `${props.height}px` }}
      >
        <canvas
          ref={canvas}
          role="img"
          aria-label="Audio and removed spans"
          onContextMenu={
            props.onMenu &&
            ((event) => {
              const x = event.clientX - canvas.current!.getBoundingClientRect().left;
              props.onMenu!(event, Math.round(toTime(view.peek(), x)));
            })
          }
        />
        <div class="timeline-playhead" ref={line} />
        <PlayheadFlag
          duration={plan.duration}
          playhead={playhead}
          frameDuration={frameDuration}
          formatTime={formatTime}
          flag={flag}
          onSeek={(time) => {
            onSeek(time);
            props.onScrub?.(time);
          }}
        />
      </div>
      {!isWhole && <Overview {...{ plan, waveform, view, playhead, filter }} />}
      <EdgeList plan={plan} view={view} edge={edge.value} onSelect={selectEdge} onNudge={onMoveEdge && nudge} />
    </div>
  );
}

/**
 * Returns the current axis of the animation to `wanted`. A change during the animation changes its target. During a
 * drag there is no animation.
 */
function useGlidingWarp(wanted: Warp | null, duration: number, isDragging: ReadonlySignal<boolean>): Warp | null {
  const shown = useSignal(wanted);
  const latest = useRef(wanted);
  latest.current = wanted;
  const stop = useRef<(() => void) | null>(null);
  useLayoutEffect(() => {
    if (isDragging.peek()) {
      stop.current?.();
      stop.current = null;
      shown.value = wanted;
    }
    if (shown.peek() === wanted || stop.current !== null) return;
    const flat = createFlatWarp(duration);
    const from = shown.peek() ?? flat;
    stop.current = () => {};
    const end = glide((share) => {
      if (share === 1) stop.current = null;
      shown.value = share === 1 ? latest.current : blendWarps(from, latest.current ?? flat, share);
    });
    if (stop.current !== null) stop.current = end;
  }, [wanted]);
  useEffect(() => () => stop.current?.(), []);
  return shown.value;
}
