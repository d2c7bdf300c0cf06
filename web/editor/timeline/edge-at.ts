/** Finds the edge under the pointer. Pure. */
import { type Edge, findNearestEdge, getEdgeRange } from "../model/edges";
import { type EditorPlan, MIN_KEPT } from "../model/plan";
import { toTime, type View } from "./view";

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
