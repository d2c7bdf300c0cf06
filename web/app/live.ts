/** Live updates: all tabs of a browser that show the same workspace share one event stream. */

import { computed, effect, type Signal, signal, untracked } from "@preact/signals";
import { api } from "./api";
import { connection, reportAnswer, reportNoAnswer } from "./connection";
import { joinElection } from "./live-leader";
import { currentWorkspaceId, refusals, session, workspace } from "./session";

type Listener = (message: LiveMessage) => void;
type Shared = { kind: "message"; message: LiveMessage } | { kind: "state"; state: StreamState };

const POLL_MS = 5_000;

const listeners = new Set<{ types: readonly string[]; listener: Listener }>();
const progress = new Map<string, Signal<number | null>>();

/**
 * Calls the listener for events of these types, and with type `reset` when anything may have changed. Returns a function that stops it.
 */
export function listenLive(types: readonly string[], listener: Listener): () => void {
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
  const userId = session.value.kind === "signed-in" ? session.value.me.id : null;
  return userId === null || workspace.value === null ? null : `${userId}.${workspace.value.id}`;
});

/** Follows the stream of a workspace until the returned function is called. */
function follow(key: string, workspaceId: string | null): () => void {
  const channel = new BroadcastChannel(`offcut.live.${key}`);
  let lastId: string | null = null;
  let close: (() => void) | null = null;
  let polling: ReturnType<typeof setInterval> | undefined;
  let wasLost = false;

  const onState = (state: StreamState) => {
    if (state === "lost") reportNoAnswer();
    if (state === "open" || state === "ended") reportAnswer();
    if (state === "ended") refusals.value++;
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

/** `entityId` is null for a `reset`. `progress` is from 0 to 1. */
type LiveMessage = {
  type: string;
  id: string | null;
  entityId: string | null;
  state: string | null;
  progress: number | null;
};

/**
 * `ended`: the server ended or refused the stream, perhaps because the user's permissions changed. `refused`: the
 * server opens no stream because there are too many, or a proxy blocks it.
 */
type StreamState = "open" | "ended" | "lost" | "refused";

type StreamOptions = {
  workspaceId: string | null;
  /** The position to continue from; null starts with new events. */
  lastId: string | null;
  onMessage(message: LiveMessage): void;
  onState(state: StreamState): void;
};

/** The event types that the server sends. `EventSource` needs a listener for each. */
const TYPES = [
  "asset.updated",
  "cut.updated",
  "render.updated",
  "pipeline.updated",
  "project.updated",
  "credits.updated",
  "notification.created",
  "review.updated",
  "progress",
  "reset",
];
const RETRY_MS = 1_000;
const REFUSED_RETRY_MS = 30_000;
const MAX_REFUSALS = 3;

type Data = { entity_id?: string; state?: string | null; progress?: number };

/** Opens a stream. Returns a function that closes it. */
function openStream({ workspaceId, lastId, onMessage, onState }: StreamOptions): () => void {
  let position = lastId;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let refusals = 0;
  let isClosed = false;

  function connect(): void {
    const query = new URLSearchParams();
    if (workspaceId !== null) query.set("workspace_id", workspaceId);
    if (position !== null) query.set("last_event_id", position);
    const opened = new EventSource(`/api/v1/events?${query}`);
    source = opened;
    opened.onopen = () => {
      refusals = 0;
      // Events from before the position was known may have been missed.
      if (position === null) onMessage({ type: "reset", id: null, entityId: null, state: null, progress: null });
      onState("open");
    };
    opened.onerror = () => {
      // The browser does not retry by itself: it gives up when a response is not an event stream.
      opened.close();
      if (source === opened) void recover();
    };
    for (const type of TYPES) {
      opened.addEventListener(type, (event) => {
        if (event.lastEventId !== "") position = event.lastEventId;
        const data = JSON.parse(event.data) as Data;
        onMessage({
          type,
          id: position,
          entityId: data.entity_id ?? null,
          state: data.state ?? null,
          progress: data.progress ?? null,
        });
      });
    }
  }

  /**
   * Determines whether the session has ended (the call then ends it), the network is down, or the server refuses
   * streams.
   */
  async function recover(): Promise<void> {
    source = null;
    const isAnswered = await api.GET("/api/v1/users/me").then(
      ({ response }) => response.status !== 401,
      () => false,
    );
    if (isClosed) return;
    if (isAnswered) refusals++;
    onState(!isAnswered ? "lost" : refusals >= MAX_REFUSALS ? "refused" : "ended");
    clearTimeout(timer);
    timer = setTimeout(connect, refusals >= MAX_REFUSALS ? REFUSED_RETRY_MS : RETRY_MS);
  }

  connect();
  return () => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
    source = null;
  };
}
