import { useRef } from "preact/hooks";
import type { Loaded } from "../../app/resource";

/**
 * Returns what a resource has loaded, also while it is loaded again and when that fails: an editor must not go away with the network. A
 * failure is returned only if nothing was loaded for this key.
 */
export function useKept<T>(state: Loaded<T>, key: string | null): Loaded<T> {
  const kept = useRef<{ key: string | null; state: Loaded<T> }>({ key, state });
  const isNews = state.kind === "ready" || kept.current.state.kind !== "ready";
  if (isNews || (state.kind === "failed" && kept.current.key !== key)) kept.current = { key, state };
  return kept.current.state;
}
