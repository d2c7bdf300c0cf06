/** Loading of what a page shows. */
import { type Signal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { ApiError, toMessage } from "./api";

/** `loading` only before the first answer: a reload keeps what is shown. */
export type Loaded<T> =
  | { kind: "loading" }
  | { kind: "ready"; value: T }
  | { kind: "failed"; message: string; error: unknown };

export type Resource<T> = { state: Signal<Loaded<T>>; reload(): Promise<void> };

/** Loads with `load` when the component appears and when a dependency changes. The answer of an earlier call never replaces a later one. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: unknown[]): Resource<T> {
  const resource = useMemo(() => createResource(load), dependencies);
  // Not after the next frame: what is loaded one after the other would wait for a frame each time.
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
        // What is shown stays while the server does not respond, which the shell says; it is read again when the server is back.
        const isOffline = error instanceof ApiError && error.code === "offline";
        if (!isOffline || state.value.kind !== "ready")
          state.value = { kind: "failed", message: toMessage(error), error };
      }
    },
    stop: () => latest.abort(),
  };
}
