/** Event streams in tests: the npm client `eventsource`, and single requests whose bytes are read. */
import { EventSource } from "eventsource";
import { until } from "../until";
import type { Client } from "./client";

export const LIVE_TYPES = [
  "asset.updated",
  "cut.updated",
  "draft.updated",
  "review.updated",
  "render.updated",
  "pipeline.updated",
  "project.updated",
  "credits.updated",
  "notification.created",
  "progress",
  "presence",
  "reset",
];

export type ReceivedEvent = {
  id: string;
  type: string;
  data: { entity_id?: string; state?: string | null; revision?: number; progress?: number; users?: object[] };
};

export type FollowedEvents = Disposable & {
  received: ReceivedEvent[];
  /** Lists `type state` of the events so far, without progress. */
  states(): string[];
  /** Statuses of responses that ended the stream for good. */
  refusals: (number | undefined)[];
};

type FollowOptions = { path?: string; headers?: Record<string, string> };

/** Follows a stream with the npm client, and resolves when it is open. */
export async function followEvents(
  url: string,
  { key }: Pick<Client, "key">,
  { path = "/api/v1/events", headers = {} }: FollowOptions = {},
): Promise<FollowedEvents> {
  const source = new EventSource(`${url}${path}`, {
    fetch: (input, init) =>
      fetch(input, { ...init, headers: { ...init.headers, ...headers, Authorization: `Bearer ${key}` } }),
  });
  const received: ReceivedEvent[] = [];
  const refusals: (number | undefined)[] = [];
  for (const type of LIVE_TYPES) {
    source.addEventListener(type, ({ lastEventId, data }) =>
      received.push({ id: lastEventId, type, data: JSON.parse(data) }),
    );
  }
  source.addEventListener("error", ({ code }) => {
    if (source.readyState === source.CLOSED) refusals.push(code);
  });
  await until("an open stream", () => source.readyState === source.OPEN || refusals.length > 0);
  return {
    received,
    refusals,
    states: () =>
      received
        .filter(({ type }) => type !== "progress" && type !== "presence")
        .map(({ type, data }) => `${type} ${data.state}`),
    [Symbol.dispose]: () => source.close(),
  };
}

export type OpenedStream = AsyncDisposable & {
  status: number;
  headers: Headers;
  /** Resolves with all bytes so far as text, once they contain `text`. */
  contains(text: string): Promise<string>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
};

/** Opens a stream with one request. */
export async function openStream(
  url: string,
  { key }: Pick<Client, "key">,
  { path = "/api/v1/events", headers = {} }: FollowOptions = {},
): Promise<OpenedStream> {
  const abort = new AbortController();
  const response = await fetch(`${url}${path}`, {
    headers: { ...headers, Authorization: `Bearer ${key}` },
    signal: abort.signal,
  });
  let text = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
  })().catch((error) => {
    if (!abort.signal.aborted) throw error;
  });
  return {
    status: response.status,
    headers: response.headers,
    contains: (wanted) => until(`"${wanted}" in a stream`, () => (text.includes(wanted) ? text : null)),
    ended: reading,
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      await reading;
    },
  };
}
