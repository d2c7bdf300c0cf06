/** Pointer and wheel gestures on the timeline. */
import type { ReadonlySignal, Signal } from "@preact/signals";
import { type Edge, findJoin, findNearestEdge, getEdgeRange } from "../model/edges";
import { type EditorPlan, findSpanIndex, MIN_KEPT, type Range } from "../model/plan";
import { isOnFlag } from "./controls";
import type { Lanes } from "./lanes";
import { placeAt, reveal, scrollBy, toTime, toX, type View, zoomAt } from "./view";

export type GestureOptions = {
  plan: EditorPlan;
  lanes: Lanes;
  playhead: ReadonlySignal<number>;
  /** Set while something moves with the pointer, so that the view stays under it. */
  isDragging: Signal<boolean>;
  onSeek(time: number): void;
  /** Called after each seek of a dragged playhead, and with null at the end of the drag. */
  onScrub?: ((time: number | null) => void) | undefined;
  /** Returns the range in which an edge can move. */
  getRange(edge: Edge): Range;
  /** If null, edges can be selected but not moved. */
  onMoveEdge: ((edge: Edge, to: number, isDone: boolean) => void) | undefined;
  selection: Range | null;
  /** The selected edge. */
  edge: Edge | null;
  /** `isDone` is true once the drag has ended. */
  onSelect(range: Range, isDone: boolean): void;
  onSelectEdge(edge: Edge | null): void;
  /** Called with the removed time between two kept spans that a mouse is over; null elsewhere. */
  onHoverJoin?: ((join: Range | null) => void) | undefined;
  /**
   * Called when a finger rests at a time. Returns the range with which a selection starts, which may be empty; null if
   * something else was selected.
   */
  onHold(time: number): Range | null;
};

/** `offset` is the distance from the pointer to the end that moves, in pixels; `fixed` is the time of the other end. */
type End = { fixed: number; offset: number };
type Target = { edge: Edge | null; dragged: Edge | null; end: End | null };

/** The action of a pointer. A `press` becomes another action once the pointer moves. */
type Drag =
  /**
   * `edge` is selected by a click, `dragged` moves with the pointer. `end` is the end of the selection that is pressed.
   * `flag` is the distance of the playhead from a finger that moves it: on its flag, or 0 in the ruler.
   */
  | ({ kind: "press"; x: number; y: number; flag: number | null } & Target)
  | { kind: "scrub"; offset: number }
  /**
   * `fixed` stays selected: the other end, or the part under the finger when the selection started. `heldAt` is where
   * the finger rests until it moves; null after that and for other pointers.
   */
  | { kind: "range"; fixed: Range; offset: number; heldAt: number | null }
  | { kind: "pan"; x: number }
  /** A removed span was selected. The finger is still there. */
  | { kind: "held" }
  | { kind: "edge"; edge: Edge; range: Range; before: View; offset: number };

const REACH = { mouse: 6, touch: 16 };
/** Distance in which a finger takes an end of the selection, whose grip is beside it. */
const GRIP_REACH = 28;
const MIN_MOVE = 4;
/** A finger that moves farther than this in any direction does not rest. */
const MAX_REST = 8;
/** Time after which a finger that rests selects. */
const HOLD_MS = 450;
/** Width of a selection that starts where no word is, in pixels. */
const HELD_WIDTH = 44;
/** Maximum number of microseconds per pixel while an edge is dragged. */
const DRAG_SCALE = 5_000;
const WHEEL_ZOOM = 1.0025;

