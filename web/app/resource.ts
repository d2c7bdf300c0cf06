/** Loads data for pages. */
import { type Signal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { ApiError, toMessage } from "./api";

/** `loading` applies only before the first response: a reload keeps the current value. */
export type Loaded<T> =
  | { kind: "loading" }
  | { kind: "ready"; value: T }
  | { kind: "failed"; message: string; error: unknown };

export type Resource<T> = { state: Signal<Loaded<T>>; reload(): Promise<void> };

/**
 * Loads with `load` when the component appears and when a dependency changes. The response of an earlier call never
 * replaces a later one.
 */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: unknown[]): Resource<T> {
  const resource = useMemo(() => createResource(load), dependencies);
  // A layout effect starts before the next frame. Otherwise each of several consecutive loads would wait for a frame.
  useLayoutEffect(() => {
    void resource.reload();
    return resource.stop;
  }, [resource]);
  return resource;
}

function createResource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> & { stop(): void } {
  const state = signal<Loaded<T>>({ kind: "loading" });
  let latest = new AbortController();
  return {
    state,
    reload: async () => {
      latest.abort();
      const current = new AbortController();
      latest = current;
      try {
        const value = await load(current.signal);
        if (!current.signal.aborted) state.value = { kind: "ready", value };
      } catch (error) {
        if (current.signal.aborted) return;
        // While the server does not respond, the current value stays, and the shell shows a notice. It is reloaded when
        // the server is back.
        const isOffline = error instanceof ApiError && error.code === "offline";
        if (!isOffline || state.value.kind !== "ready")
          state.value = { kind: "failed", message: toMessage(error), error };
      }
    },
    stop: () => latest.abort(),
  };
}
