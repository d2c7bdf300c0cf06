/**
 * Elects the tab of a browser that opens the event stream. The leader writes a heartbeat to local storage; when it is
 * stale, another tab takes over. `navigator.locks` does not exist over plain HTTP.
 */
import { forget, recall, remember } from "./memory";

type Heartbeat = { tab: string; at: number };

const BEAT_MS = 1_000;
const STALE_MS = 2_500;
/** Timers of hidden tabs run once a minute. */
const HIDDEN_STALE_MS = 75_000;
/** Long enough for two tabs to see each other's claim. */
const CLAIM_MS = 60;
/** A gap in the heartbeats after which the machine was asleep and the connection is probably dead. */
const SLEEP_MS = 20_000;

export type LeaderOptions = {
  /** The name of the stream. */
  key: string;
  onLead(): void;
  onFollow(): void;
};

/** Takes part in the election. Returns a function that resigns. */
export function joinElection({ key, onLead, onFollow }: LeaderOptions): () => void {
  const storageKey = `live.${key}`;
  const tab = String(Math.random()).slice(2);
  let isLeading = false;
  let beatAt = Date.now();
  let claim: ReturnType<typeof setTimeout> | undefined;

  const read = (): Heartbeat | null => {
    try {
      return JSON.parse(recall(storageKey) ?? "null") as Heartbeat | null;
    } catch {
      return null;
    }
  };
  const write = () => remember(storageKey, JSON.stringify({ tab, at: Date.now() }));

  function step(): void {
    const now = Date.now();
    const current = read();
    // Without storage, each tab is its own leader.
    const isOther = current !== null && current.tab !== tab;
    const staleMs = document.hidden ? HIDDEN_STALE_MS : STALE_MS;
    const isStale = !isOther || Math.abs(now - current.at) > staleMs;
    if (isLeading && isOther && !isStale) follow();
    else if (isLeading) beat(now);
    else if (isStale && claim === undefined) {
      write();
      claim = setTimeout(lead, CLAIM_MS * (1 + Math.random()));
    }
  }

  function beat(now: number): void {
    if (now - beatAt > SLEEP_MS) onLead();
    beatAt = now;
    write();
  }

  function lead(): void {
    claim = undefined;
    const current = read();
    if (current !== null && current.tab !== tab) return;
    isLeading = true;
    beatAt = Date.now();
    write();
    onLead();
  }

  function follow(): void {
    isLeading = false;
    onFollow();
  }

  function resign(): void {
    clearTimeout(claim);
    claim = undefined;
    if (!isLeading) return;
    follow();
    if (read()?.tab === tab) forget(storageKey);
  }

  const onStorage = (event: StorageEvent) => {
    if (event.key === null || event.key.endsWith(storageKey)) step();
  };
  const timer = setInterval(step, BEAT_MS);
  const listeners: [EventTarget, string, (event: never) => void][] = [
    [window, "storage", onStorage],
    [window, "pagehide", resign],
    [window, "pageshow", step],
    [document, "freeze", resign],
    [document, "resume", step],
    [document, "visibilitychange", step],
  ];
  for (const [target, type, run] of listeners) target.addEventListener(type, run as EventListener);
  step();
  return () => {
    clearInterval(timer);
    for (const [target, type, run] of listeners) target.removeEventListener(type, run as EventListener);
    resign();
  };
}
