/** The recordings that are selected for a batch. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";

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
