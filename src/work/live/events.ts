/**
 * Live events: reads committed events once for all feeds, and passes them to the feeds whose users may see them.
 *
 * A feed has a position: the ID up to which its reader has received everything. It is live while it is not behind the
 * hub, and then gets events as they happen. A new feed with an old position, and one whose reader is slow, read the
 * database until they are live again, so that no event is lost or repeated and memory stays bounded.
 */
import type { Log } from "../../lib/log";
import type { Store } from "../../store/db";
import {
  deleteEventsBefore,
  type LiveEvent,
  type LiveEventFilter,
  listEventsAfter,
  readEventIds,
} from "../../store/live-events";
import { createLiveFeed, type LiveFeed, type LivePresence, type LiveProgress } from "./feed";

/** The subject of a progress report, and who receives it. */
type ProgressSubject = { workspaceId: string; pipelineId: string; entityId: string };

/** Maximum number of rows per query, and of events that wait for a reader. */
const MAX_EVENTS = 500;
const ERROR_DELAY_MS = 1_000;

type Feeds = Map<string, Set<LiveFeed>>;

export function createLiveEvents(options: { store: Store; log: Log; maxEvents?: number }) {
  const { store, log, maxEvents = MAX_EVENTS } = options;
  /** Feeds by topic. */
  const feeds: Feeds = new Map();
  let feedCount = 0;
  /** All events up to this ID have been passed on. Outdated while there are no feeds. */
  let passedId = 0;
  let isReading = false;
  let isRequested = false;
  let retryTimer: Timer | undefined;
  const throttle = createProgressThrottle(({ workspaceId, pipelineId, entityId }: ProgressSubject, share) => {
    const progress: LiveProgress = { entity_id: entityId, progress: share };
    forEach([`workspace ${workspaceId}`, `pipeline ${pipelineId}`], (feed) => feed.pushProgress(progress));
  });

  function forEach(topics: string[], run: (feed: LiveFeed) => void): void {
    for (const topic of topics) for (const feed of feeds.get(topic) ?? []) run(feed);
  }

  function pass(events: LiveEvent[]): void {
    for (const event of events) {
      // Passed on by an earlier query, when feeds were closed and opened in the meantime.
      if (event.id <= passedId) continue;
      throttle.forget(event.entity_id);
      forEach(listEventTopics(event), (feed) => feed.push(event));
      passedId = event.id;
    }
  }

  async function read(): Promise<void> {
    isReading = true;
    try {
      while (isRequested && feedCount > 0) {
        isRequested = false;
        const events = await listEventsAfter(store.read, passedId, maxEvents);
        pass(events);
        if (events.length === maxEvents) isRequested = true;
      }
    } catch (error) {
      log.error("live_events.read_failed", { error });
      retryTimer = setTimeout(wake, ERROR_DELAY_MS);
    } finally {
      isReading = false;
    }
  }

  /** Looks for new events soon. Call it after each commit. */
  function wake(): void {
    isRequested = true;
    if (!isReading && feedCount > 0) void read();
  }

  return {
    /**
     * Opens a feed. `lastEventId`: the last event that the reader has received, 0 for all stored ones, null for none.
     * `isReset`: it is invalid, or later events are no longer stored; the feed then starts now. `onEvents` is called
     * when events are available.
     */
    open: async (filter: LiveEventFilter, lastEventId: string | null, onEvents: () => void) => {
      const { oldest, newest } = await readEventIds(store.read);
      const position = lastEventId === null ? newest : findPosition(lastEventId, oldest, newest);
      // Nothing is awaited from here on, so that the hub does not advance.
      if (feedCount === 0) passedId = newest;
      const topics = listFilterTopics(filter);
      const feed = createLiveFeed({
        store,
        filter,
        position: position ?? newest,
        maxEvents,
        readPassedId: () => passedId,
        onEvents,
        onClose: () => {
          feedCount--;
          for (const topic of topics) removeFeed(feeds, topic, feed);
        },
      });
      feedCount++;
      for (const topic of topics) addFeed(feeds, topic, feed);
      wake();
      return { feed, isReset: position === null };
    },
    /** Returns the ID of the newest event; 0 before the first. */
    readNewestId: async (): Promise<number> => (await readEventIds(store.read)).newest,
    /** Reports the progress of a running step, 0 to 1, to open feeds. It is not stored. */
    publishProgress: (subject: ProgressSubject, share: number) => {
      const isSeen = feeds.has(`workspace ${subject.workspaceId}`) || feeds.has(`pipeline ${subject.pipelineId}`);
      if (isSeen) throttle.publish(subject.entityId, subject, share);
    },
    /** Reports who has a cut open to the open feeds of its workspace. It is not stored. */
    publishPresence: (workspaceId: string, presence: LivePresence) =>
      forEach([`workspace ${workspaceId}`], (feed) => feed.pushPresence(presence)),
    wake,
    stop: () => {
      clearTimeout(retryTimer);
      throttle.stop();
    },
  };
}

