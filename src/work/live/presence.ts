/**
 * Keeps in memory which users have a cut open. Pages report it at intervals; a user whose page stops reporting is
 * removed after 30 seconds. Changes go to the event streams of the workspace and are not stored.
 */
import type { LiveEvents } from "./events";
import type { PresentUser } from "./feed";

/** Time after the last call of a page until its user counts as gone. */
const PRESENT_MS = 30_000;
/** Maximum number of cuts that a user has open; the one that was reported longest ago is dropped. */
const MAX_CUTS_PER_USER = 20;

type OpenCut = { workspaceId: string; cutId: string };
type PresenceEntry = OpenCut & { user: PresentUser; until: number };

export function createPresence(options: {
  live: Pick<LiveEvents, "publishPresence">;
  /** Returns milliseconds that never go back. */
  clock?: () => number;
  presentMs?: number;
}) {
  const { live, clock = () => performance.now(), presentMs = PRESENT_MS } = options;
  /** Entries by cut and user, least recently reported first. */
  const entries = new Map<string, PresenceEntry>();
  let timer: Timer | undefined;
  const toKey = ({ cutId }: OpenCut, userId: string) => `${cutId} ${userId}`;

  const listUsers = (cutId: string): PresentUser[] =>
    [...entries.values()].filter((entry) => entry.cutId === cutId).map(({ user }) => user);

  function publish({ workspaceId, cutId }: OpenCut): void {
    live.publishPresence(workspaceId, { entity_id: cutId, users: listUsers(cutId) });
  }

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entries.delete(key)) publish(entry!);
  }

  /** Removes the entries that have expired, and waits for the next one. */
  function expire(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [key, { until }] of entries) {
      if (until > clock()) break;
      remove(key);
    }
    const [next] = entries.values();
    if (next) timer = setTimeout(expire, next.until - clock() + 1);
  }

  return {
    /** Records that a user has a cut open, and returns everybody who has. */
    enter: (cut: OpenCut, user: PresentUser): PresentUser[] => {
      const key = toKey(cut, user.id);
      const known = entries.get(key);
      // Sorted by time: the entry moves to the end.
      entries.delete(key);
      entries.set(key, { ...cut, user, until: clock() + presentMs });
      if (known?.user.name !== user.name) publish(cut);
      const own = [...entries].filter(([, entry]) => entry.user.id === user.id).map(([one]) => one);
      for (const oldest of own.slice(0, -MAX_CUTS_PER_USER)) remove(oldest);
      if (timer === undefined) expire();
      return listUsers(cut.cutId);
    },
    leave: (cut: OpenCut, userId: string): void => remove(toKey(cut, userId)),
    stop: () => clearTimeout(timer),
  };
}

export type Presence = ReturnType<typeof createPresence>;
