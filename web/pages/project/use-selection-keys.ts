/** The keys that select recordings. */
import { useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type Action, useActions } from "../../app/actions";
import type { List } from "../../app/cache";
import type { Recording } from "./recording";
import type { Selection } from "./selection";

const GROUP = "Recordings";

/** Returns the recording whose card or row has the focus. Its menu uses Space itself. */
function findFocused(): string | undefined {
  const focused = document.activeElement;
  return focused?.closest(".menu") ? undefined : focused?.closest<HTMLElement>("[data-id]")?.dataset.id;
}

export function useSelectionKeys(selection: Selection, list: { current: List<Recording> }): void {
  /** Loads the rest of the list while all recordings are selected. */
  useSignalEffect(() => {
    const { items, hasMore } = list.current;
    if (!selection.isAll.value || items.value === null) return;
    selection.selectAll();
    if (hasMore.value) setTimeout(() => list.current.loadMore());
    else selection.isAll.value = false;
  });
  const actions = useMemo<Action[]>(
    () => [
      {
        name: "library.select",
        label: "Select the recording",
        group: GROUP,
        keys: ["Space"],
        isEnabled: () => findFocused() !== undefined,
        perform: () => selection.toggle(findFocused()!),
      },
      {
        name: "library.select-all",
        label: "Select all recordings",
        group: GROUP,
        keys: ["Mod+a"],
        isEnabled: () => (list.current.items.value?.length ?? 0) > 0,
        perform: selection.selectAll,
      },
      {
        name: "library.clear",
        label: "Clear the selection",
        group: GROUP,
        keys: ["Escape"],
        isEnabled: () => !selection.isEmpty.value,
        perform: selection.clear,
      },
    ],
    [selection],
  );
  useActions(actions);
}
