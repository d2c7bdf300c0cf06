/** The edge that a pointer takes. Pure. */
import { type Edge, findNearestEdge, getEdgeRange } from "../model/edges";
import { type EditorPlan, MIN_KEPT } from "../model/plan";
import { toTime, type View } from "./view";

/** CSS pixels. In narrower spans edges cannot be distinguished: a press there selects the place. */
const MIN_WIDTH = 6;

/** Returns the edge within `reach` pixels, but in a narrow span within a third of it; or null. */
export function findEdgeAt(plan: EditorPlan, view: View, x: number, reach: number): Edge | null {
  const time = toTime(view, x);
  const edge = findNearestEdge(plan, time, reach * view.scale);
  if (edge === null) return null;
  const range = getEdgeRange(plan, edge);
  // At least so much of what is kept stays when the edge moves.
  if (edge.side === "start") range.end += MIN_KEPT;
  else range.start -= MIN_KEPT;
  const width = Math.min(edge.time - range.start, range.end - edge.time) / view.scale;
  const distance = Math.abs(edge.time - time) / view.scale;
  return width >= MIN_WIDTH && distance <= Math.min(reach, width / 3) ? edge : null;
}
