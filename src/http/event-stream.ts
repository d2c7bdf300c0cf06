/** Replies that are streams of server-sent events (WHATWG HTML, section 9.2). */

import { AppError } from "../domain/errors";
import type { LiveEventType } from "../domain/live-events";
import type { LiveEvent, LiveEventFilter } from "../store/live-events";
import type { LivePresence, LiveProgress } from "../work/live/feed";
import type { LiveStream } from "../work/live/streams";
import type { Call, Reply } from "./call";

export const EVENT_STREAM_TYPE = "text/event-stream";

const HEADERS = {
  "Content-Type": EVENT_STREAM_TYPE,
  "Cache-Control": "no-store",
  // Otherwise nginx collects events before it passes them on.
  "X-Accel-Buffering": "no",
};

/** Time after which a client reconnects. */
const RETRY_MS = 1_000;
const COMMENT_INTERVAL_MS = 15_000;
/** Maximum number of consecutive comments that a client has not read before the stream ends. */
const MAX_UNREAD_COMMENTS = 8;

const encoder = new TextEncoder();

/** The formatted text of an event, shared by all its readers. */
const formatted = new WeakMap<LiveEvent, string>();

function formatEvent(event: LiveEvent): string {
  const known = formatted.get(event);
  if (known !== undefined) return known;
  const { entity_id, state, revision } = event;
  const data = JSON.stringify({ entity_id, state, ...(revision !== null && { revision }) });
  const text = `id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`;
  formatted.set(event, text);
  return text;
}

/** Without an ID: progress and presence are not stored. */
const formatNews = (
  type: Extract<LiveEventType, "progress" | "presence">,
  news: LiveProgress | (LivePresence & { state: null }),
): string => `event: ${type}\ndata: ${JSON.stringify(news)}\n\n`;

const formatReset = (position: number): string => `id: ${position}\nevent: reset\ndata: {}\n\n`;

/** A block without data: the client only stores the ID, from which it resumes. */
const formatPosition = (position: number): string => `id: ${position}\n\n`;

/**
 * Returns a reply that streams the matching events from `lastEventId` on, until the client leaves, the caller loses
 * access, or the caller's role in the workspace or on the server changes. Throws `AppError` as `LiveStreams.open`.
 */
export async function eventStream(
  call: Call,
  filter: LiveEventFilter,
  lastEventId: string | null,
  commentIntervalMs = COMMENT_INTERVAL_MS,
): Promise<Reply> {
  const { services, request, log, principal } = call;
  // The server also answers HEAD requests of GET routes, and would read the stream to its end.
  if (request.method === "HEAD") return { status: 200, text: "", headers: HEADERS };
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let isEnded = false;
  let isPumping = false;
  let isRequested = false;
  let unreadComments = 0;
  let timer: Timer | undefined;
  const stream: LiveStream = await services.liveStreams.open({
    userId: principal.user.id,
    filter,
    lastEventId,
    reauthorize: async () => {
      const { user, workspace } = await call.reauthorize({ isUse: false });
      // The end of the stream informs a page that the user's permissions have changed.
      if (workspace.role !== principal.workspace.role || user.is_admin !== principal.user.is_admin)
        throw new AppError("forbidden", "The role has changed.");
    },
    onEvents: () => void pump(),
    onEnd: end,
  });

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    clearInterval(timer);
    request.signal.removeEventListener("abort", leave);
    try {
      controller?.close();
    } catch {
      // The client has closed it.
    }
  }

  /** The client has disconnected. A generator that waits for the next event would not be notified. */
  function leave(): void {
    end();
    stream.close();
  }

  const isReady = (): boolean => controller !== null && !isEnded && (controller.desiredSize ?? 0) > 0;

  function send(text: string): void {
    controller?.enqueue(encoder.encode(text));
  }

  /** Sends pending events while the client reads. Only one call runs at a time. */
  async function pump(): Promise<void> {
    isRequested = true;
    if (isPumping) return;
    isPumping = true;
    try {
      while (isRequested && isReady()) {
        isRequested = false;
        const { events, progress, presence } = await stream.feed.take();
        if (isEnded) return;
        const texts = [
          ...events.map(formatEvent),
          ...progress.map((one) => formatNews("progress", one)),
          ...presence.map((one) => formatNews("presence", { ...one, state: null })),
        ];
        if (texts.length === 0) continue;
        send(texts.join(""));
        isRequested = true;
      }
    } catch (error) {
      log.error("event_stream.failed", { error });
      leave();
    } finally {
      isPumping = false;
    }
  }

  function comment(): void {
    void stream.check();
    if (isReady()) {
      unreadComments = 0;
      // Includes the position, so that a client of a quiet workspace does not resume from a deleted event.
      send(`:\n${formatPosition(stream.feed.position())}`);
    } else if (++unreadComments > MAX_UNREAD_COMMENTS) leave();
  }

  const body = new ReadableStream<Uint8Array>({
    start: (opened) => {
      controller = opened;
      if (isEnded || request.signal.aborted) {
        leave();
        opened.close();
        return;
      }
      request.signal.addEventListener("abort", leave);
      timer = setInterval(comment, commentIntervalMs);
      const position = stream.feed.position();
      send(`retry: ${RETRY_MS}\n\n${stream.isReset ? formatReset(position) : formatPosition(position)}`);
    },
    pull: () => void pump(),
    cancel: leave,
  });
  return { status: 200, stream: body, headers: HEADERS };
}
