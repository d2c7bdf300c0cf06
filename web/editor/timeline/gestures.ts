/** Pointer and wheel gestures on the timeline. */
import type { ReadonlySignal, Signal } from "@preact/signals";
import { type Edge, findNearestEdge, getEdgeRange } from "../model/edges";
import { type EditorPlan, MIN_KEPT, type Range } from "../model/plan";
import { isOnFlag } from "./controls";
import type { Lanes } from "./lanes";
import { placeAt, scrollBy, toTime, toX, type View, zoomAt } from "./view";

export type GestureOptions = {
  plan: EditorPlan;
  lanes: Lanes;
  playhead: ReadonlySignal<number>;
  onSeek(time: number): void;
  /** Returns the range in which an edge can move. */
  getRange(edge: Edge): Range;
  /** If null, edges can be selected but not moved. */
  onMoveEdge: ((edge: Edge, to: number, isDone: boolean) => void) | undefined;
  selection: Range | null;
  /** `isDone` is true once the drag has ended. */
  onSelect(range: Range, isDone: boolean): void;
  onSelectEdge(edge: Edge | null): void;
};

/** The action of a pointer. A `press` becomes another action once the pointer moves. */
type Drag =
  /**
   * `fixed` is the other end of the selection if its edge is pressed. `flag` is the distance of the playhead from the
   * finger on its flag, null beside the flag.
   */
  | { kind: "press"; x: number; edge: Edge | null; fixed: number | null; flag: number | null }
  | { kind: "scrub"; offset: number }
  | { kind: "range"; from: number }
  | { kind: "pan"; x: number }
  | { kind: "edge"; edge: Edge; range: Range; before: View; offset: number };

const REACH = { mouse: 6, touch: 16 };
const MIN_MOVE = 4;
/** Maximum number of microseconds per pixel while an edge is dragged. */
const DRAG_SCALE = 5_000;
const WHEEL_ZOOM = 1.0025;

