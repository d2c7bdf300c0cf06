/** Live updates: all tabs of a browser that show the same workspace share one event stream. */
import { computed, effect, type Signal, signal, untracked } from "@preact/signals";
import type { LiveEventType } from "../../src/domain/live-events";
import { connection, reportAnswer, reportNoAnswer } from "./connection";
import { joinElection } from "./live-leader";
import { type LiveMessage, openStream, type StreamState } from "./live-stream";
import { currentWorkspaceId, me, refusals, workspace } from "./session";

type Listener = (message: LiveMessage) => void;
type Shared = { kind: "message"; message: LiveMessage } | { kind: "state"; state: StreamState };

const POLL_MS = 5_000;

/** `id`: the ID of the newest event before any page has read data. The first stream continues from it. */
export const firstEvent: { id: string | null } = { id: null };

const listeners = new Set<{ types: readonly LiveEventType[]; listener: Listener }>();
const progress = new Map<string, Signal<number | null>>();

/**
 * Calls the listener for events of these types, and with type `reset` when anything may have changed. Returns a
 * function that stops it.
 */
export function listenLive(types: readonly LiveEventType[], listener: Listener): () => void {
  const entry = { types, listener };
  listeners.add(entry);
  return () => listeners.delete(entry);
}

/** Returns the progress of an asset, cut or render, from 0 to 1; null while it is unknown. */
export function progressOf(entityId: string): Signal<number | null> {
  const known = progress.get(entityId);
  if (known) return known;
  const created = signal<number | null>(null);
  progress.set(entityId, created);
  return created;
}

function deliver(message: LiveMessage): void {
  const { type, entityId } = message;
  if (type === "progress") {
    if (entityId !== null) progressOf(entityId).value = message.progress;
    return;
  }
  const known = entityId === null ? undefined : progress.get(entityId);
  // A new attempt starts from zero, and finished work has no progress.
  if (known && message.state !== "processing") known.value = null;
  // The user's role in the workspace may also have changed.
  if (type === "reset") refusals.value++;
  for (const one of [...listeners]) if (type === "reset" || one.types.includes(type)) one.listener(message);
}

const RESET: LiveMessage = { type: "reset", id: null, entityId: null, state: null, progress: null };

/** Follows the session and the workspace. Call it once. */
export const startLive = (): (() => void) =>
  effect(() => {
    const key = streamKey.value;
    return key === null ? undefined : untracked(() => follow(key, currentWorkspaceId()));
  });

/** Tabs with the same key share a stream. Null without a session. */
const streamKey = computed<string | null>(() => {
  const userId = me.value?.id ?? null;
  return userId === null || workspace.value === null ? null : `${userId}.${workspace.value.id}`;
});

/** Follows the stream of a workspace until the returned function is called. */
function follow(key: string, workspaceId: string | null): () => void {
  const channel = new BroadcastChannel(`offcut.live.${key}`);
  let lastId = firstEvent.id;
  firstEvent.id = null;
  let close: (() => void) | null = null;
  let polling: ReturnType<typeof setInterval> | undefined;
  let wasLost = false;

  const onState = (state: StreamState) => {
    if (state === "lost") reportNoAnswer();
    if (state === "open" || state === "ended") {
      reportAnswer();
      // A change of the user's role has no event. The server ends a stream only when the role changes while it is open.
      refusals.value++;
    }
    clearInterval(polling);
    if (state === "refused") polling = setInterval(() => deliver(RESET), POLL_MS);
  };
  const onMessage = (message: LiveMessage) => {
    lastId = message.id ?? lastId;
    deliver(message);
  };
  const share = (shared: Shared) => channel.postMessage(shared);
  channel.onmessage = ({ data }: MessageEvent<Shared>) => {
    if (data.kind === "message") onMessage(data.message);
    else onState(data.state);
  };

  const stop = () => {
    close?.();
    close = null;
  };
  const open = () => {
    stop();
    close = openStream({
      workspaceId,
      lastId,
      onMessage: (message) => {
        onMessage(message);
        share({ kind: "message", message });
      },
      onState: (state) => {
        onState(state);
        share({ kind: "state", state });
      },
    });
  };
  const resign = joinElection({ key, onLead: open, onFollow: stop });
  // A stream reports no error for minutes after its connection is lost, but the browser knows when the network is back.
  const stopWatching = effect(() => {
    const isOnline = connection.value === "online";
    untracked(() => {
      if (isOnline && wasLost) {
        if (close !== null) open();
        // Reads have failed in the meantime, and no event repeats them.
        deliver(RESET);
      }
      wasLost = !isOnline;
    });
  });
  // A frozen tab may have missed messages from other tabs.
  const onResume = () => deliver(RESET);
  document.addEventListener("resume", onResume);
  return () => {
    document.removeEventListener("resume", onResume);
    stopWatching();
    resign();
    stop();
    clearInterval(polling);
    channel.close();
    progress.clear();
  };
}
