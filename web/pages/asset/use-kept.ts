import { useRef } from "preact/hooks";
import type { Loaded } from "../../app/resource";

/**
 * Returns the loaded value of a resource, even while it reloads and when a reload fails: an editor must not disappear
 * when the network does. A failure is returned only if nothing was loaded for this key.
 */
export function useKept<T>(state: Loaded<T>, key: string | null): Loaded<T> {
  const kept = useRef<{ key: string | null; state: Loaded<T> }>({ key, state });
  const isNews = state.kind === "ready" || kept.current.state.kind !== "ready";
  if (isNews || (state.kind === "failed" && kept.current.key !== key)) kept.current = { key, state };
  return kept.current.state;
}
