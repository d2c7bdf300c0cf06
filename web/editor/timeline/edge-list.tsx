import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { formatTimecode } from "../../app/format";
import { countEdgesIn, type Edge, getEdgeKey, listEdgesIn } from "../model/edges";
import { type EditorPlan, toSeconds } from "../model/plan";
import { endOf, type View } from "./view";

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
