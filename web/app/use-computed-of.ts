import { computed, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

/**
 * Returns a value computed from signals. `useComputed` keeps its value until a signal that it read changes, even if a
 * prop now contains another signal. List everything that comes from props in `dependencies`.
 */
export const useComputedOf = <T>(compute: () => T, dependencies: unknown[]): ReadonlySignal<T> =>
  useMemo(() => computed(compute), dependencies);
