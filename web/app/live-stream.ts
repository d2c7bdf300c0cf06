/** A stream of events from the server that reconnects when the connection is lost. */
import { LIVE_EVENT_TYPES, type LiveEventType } from "../../src/domain/live-events";
import { api } from "./api";

/** `entityId` is null for a `reset`. `progress` is from 0 to 1. */
export type LiveMessage = {
  type: LiveEventType;
  id: string | null;
  entityId: string | null;
  state: string | null;
  progress: number | null;
  /** Revision of a draft or a review; absent for a deleted draft. */
  revision?: number | undefined;
  /** The users who have the cut open. */
  users?: readonly { id: string; name: string | null }[] | undefined;
};

/**
 * `ended`: the server ended or refused the stream, perhaps because the user's permissions changed. `refused`: the
 * server opens no stream because there are too many, or a proxy blocks it.
 */
export type StreamState = "open" | "ended" | "lost" | "refused";

export type StreamOptions = {
  workspaceId: string | null;
  /** The position to continue from; null starts with new events. */
  lastId: string | null;
  onMessage(message: LiveMessage): void;
  onState(state: StreamState): void;
};

const RETRY_MS = 1_000;
const REFUSED_RETRY_MS = 30_000;
const MAX_REFUSALS = 3;

type Data = Pick<LiveMessage, "users" | "revision"> & { entity_id?: string; state?: string | null; progress?: number };

/** Opens a stream. Returns a function that closes it. */
export function openStream({ workspaceId, lastId, onMessage, onState }: StreamOptions): () => void {
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
    // `EventSource` needs a listener for each type.
    for (const type of LIVE_EVENT_TYPES) {
      opened.addEventListener(type, (event) => {
        if (event.lastEventId !== "") position = event.lastEventId;
        const data = JSON.parse(event.data) as Data;
        onMessage({
          type,
          id: position,
          entityId: data.entity_id ?? null,
          state: data.state ?? null,
          progress: data.progress ?? null,
          revision: data.revision,
          users: data.users,
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