/** Handles the gestures on a canvas. `read` returns the current state. Returns a function that stops it. */
export function handleGestures(canvas: HTMLElement, view: Signal<View>, read: () => GestureOptions): () => void {
  let drag: Drag | null = null;
  /** Last position of the dragging pointer. The event that cancels the drag has no position. */
  let lastX = 0;
  let holding: ReturnType<typeof setTimeout> | undefined;
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
  /** Returns the join at a position, or the join with an edge within reach of it. */
  const findJoinAt = (x: number, y: number): Range | null => {
    const { plan, lanes } = read();
    if (y < lanes.waveform.top) return null;
    const edge = findEdge(x, y, REACH.mouse);
    const time = edge === null ? toTime(view.value, x) : edge.side === "start" ? edge.time - 1 : edge.time;
    return findJoin(plan, time);
  };
  const limitTime = (x: number, range: Range = { start: 0, end: view.value.duration }) =>
    Math.min(range.end, Math.max(range.start, Math.round(toTime(view.value, x))));

  const select = ({ fixed, offset, heldAt }: Drag & { kind: "range" }, x: number, isDone: boolean) => {
    if (heldAt !== null) return read().onSelect(fixed, isDone);
    const to = limitTime(x + offset);
    read().onSelect({ start: Math.min(fixed.start, to), end: Math.max(fixed.end, to) }, isDone);
  };
  /** Returns the end of the selection at a position, or null. */
  const findEnd = (x: number, y: number, reach: number): "start" | "end" | null => {
    const { selection, lanes } = read();
    if (selection === null || y < lanes.ruler.height) return null;
    const [start, end] = [toX(view.value, selection.start), toX(view.value, selection.end)];
    // Both may be in reach.
    const side = x > (start + end) / 2 ? "end" : "start";
    return Math.abs((side === "end" ? end : start) - x) <= reach ? side : null;
  };
  const findDraggedEnd = (x: number, y: number, reach: number): End | null => {
    const side = findEnd(x, y, reach);
    if (side === null) return null;
    const selection = read().selection!;
    return { fixed: selection[side === "end" ? "start" : "end"], offset: toX(view.value, selection[side]) - x };
  };
  /** Returns the edge that a finger may move: a selected one, or one of the selected span. All other drags scroll. */
  const findHeldEdge = (x: number, y: number): Edge | null => {
    const { plan, selection, edge, lanes } = read();
    if (y >= lanes.waveform.top && edge !== null && Math.abs(toX(view.value, edge.time) - x) <= GRIP_REACH) return edge;
    const side = findEnd(x, y, GRIP_REACH);
    if (side === null || selection === null) return null;
    const span = plan.spans[findSpanIndex(plan, selection.start)]!;
    const isSpan = !span.isKept && span.start === selection.start && span.end === selection.end;
    return isSpan ? findNearestEdge(plan, selection[side], 0) : null;
  };

  const findTarget = (x: number, y: number, isTouch: boolean): Target => {
    const edge = findEdge(x, y, REACH[isTouch ? "touch" : "mouse"]);
    const end = findDraggedEnd(x, y, isTouch ? GRIP_REACH : REACH.mouse);
    return { edge, dragged: isTouch ? findHeldEdge(x, y) : edge, end };
  };

  const begin = (press: Drag & { kind: "press" }, x: number, isTouch: boolean): Drag => {
    if (press.flag !== null) return { kind: "scrub", offset: press.flag };
    const edge = press.dragged;
    if (edge && read().onMoveEdge) {
      const before = view.value;
      view.value = placeAt(before, edge.time, press.x, Math.min(before.scale, DRAG_SCALE));
      const range = read().getRange(edge);
      return { kind: "edge", edge, range, before, offset: toX(view.value, edge.time) - press.x };
    }
    const startAt = (time: number, offset: number): Drag => ({
      kind: "range",
      fixed: { start: time, end: time },
      offset,
      heldAt: null,
    });
    if (press.end !== null) return startAt(press.end.fixed, press.end.offset);
    return isTouch ? { kind: "pan", x } : startAt(limitTime(press.x), 0);
  };
  const hold = () => {
    if (drag?.kind !== "press") return;
    const { x } = drag;
    const time = limitTime(x);
    const held = read().onHold(time);
    if (held === null) {
      drag = { kind: "held" };
      return;
    }
    const half = HELD_WIDTH / 2;
    const isEmpty = held.start === held.end;
    const fixed = isEmpty ? { start: limitTime(x - half), end: limitTime(x + half) } : held;
    drag = { kind: "range", fixed, offset: 0, heldAt: x };
    read().isDragging.value = true;
    select(drag, x, false);
  };
  const move = (x: number, isMoving = true) => {
    if (drag?.kind === "scrub") {
      const time = limitTime(x + drag.offset);
      read().onSeek(time);
      // A press without a drag makes no sound.
      if (isMoving) read().onScrub?.(time);
    } else if (drag?.kind === "pan") {
      view.value = scrollBy(view.value, drag.x - x);
      drag.x = x;
    } else if (drag?.kind === "range") {
      if (drag.heldAt !== null && Math.abs(x - drag.heldAt) < MIN_MOVE) return;
      drag.heldAt = null;
      select(drag, x, false);
    } else if (drag?.kind === "edge") read().onMoveEdge?.(drag.edge, limitTime(x + drag.offset, drag.range), false);
  };
  const finish = (x: number, isCanceled: boolean) => {
    const last = drag;
    drag = null;
    read().isDragging.value = false;
    if (last?.kind === "edge") {
      const time = isCanceled ? last.edge.time : limitTime(x + last.offset, last.range);
      read().onMoveEdge?.(last.edge, time, true);
      view.value = placeAt(view.value, time, x, last.before.scale);
    } else if (last?.kind === "range") {
      select(last, x, true);
    } else if (last?.kind === "scrub") {
      read().onScrub?.(null);
      view.value = reveal(view.value, read().playhead.peek(), 0.5);
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
    clearTimeout(holding);
    if (pointers.size > 1) return finish(lastX, true);
    lastX = x;
    const isTouch = event.pointerType === "touch";
    const { lanes, playhead } = read();
    const time = playhead.peek();
    // A finger may be anywhere on the flag: a drag keeps its distance. A tap is like one elsewhere.
    const isRuler = y < lanes.ruler.height;
    const onFlag = isTouch && isOnFlag(view.value, time, x, y) ? toX(view.value, time) - x : null;
    // A finger in the ruler may be about to scroll the page.
    const flag = onFlag ?? (isTouch && isRuler ? 0 : null);
    if (isRuler && !isTouch) {
      drag = { kind: "scrub", offset: 0 };
      read().isDragging.value = true;
      move(x, false);
      return;
    }
    const target = findTarget(x, y, isTouch);
    drag = { kind: "press", x, y, flag, ...target };
    // A finger that rests on a grip or in the ruler is about to drag. The flag reaches below it, over words.
    const canHold = isTouch && !isRuler && target.dragged === null && target.end === null;
    if (canHold) holding = setTimeout(hold, HOLD_MS);
  };
  const onMove = (event: PointerEvent) => {
    const { x, y } = toLocal(event);
    if (!pointers.has(event.pointerId)) {
      const isEdge = (read().onMoveEdge && findEdge(x, y, REACH.mouse)) || findDraggedEnd(x, y, REACH.mouse) !== null;
      canvas.style.cursor = isEdge ? "col-resize" : "";
      if (event.pointerType !== "touch") read().onHoverJoin?.(findJoinAt(x, y));
      return;
    }
    if (pointers.size === 2) pinch(event.pointerId, x);
    pointers.set(event.pointerId, x);
    lastX = x;
    if (drag?.kind === "press") {
      const isTouch = event.pointerType === "touch";
      const [right, down] = [Math.abs(x - drag.x), Math.abs(y - drag.y)];
      if (Math.max(right, down) > MAX_REST) clearTimeout(holding);
      // The page scrolls with a finger that moves up or down.
      if (right >= MIN_MOVE && (!isTouch || right >= down)) {
        clearTimeout(holding);
        drag = begin(drag, x, isTouch);
        read().isDragging.value = drag.kind !== "pan";
      }
    }
    move(x);
  };
  // Otherwise the page scrolls with the finger that drags.
  const onTouchMove = (event: TouchEvent) => {
    if (drag !== null && drag.kind !== "press" && drag.kind !== "pan") event.preventDefault();
  };
  const pinch = (id: number, x: number) => {
    const other = [...pointers].find(([one]) => one !== id)![1];
    const before = Math.max(8, Math.abs(pointers.get(id)! - other));
    view.value = zoomAt(view.value, Math.max(8, Math.abs(x - other)) / before, (x + other) / 2);
  };
  const onEnd = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    clearTimeout(holding);
    const isCanceled = event.type === "pointercancel";
    finish(isCanceled ? lastX : toLocal(event).x, isCanceled);
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
  canvas.addEventListener("pointerleave", () => read().onHoverJoin?.(null), { signal });
  canvas.addEventListener("wheel", onWheel, { signal, passive: false });
  canvas.addEventListener("touchmove", onTouchMove, { signal, passive: false });
  window.addEventListener("keydown", onKey, { signal, capture: true });
  return () => {
    clearTimeout(holding);
    events.abort();
  };
}

/**
 * Minimum width of a span in CSS pixels. Edges of narrower ones cannot be distinguished, so a press there sets the
 * position.
 */
export const MIN_WIDTH = 6;

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

/** Returns whether a plan has an edge that a mouse can drag. */
export function canDragEdge(plan: EditorPlan, view: View, { time, side }: Edge): boolean {
  const found = findEdgeAt(plan, view, toX(view, time), REACH.mouse);
  return found !== null && found.time === time && found.side === side;
}
