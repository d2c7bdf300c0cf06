/**
 * The confirmed time: a past time that the clock has stayed past for almost an hour in which the server ran, also
 * across restarts. Everything that is deleted for good by its age uses it, because the clock may jump ahead, also
 * before a start, until it is corrected.
 */
import { type ClockReading, listClockReadings, replaceClockReadings } from "../store/clock-readings";
import type { CoreNeeds } from "./needs";

const CONFIRM_MS = 50 * 60_000;
export const CLOCK_INTERVAL_MS = 10 * 60_000;
/** Running time between two stored readings, so that a server that restarts again and again stores a few only. */
const MIN_DISTANCE_MS = CLOCK_INTERVAL_MS / 2;

/** Opens the confirmed time. `clock`: milliseconds on a monotonic clock. */
export async function openConfirmedTime({ store, now }: Pick<CoreNeeds, "store" | "now">, clock = getUptime) {
  let readings = await listClockReadings(store.read);
  let readAt = clock();
  return {
    /** Returns the confirmed time in milliseconds since 1970; 0 before the first one. */
    get: (): number => findConfirmed(readings.filter(({ time }) => time <= now())),
    /**
     * Reads the clock, every `CLOCK_INTERVAL_MS` and at a stop. Not at a start, when a clock that is behind would void
     * all readings before it is set.
     */
    readClock: async (): Promise<void> => {
      const at = clock();
      // The clock was not watched during a longer time, for example while the process was stopped.
      const elapsed = Math.min(Math.round(at - readAt), CLOCK_INTERVAL_MS);
      readings = addReading(readings, now(), elapsed);
      readAt = at;
      await store.write((tx) => replaceClockReadings(tx, readings));
    },
  };
}

export type ConfirmedTime = Awaited<ReturnType<typeof openConfirmedTime>>;

const getUptime = (): number => performance.now();

const findConfirmed = (readings: readonly ClockReading[]): number =>
  Math.max(0, ...readings.filter(({ running_ms }) => running_ms >= CONFIRM_MS).map(({ time }) => time));

/** Returns the readings that are needed after one at `now`. A reading that the clock is not past has been wrong. */
function addReading(readings: readonly ClockReading[], now: number, elapsedMs: number): ClockReading[] {
  const past = readings
    .filter(({ time }) => time < now)
    .map(({ time, running_ms }) => ({ time, running_ms: running_ms + elapsedMs }));
  const confirmed = findConfirmed(past);
  const needed = past.filter(({ time }) => time >= confirmed);
  const isDistant = (needed.at(-1)?.running_ms ?? MIN_DISTANCE_MS) >= MIN_DISTANCE_MS;
  return isDistant ? [...needed, { time: now, running_ms: 0 }] : needed;
}
