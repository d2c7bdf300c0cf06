/** The recordings that are selected for a batch. */
import { computed, type ReadonlySignal, type Signal, signal, useSignalEffect } from "@preact/signals";
import { createInGroup, useActions } from "../../app/actions";
import type { List } from "../../app/cache";
import type { Recording } from "./recording";

export type Selection = {
  ids: ReadonlySignal<ReadonlySet<string>>;
  isEmpty: ReadonlySignal<boolean>;
  /** Whether everything is selected, and what is read from now on too. */
  isAll: Signal<boolean>;
  has(id: string): boolean;
  toggle(id: string): void;
  /** Selects everything from the recording that was chosen last to this one, in the order of the list. */
  extendTo(id: string): void;
  selectAll(): void;
  clear(): void;
  remove(ids: readonly string[]): void;
};

/** `listShown` returns the IDs in the order of the list. */
export function createSelection(listShown: () => string[]): Selection {
  const ids = signal<ReadonlySet<string>>(new Set());
  const isEmpty = computed(() => ids.value.size === 0);
  const isAll = signal(false);
  /** Where a range starts. */
  let anchor: string | null = null;
  const change = (update: (next: Set<string>) => void) => {
    isAll.value = false;
    const next = new Set(ids.peek());
    update(next);
    ids.value = next;
  };
  const toggle = (id: string) => {
    anchor = id;
    change((next) => next.delete(id) || next.add(id));
  };
  return {
    ids,
    isEmpty,
    isAll,
    has: (id) => ids.value.has(id),
    toggle,
    extendTo: (id) => {
      const shown = listShown();
      const [from, to] = [shown.indexOf(anchor ?? id), shown.indexOf(id)];
      if (from < 0 || to < 0) return toggle(id);
      const range = shown.slice(Math.min(from, to), Math.max(from, to) + 1);
      change((next) => {
        for (const one of range) next.add(one);
      });
    },
    selectAll: () => {
      isAll.value = true;
      ids.value = new Set(listShown());
    },
    clear: () => {
      anchor = null;
      isAll.value = false;
      ids.value = new Set();
    },
    remove: (removed) =>
      change((next) => {
        for (const id of removed) next.delete(id);
      }),
  };
}

const inLibrary = createInGroup("Recordings");

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
  useActions(
    () => [
      inLibrary("library.select", "Select the recording", ["Space"], () => selection.toggle(findFocused()!), {
        isEnabled: () => findFocused() !== undefined,
      }),
      inLibrary("library.select-all", "Select all recordings", ["Mod+a"], selection.selectAll, {
        isEnabled: () => (list.current.items.value?.length ?? 0) > 0,
      }),
      inLibrary("library.clear", "Clear the selection", ["Escape"], selection.clear, {
        isEnabled: () => !selection.isEmpty.value,
      }),
    ],
    [selection],
  );
}
