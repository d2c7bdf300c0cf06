/** Places in this process, for renders that run at several of them. */
import type { EncodingFacts } from "../../../../src/domain/workers";
import type { PieceCall, SplitExecutions, SplitPlace } from "../../../../src/work/cluster/split-executions";
import type { JobOutput } from "../../../../src/work/jobs/definition";

export const ENCODING: EncodingFacts = { ffmpeg: "4.1", libavutil: 56, encoder: "libx264", hasZscale: false };

export class PlaceLost extends Error {}

export type FakePlace = {
  id: string;
  slots: number;
  pixelsPerSecond: number | null;
  isLocal: boolean;
  encoding: EncodingFacts;
};

export const fakePlace = (id: string, more: Partial<FakePlace> = {}): FakePlace => ({
  id,
  slots: 1,
  pixelsPerSecond: null,
  isLocal: false,
  encoding: ENCODING,
  ...more,
});

export type FakeExecutions = SplitExecutions & {
  /** Every call, in the order of their starts. */
  calls: { placeId: string; call: PieceCall }[];
  speeds: { placeId: string; pixelsPerSecond: number }[];
  /** Removes a place. What runs there is lost. */
  remove(placeId: string): void;
  add(place: FakePlace): void;
  /** Gives back who waits for a slot, because no place can do it any more, and returns whether anybody does. What runs continues. */
  strand(): boolean;
  /** Asks those who wait again. */
  wake(): void;
  /** How many slots are taken. */
  held(): number;
};

type Waiter = { accepts(placeId: string): boolean; grant(placeId: string): void; fail(error: Error): void };

/** `run` does the work of one execution and ends when the call's signal is aborted. */
export function createFakeExecutions(
  initial: readonly FakePlace[],
  run: (placeId: string, call: PieceCall) => Promise<unknown>,
): FakeExecutions {
  const places = new Map(initial.map((place) => [place.id, place]));
  const taken = new Map<string, number>();
  const waiting = new Set<Waiter>();
  const lost = new Map<string, AbortController>();
  const calls: FakeExecutions["calls"] = [];
  const speeds: FakeExecutions["speeds"] = [];

  const countFree = ({ id, slots }: FakePlace) => slots - (taken.get(id) ?? 0);
  const listPlaces = (): SplitPlace[] => [...places.values()].map((place) => ({ ...place, free: countFree(place) }));

  function wake(): void {
    for (const waiter of [...waiting]) {
      const place = [...places.values()].find((one) => countFree(one) > 0 && waiter.accepts(one.id));
      if (place === undefined || !waiting.delete(waiter)) continue;
      taken.set(place.id, (taken.get(place.id) ?? 0) + 1);
      waiter.grant(place.id);
    }
  }

  const acquire: SplitExecutions["acquire"] = (accepts, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const stop = () => {
        waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        accepts,
        grant: (placeId) => {
          signal.removeEventListener("abort", stop);
          let isReleased = false;
          const release = () => {
            if (isReleased) throw new Error("released twice");
            isReleased = true;
            taken.set(placeId, taken.get(placeId)! - 1);
            wake();
          };
          resolve({ placeId, release });
        },
        fail: (error) => {
          signal.removeEventListener("abort", stop);
          reject(error);
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      waiting.add(waiter);
      wake();
    });

  return {
    calls,
    speeds,
    listPlaces,
    acquire,
    run: async <Output extends JobOutput>({ placeId }: { placeId: string }, call: PieceCall): Promise<Output> => {
      calls.push({ placeId, call });
      const gone = lost.get(placeId) ?? new AbortController();
      lost.set(placeId, gone);
      if (!places.has(placeId)) throw new PlaceLost();
      const signal = AbortSignal.any([call.signal, gone.signal]);
      const ended = Promise.withResolvers<never>();
      const stop = () => ended.reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      // The input crosses the network as JSON.
      const sent = { ...call, input: JSON.parse(JSON.stringify(call.input)) as object, signal };
      return (await Promise.race([run(placeId, sent), ended.promise])) as Output;
    },
    isLost: (error) => error instanceof PlaceLost,
    recordSpeed: (placeId, pixelsPerSecond) => {
      speeds.push({ placeId, pixelsPerSecond });
      const place = places.get(placeId);
      if (place) place.pixelsPerSecond = pixelsPerSecond;
    },
    remove: (placeId) => {
      places.delete(placeId);
      lost.get(placeId)?.abort(new PlaceLost());
      lost.delete(placeId);
    },
    add: (place) => {
      places.set(place.id, place);
      wake();
    },
    strand: () => {
      const stranded = [...waiting];
      waiting.clear();
      for (const waiter of stranded) waiter.fail(new PlaceLost());
      return stranded.length > 0;
    },
    wake,
    held: () => [...taken.values()].reduce((sum, count) => sum + count, 0),
  };
}
