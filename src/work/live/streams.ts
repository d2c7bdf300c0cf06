/** Open event streams: limits them per user, and ends them when the session, the key or the access ends. */
import { AppError, retryLater } from "../../domain/errors";
import type { Store } from "../../store/db";
import type { LiveEventFilter } from "../../store/live-events";
import type { LiveEvents } from "./events";
import type { LiveFeed } from "./feed";

export type LiveStream = {
  feed: LiveFeed;
  isReset: boolean;
  /** Ends the stream unless its caller still has access. */
  check(): Promise<void>;
  /** Closes the feed and frees the user's slot. Does not call `onEnd`. */
  close(): void;
};

type StreamRequest = {
  userId: string;
  filter: LiveEventFilter;
  lastEventId: string | null;
  /** Rejects if the caller no longer has access. */
  reauthorize(): Promise<unknown>;
  onEvents(): void;
  /** Called when the server ends the stream. */
  onEnd(): void;
};

const MAX_STREAMS_PER_USER = 20;
const FULL_RETRY_SECONDS = 15;
const STOPPING_RETRY_SECONDS = 5;
/** Minimum time between two checks of all streams. */
const MIN_CHECK_INTERVAL_MS = 200;

export function createLiveStreams({ store, live }: { store: Store; live: LiveEvents }) {
  const open = new Map<LiveStream, StreamRequest>();
  /** Open and opening streams by user. */
  const counts = new Map<string, number>();
  let revision = store.accountsRevision();
  let isStopped = false;
  let checking: Promise<void> | null = null;

  function changeCount(userId: string, by: number): void {
    const count = (counts.get(userId) ?? 0) + by;
    if (count === 0) counts.delete(userId);
    else counts.set(userId, count);
  }

  function requireRoom(userId: string): void {
    if (isStopped) {
      const details = { retryAfterSeconds: STOPPING_RETRY_SECONDS };
      throw new AppError("upstream_unavailable", "Server is stopping.", details);
    }
    if ((counts.get(userId) ?? 0) < MAX_STREAMS_PER_USER) return;
    const message = `You have ${MAX_STREAMS_PER_USER} open event streams. Close one, or retry after the time in Retry-After.`;
    throw retryLater("rate_limited", message, FULL_RETRY_SECONDS);
  }

  function end(stream: LiveStream): void {
    const request = open.get(stream);
    stream.close();
    request?.onEnd();
  }

  async function check(stream: LiveStream): Promise<void> {
    try {
      await open.get(stream)?.reauthorize();
    } catch {
      end(stream);
    }
  }

  async function checkAll(): Promise<void> {
    while (revision !== store.accountsRevision() && !isStopped) {
      revision = store.accountsRevision();
      for (const stream of [...open.keys()]) await check(stream);
      await Bun.sleep(MIN_CHECK_INTERVAL_MS);
    }
  }

  /** Checks all streams if accounts have changed. Call it after each commit. */
  function wake(): void {
    if (checking !== null || revision === store.accountsRevision()) return;
    if (open.size === 0) {
      revision = store.accountsRevision();
      return;
    }
    checking = checkAll().finally(() => {
      checking = null;
      // Catches a change since the last check.
      wake();
    });
  }

  return {
    /**
     * Opens a stream. Throws `AppError` `rate_limited` if the user has too many; `upstream_unavailable` at shutdown.
     */
    open: async (request: StreamRequest) => {
      const { userId, filter, lastEventId, onEvents } = request;
      requireRoom(userId);
      changeCount(userId, 1);
      try {
        const { feed, isReset } = await live.open(filter, lastEventId, onEvents);
        const stream: LiveStream = {
          feed,
          isReset,
          check: () => check(stream),
          close: () => {
            if (!open.delete(stream)) return;
            feed.close();
            changeCount(userId, -1);
          },
        };
        open.set(stream, request);
        // Access may have ended since the request was authorized.
        if (isStopped) end(stream);
        else await check(stream);
        return stream;
      } catch (error) {
        changeCount(userId, -1);
        throw error;
      }
    },
    wake,
    count: () => open.size,
    /** Ends all streams and refuses new ones. */
    stop: () => {
      isStopped = true;
      for (const stream of [...open.keys()]) end(stream);
    },
  };
}

export type LiveStreams = ReturnType<typeof createLiveStreams>;