/** Handles the gestures on a canvas. `read` returns the current state. Returns a function that stops it. */
export function handleGestures(canvas: HTMLElement, view: Signal<View>, read: () => GestureOptions): () => void {
  let drag: Drag | null = null;
  const pointers = new Map<number, number>();
  const events = new AbortController();
  const { signal } = events;

  const toLocal = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const findEdge = (x: number, y: number, reach: number): Edge | null => {
    const { plan, lanes } = read();
    if (y < lanes.waveform.top) return null;
    return findEdgeAt(plan, view.value, x, reach);
  };
  const limitTime = (x: number, range: Range = { start: 0, end: view.value.duration }) =>
    Math.min(range.end, Math.max(range.start, Math.round(toTime(view.value, x))));

  const select = (from: number, x: number, isDone: boolean) => {
    const to = limitTime(x);
    read().onSelect({ start: Math.min(from, to), end: Math.max(from, to) }, isDone);
  };
  /** Returns the end of the selection that stays when the one at a position is dragged, or null. */
  const findFixedEnd = (x: number, y: number, reach: number): number | null => {
    const { selection, lanes } = read();
    if (selection === null || y < lanes.ruler.height) return null;
    const [start, end] = [toX(view.value, selection.start), toX(view.value, selection.end)];
    if (Math.abs(end - x) <= reach) return selection.start;
    return Math.abs(start - x) <= reach ? selection.end : null;
  };

  const begin = (press: Drag & { kind: "press" }, x: number, isTouch: boolean): Drag => {
    if (press.flag !== null) return { kind: "scrub", offset: press.flag };
    if (press.edge && read().onMoveEdge) {
      const before = view.value;
      view.value = placeAt(before, press.edge.time, press.x, Math.min(before.scale, DRAG_SCALE));
      const range = read().getRange(press.edge);
      return { kind: "edge", edge: press.edge, range, before, offset: toX(view.value, press.edge.time) - press.x };
    }
    if (press.fixed !== null) return { kind: "range", from: press.fixed };
    return isTouch ? { kind: "pan", x } : { kind: "range", from: limitTime(press.x) };
  };
  const move = (x: number) => {
    if (drag?.kind === "scrub") read().onSeek(limitTime(x + drag.offset));
    else if (drag?.kind === "pan") {
      view.value = scrollBy(view.value, drag.x - x);
      drag.x = x;
    } else if (drag?.kind === "range") {
      select(drag.from, x, false);
    } else if (drag?.kind === "edge") read().onMoveEdge?.(drag.edge, limitTime(x + drag.offset, drag.range), false);
  };
  const finish = (x: number, isCanceled: boolean) => {
    const last = drag;
    drag = null;
    if (last?.kind === "edge") {
      const time = isCanceled ? last.edge.time : limitTime(x + last.offset, last.range);
      read().onMoveEdge?.(last.edge, time, true);
      view.value = placeAt(view.value, time, x, last.before.scale);
    } else if (last?.kind === "range") {
      select(last.from, x, true);
    } else if (last?.kind === "press" && !isCanceled) {
      read().onSelectEdge(last.edge);
      if (!last.edge) read().onSeek(limitTime(x));
    }
  };

  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { x, y } = toLocal(event);
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, x);
    if (pointers.size > 1) return finish(x, true);
    const isTouch = event.pointerType === "touch";
    const { lanes, playhead } = read();
    const reach = REACH[isTouch ? "touch" : "mouse"];
    const time = playhead.peek();
    // A finger may be anywhere on the flag: a drag keeps its distance. A tap is like one elsewhere.
    const flag = isTouch && isOnFlag(view.value, time, x, y) ? toX(view.value, time) - x : null;
    drag =
      y < lanes.ruler.height && flag === null
        ? { kind: "scrub", offset: 0 }
        : { kind: "press", x, edge: findEdge(x, y, reach), fixed: findFixedEnd(x, y, reach), flag };
    if (drag.kind === "scrub") move(x);
  };
  const onMove = (event: PointerEvent) => {
    const { x, y } = toLocal(event);
    if (!pointers.has(event.pointerId)) {
      const isEdge = (read().onMoveEdge && findEdge(x, y, REACH.mouse)) || findFixedEnd(x, y, REACH.mouse) !== null;
      canvas.style.cursor = isEdge ? "col-resize" : "";
      return;
    }
    if (pointers.size === 2) pinch(event.pointerId, x);
    pointers.set(event.pointerId, x);
    if (drag?.kind === "press" && Math.abs(x - drag.x) >= MIN_MOVE)
      drag = begin(drag, x, event.pointerType === "touch");
    move(x);
  };
  const pinch = (id: number, x: number) => {
    const other = [...pointers].find(([one]) => one !== id)![1];
    const before = Math.max(8, Math.abs(pointers.get(id)! - other));
    view.value = zoomAt(view.value, Math.max(8, Math.abs(x - other)) / before, (x + other) / 2);
  };
  const onEnd = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    finish(toLocal(event).x, event.type === "pointercancel");
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    // A pinch on a touchpad arrives as small wheel steps with `ctrlKey`.
    if (event.ctrlKey) view.value = zoomAt(view.value, WHEEL_ZOOM ** (-4 * y), toLocal(event).x);
    else view.value = scrollBy(view.value, Math.abs(x) > Math.abs(y) ? x : y);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || drag?.kind !== "edge") return;
    event.preventDefault();
    finish(toX(view.value, drag.edge.time), true);
  };

  canvas.addEventListener("pointerdown", onDown, { signal });
  canvas.addEventListener("pointermove", onMove, { signal });
  canvas.addEventListener("pointerup", onEnd, { signal });
  canvas.addEventListener("pointercancel", onEnd, { signal });
  canvas.addEventListener("wheel", onWheel, { signal, passive: false });
  window.addEventListener("keydown", onKey, { signal, capture: true });
  return () => events.abort();
}

/** In CSS pixels. Edges of narrower spans cannot be distinguished, so a press there sets the position. */
const MIN_WIDTH = 6;

/** Returns the edge within `reach` pixels, or within a third of a narrow span; or null. */
export function findEdgeAt(plan: EditorPlan, view: View, x: number, reach: number): Edge | null {
  const time = toTime(view, x);
  const edge = findNearestEdge(plan, time, reach * view.scale);
  if (edge === null) return null;
  const range = getEdgeRange(plan, edge);
  // The kept span does not become shorter than this when the edge moves.
  if (edge.side === "start") range.end += MIN_KEPT;
  else range.start -= MIN_KEPT;
  const width = Math.min(edge.time - range.start, range.end - edge.time) / view.scale;
  const distance = Math.abs(edge.time - time) / view.scale;
  return width >= MIN_WIDTH && distance <= Math.min(reach, width / 3) ? edge : null;
}
