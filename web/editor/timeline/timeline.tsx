import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useActions } from "../../app/actions";
import { IconButton } from "../../ui/button";
import type { Difference } from "../model/compare";
import { type Edge, getEdgeRange } from "../model/edges";
import type { EditorPlan, Range } from "../model/plan";
import type { Words } from "../model/words";
import { drawTimeline } from "./draw";
import { EdgeList } from "./edge-list";
import { type GestureOptions, handleGestures } from "./gestures";
import { layOutLanes, WAVEFORM_HEIGHT } from "./lanes";
import { Overview } from "./overview";
import type { Waveform } from "./peaks";
import { Sheets, type Storyboard } from "./storyboard";
import { useCanvas } from "./use-canvas";
import { useView } from "./use-view";
import { fitView, isInView, reveal, toX, zoomAt } from "./view";

export type TimelineProps = {
  plan: EditorPlan;
  words: Words;
  /** The text of each word with corrections. Default: the texts of `words`. */
  texts?: readonly string[];
  waveform: Waveform | null;
  storyboard: Storyboard | null;
  /** Microseconds of the source. */
  playhead: ReadonlySignal<number>;
  isPlaying?: ReadonlySignal<boolean>;
  /** The marked range. */
  selection: Range | null;
  /** The selected edge. Without it, the timeline keeps its own selection. */
  edge?: Signal<Edge | null>;
  /** The ranges that only one of two cuts keeps. */
  differences: readonly Difference[];
  /** In microseconds. Default: 40 ms. */
  frameDuration?: number;
  /** In CSS pixels. */
  waveformHeight?: number | undefined;
  onSeek(time: number): void;
  /**
   * `edge` is the edge before the drag. `isDone` is true once the drag has ended. Without this function, edges cannot
   * be moved.
   */
  onMoveEdge?: ((edge: Edge, to: number, isDone: boolean) => void) | undefined;
  onSelect(range: Range): void;
};

const ZOOM = 1.6;

/** The storyboard, audio and spans of the recording over time. */
export function Timeline(props: TimelineProps) {
  const { plan, words, texts = words.text, waveform, storyboard, playhead, selection, differences } = props;
  const { frameDuration = 40_000, waveformHeight = WAVEFORM_HEIGHT, onSeek, onMoveEdge } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const view = useView(box, plan.duration, playhead, props.isPlaying);
  const own = useSignal<Edge | null>(null);
  const edge = props.edge ?? own;
  const [hasStoryboard, hasDifferences] = [storyboard !== null, differences.length > 0];
  const lanes = useMemo(
    () => layOutLanes({ hasStoryboard, hasDifferences, waveformHeight }),
    [hasStoryboard, hasDifferences, waveformHeight],
  );
  const sheets = useMemo(() => new Sheets(() => request()), []);

  const request = useCanvas(canvas, () => ({
    width: view.peek().width,
    height: lanes.height,
    draw: (context, colors) => {
      const scene = { plan, words, texts, waveform, storyboard, selection, differences, lanes, sheets, colors };
      drawTimeline(context, { ...scene, view: view.peek(), edge: edge.peek() });
    },
  }));
  useSignalEffect(() => {
    if (view.value.width > 0 || edge.value) request();
  });
  useSignalEffect(() => {
    const x = toX(view.value, playhead.value);
    line.current!.hidden = !isInView(view.value, playhead.value);
    line.current!.style.transform = `translateX(${Math.round(x * 2) / 2}px)`;
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
    getRange: (one) => getEdgeRange(plan, one),
    onSeek,
    onMoveEdge: onMoveEdge && move,
    onSelect: props.onSelect,
    onSelectEdge: selectEdge,
  };
  useEffect(() => handleGestures(canvas.current!, view, () => gestures.current!), []);

  const zoom = (factor: number) => {
    const { width } = view.peek();
    const x = isInView(view.peek(), playhead.peek()) ? toX(view.peek(), playhead.peek()) : width / 2;
    view.value = zoomAt(view.peek(), factor, x);
  };
  const fit = () => {
    view.value = fitView(plan.duration, view.peek().width);
  };
  useActions(
    useMemo(
      () => [
        { name: "timeline.zoom-in", label: "Zoom in", group: "Timeline", keys: ["=", "+"], perform: () => zoom(ZOOM) },
        { name: "timeline.zoom-out", label: "Zoom out", group: "Timeline", keys: ["-"], perform: () => zoom(1 / ZOOM) },
        { name: "timeline.fit", label: "Show the whole recording", group: "Timeline", keys: ["Shift+z"], perform: fit },
      ],
      [plan.duration],
    ),
  );

  return (
    <div class="timeline">
      <div class="timeline-canvas" ref={box} style={{ height: `${lanes.height}px` }}>
        <canvas ref={canvas} role="img" aria-label="Audio and removed spans" />
        <div class="timeline-playhead" ref={line} />
      </div>
      <Overview {...{ plan, waveform, view, playhead, frameDuration, onSeek }} />
      <div class="timeline-foot">
        <EdgeList plan={plan} view={view} edge={edge.value} onSelect={selectEdge} onNudge={onMoveEdge && nudge} />
        <div class="timeline-zoom">
          <IconButton icon="minus" label="Zoom out" onClick={() => zoom(1 / ZOOM)} />
          <IconButton icon="plus" label="Zoom in" onClick={() => zoom(ZOOM)} />
          <IconButton icon="fit" label="Fit the whole recording" onClick={fit} />
        </div>
      </div>
    </div>
  );
}
