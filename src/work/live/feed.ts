/**
 * The events for one reader: those that the hub has passed on, or, while the reader is behind, those in the database.
 */
import type { Store } from "../../store/db";
import { type LiveEvent, type LiveEventFilter, listMatchingEventsAfter } from "../../store/live-events";

/** Progress of a cut, a render or the preparation of an asset, 0 to 1. */
export type LiveProgress = { entity_id: string; progress: number };

export type PresentUser = { id: string; name: string | null };

/** Everybody who has a cut open. */
export type LivePresence = { entity_id: string; users: PresentUser[] };

/** Maximum number of entities with unsent progress, and with unsent presence. */
const MAX_WAITING_ENTITIES = 100;

/** Creates a feed. `readPassedId` returns the ID up to which the hub has passed on everything. */
export function createLiveFeed(options: {
  store: Pick<Store, "read">;
  filter: LiveEventFilter;
  position: number;
  /** Maximum number of rows per query, and of waiting events before the reader falls behind. */
  maxEvents: number;
  readPassedId(): number;
  onEvents(): void;
  onClose(): void;
}) {
  const { store, filter, maxEvents, readPassedId, onEvents, onClose } = options;
  let position = options.position;
  let isBehind = position < readPassedId();
  let isClosed = false;
  let waiting: LiveEvent[] = [];
  /** Latest progress by entity. */
  let progress = new Map<string, LiveProgress>();
  let presence = new Map<string, LivePresence>();

  /** Adds news that is not stored, replacing earlier news of the entity. A reader that is behind gets none. */
  function pushLatest<News extends { entity_id: string }>(waitingNews: Map<string, News>, latest: News): void {
    const id = latest.entity_id;
    if (isBehind || (waitingNews.size >= MAX_WAITING_ENTITIES && !waitingNews.has(id))) return;
    waitingNews.set(id, latest);
    onEvents();
  }

  async function readBatch(): Promise<LiveEvent[]> {
    const passedBefore = readPassedId();
    const events = await listMatchingEventsAfter(store.read, filter, position, maxEvents);
    position = events.at(-1)?.id ?? position;
    if (events.length === maxEvents) return events;
    // The query includes everything passed on before it. Later events need another query.
    position = Math.max(position, passedBefore);
    isBehind = position < readPassedId();
    return events;
  }

  function takeWaiting(): LiveEvent[] {
    const taken = waiting;
    waiting = [];
    position = taken.at(-1)?.id ?? position;
    return taken;
  }

  return {
    /**
     * Returns the events since the last call, oldest first, and newer progress and presence. If empty, wait for
     * `onEvents`.
     */
    take: async () => {
      let events: LiveEvent[] = [];
      while (isBehind && events.length === 0 && !isClosed) events = await readBatch();
      if (!isBehind && events.length === 0) events = takeWaiting();
      const latest = { progress: [...progress.values()], presence: [...presence.values()] };
      progress = new Map();
      presence = new Map();
      return { events, ...latest };
    },
    /** Returns the ID up to which the reader has taken everything. */
    position: () => (isBehind || waiting.length > 0 ? position : Math.max(position, readPassedId())),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      waiting = [];
      onClose();
    },
    /** For the hub: adds an event that is newer than all others. */
    push: (event: LiveEvent) => {
      progress.delete(event.entity_id);
      // Already read from the database.
      if (event.id <= position) return;
      if (!isBehind) {
        if (waiting.length < maxEvents) waiting.push(event);
        else {
          waiting = [];
          isBehind = true;
        }
      }
      onEvents();
    },
    pushProgress: (latest: LiveProgress) => pushLatest(progress, latest),
    pushPresence: (latest: LivePresence) => pushLatest(presence, latest),
  };
}

export type LiveFeed = ReturnType<typeof createLiveFeed>;
