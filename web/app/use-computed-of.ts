import { computed, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

/**
 * Returns what is computed of signals. `useComputed` keeps its value while the signals that it read stay the same, also when a property now has
 * other ones: what comes from properties is listed as a dependency here.
 */
export const useComputedOf = <T>(compute: () => T, dependencies: unknown[]): ReadonlySignal<T> =>
  useMemo(() => computed(compute), dependencies);