export type LiveEvents = ReturnType<typeof createLiveEvents>;

const STORED_MS = 7 * 24 * 3600 * 1000;
/** Rows to delete per transaction. */
const SWEPT_ROWS = 1_000;

/** Deletes events older than 7 days. */
export async function sweepLiveEvents({ store, now }: { store: Store; now(): number }): Promise<void> {
  const cutoff = now() - STORED_MS;
  while (await store.write((tx) => deleteEventsBefore(tx, cutoff, SWEPT_ROWS)));
}

/**
 * Returns the ID that a reader continues after; null if it is invalid, in the future, or older than all stored events.
 */
function findPosition(lastEventId: string, oldest: number | null, newest: number): number | null {
  if (!/^\d{1,15}$/.test(lastEventId)) return null;
  const id = Number(lastEventId);
  // All events may have been deleted.
  if (id === 0 || id === newest) return id;
  return oldest === null || id < oldest || id > newest ? null : id;
}

const listFilterTopics = (filter: LiveEventFilter): string[] =>
  "pipelineId" in filter
    ? [`pipeline ${filter.pipelineId}`]
    : [`workspace ${filter.workspaceId}`, ...(filter.userId === null ? [] : [`user ${filter.userId}`])];

/** Returns either the workspace or the user, so that a feed gets each event once. */
const listEventTopics = ({ workspace_id: workspace, user_id: user, pipeline_id: pipeline }: LiveEvent): string[] => [
  workspace === null ? `user ${user}` : `workspace ${workspace}`,
  ...(pipeline === null ? [] : [`pipeline ${pipeline}`]),
];

function addFeed(feeds: Feeds, topic: string, feed: LiveFeed): void {
  const known = feeds.get(topic);
  if (known) known.add(feed);
  else feeds.set(topic, new Set([feed]));
}

function removeFeed(feeds: Feeds, topic: string, feed: LiveFeed): void {
  const known = feeds.get(topic);
  known?.delete(feed);
  if (known?.size === 0) feeds.delete(topic);
}

const MIN_INTERVAL_MS = 500;

type WaitingProgress<Subject> = { timer: Timer; latest: { subject: Subject; share: number } | null };

/**
 * Limits how often progress is published: twice a second for each entity, and always the latest. `send` is called
 * immediately if the entity was quiet, otherwise at the end of the interval.
 */
function createProgressThrottle<Subject>(send: (subject: Subject, share: number) => void) {
  /** Entities whose progress was sent in the last interval. */
  const recent = new Map<string, WaitingProgress<Subject>>();

  function sendNow(entityId: string, subject: Subject, share: number): void {
    recent.set(entityId, { timer: setTimeout(() => endInterval(entityId), MIN_INTERVAL_MS), latest: null });
    send(subject, share);
  }

  function endInterval(entityId: string): void {
    const latest = recent.get(entityId)?.latest;
    recent.delete(entityId);
    if (latest) sendNow(entityId, latest.subject, latest.share);
  }

  return {
    publish: (entityId: string, subject: Subject, share: number) => {
      const entry = recent.get(entityId);
      if (entry) entry.latest = { subject, share };
      else sendNow(entityId, subject, share);
    },
    /** Drops unsent progress: the entity has changed its state. */
    forget: (entityId: string) => {
      const entry = recent.get(entityId);
      if (entry) entry.latest = null;
    },
    stop: () => {
      for (const { timer } of recent.values()) clearTimeout(timer);
      recent.clear();
    },
  };
}
