/**
 * A process of event stream clients: a test runner opens at most 256 connections. It obeys the messages of
 * `followers.ts`, and reports the events that its streams have received.
 */
import { EventSource } from "eventsource";
import { LIVE_TYPES } from "../http/event-source";

export type FollowerOrder =
  | { kind: "follow"; url: string; keys: string[]; streamsPerKey: number }
  | { kind: "idle"; url: string; keys: string[]; streamsPerKey: number }
  /** The server has been started again, at another address. */
  | { kind: "moved"; url: string }
  | { kind: "report" };

/** `ids`: of the events that each stream has received, `NaN` for a reset. Streams are in the order of their keys. */
export type FollowerReport = { streams: { ids: number[]; connections: number }[] };

type Stream = { ids: number[]; connections: number };

const streams: Stream[] = [];
let serverUrl = "";

/** Follows the events of a key with the npm client, at whatever address the server is. */
function follow(key: string): void {
  const stream: Stream = { ids: [], connections: 0 };
  const source = new EventSource("http://offcut/api/v1/events", {
    fetch: (_, init) =>
      fetch(`${serverUrl}/api/v1/events`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } }),
  });
  source.addEventListener("open", () => stream.connections++);
  for (const type of LIVE_TYPES) {
    source.addEventListener(type, ({ lastEventId }) => stream.ids.push(type === "reset" ? NaN : Number(lastEventId)));
  }
  streams.push(stream);
}

/** Opens a stream and reads its first block only. */
async function openIdle(key: string): Promise<void> {
  const stream: Stream = { ids: [], connections: 0 };
  streams.push(stream);
  const response = await fetch(`${serverUrl}/api/v1/events`, { headers: { Authorization: `Bearer ${key}` } });
  await response.body!.getReader().read();
  stream.connections++;
}

process.on("message", (order: FollowerOrder) => {
  if (order.kind === "report") {
    process.send!({ streams } satisfies FollowerReport);
    return;
  }
  serverUrl = order.url;
  if (order.kind === "moved") return;
  const open = order.kind === "follow" ? follow : openIdle;
  for (const key of order.keys) for (let n = 0; n < order.streamsPerKey; n++) void open(key);
});
