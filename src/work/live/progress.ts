/** Limits how often progress is published: at most twice a second for each entity, and always the latest. */

type ProgressThrottle<Subject> = {
  publish(entityId: string, subject: Subject, share: number): void;
  /** Drops unsent progress: the entity has changed its state. */
  forget(entityId: string): void;
  stop(): void;
};

const MIN_INTERVAL_MS = 500;

type WaitingProgress<Subject> = { timer: Timer; latest: { subject: Subject; share: number } | null };

/** Creates a throttle. `send` is called at once if the entity was quiet, else at the end of the interval. */
export function createProgressThrottle<Subject>(
  send: (subject: Subject, share: number) => void,
): ProgressThrottle<Subject> {
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
    publish: (entityId, subject, share) => {
      const entry = recent.get(entityId);
      if (entry) entry.latest = { subject, share };
      else sendNow(entityId, subject, share);
    },
    forget: (entityId) => {
      const entry = recent.get(entityId);
      if (entry) entry.latest = null;
    },
    stop: () => {
      for (const { timer } of recent.values()) clearTimeout(timer);
      recent.clear();
    },
  };
}
