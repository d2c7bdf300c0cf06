/** Places in this process, for renders that run at several of them. */
import { ExecutionLost, type Slot } from "../../../../src/domain/jobs";
import type { EncodingFacts } from "../../../../src/domain/worker-messages";
import type { PieceCall, SplitExecutions, SplitPlace } from "../../../../src/work/cluster/encode-pieces";
import type { JobOutput } from "../../../../src/work/jobs/definition";

export const ENCODING: EncodingFacts = { ffmpeg: "4.1", libavutil: 56, encoder: "libx264", hasZscale: false };

export class PlaceLost extends ExecutionLost {
  constructor() {
    super("the place is gone", true);
  }
}

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
  /** Removes a place. Its executions are lost. */
  remove(placeId: string): void;
  add(place: FakePlace): void;
  /** Makes a place accept no more executions. Running ones continue. */
  drain(placeId: string): void;
  /** Asks those who wait again. */
  wake(): void;
  /** Returns the number of taken slots. */
  held(): number;
};

type Waiter = { wants(placeId: string): boolean; grant(slot: Slot): void };

/** `run` does the work of one execution and ends when the call's signal is aborted. */
export function createFakeExecutions(
  initial: readonly FakePlace[],
  run: (placeId: string, call: PieceCall) => Promise<unknown>,
): FakeExecutions {
  const places = new Map(initial.map((place) => [place.id, place]));
  const taken = new Map<string, number>();
  const waiting = new Set<Waiter>();
  const drained = new Set<string>();
  const lost = new Map<string, AbortController>();
  const calls: FakeExecutions["calls"] = [];
  const speeds: FakeExecutions["speeds"] = [];

  const countFree = ({ id, slots }: FakePlace) => slots - (taken.get(id) ?? 0);
  const listPlaces = (): SplitPlace[] =>
    [...places.values()].filter(({ id }) => !drained.has(id)).map((place) => ({ ...place, free: countFree(place) }));

  function take(placeId: string): Slot {
    taken.set(placeId, (taken.get(placeId) ?? 0) + 1);
    let isReleased = false;
    return {
      placeId,
      release: () => {
        if (isReleased) throw new Error("released twice");
        isReleased = true;
        taken.set(placeId, taken.get(placeId)! - 1);
        queueMicrotask(wake);
      },
    };
  }

  function wake(): void {
    for (;;) {
      const found = [...waiting].flatMap((waiter) => {
        const place = listPlaces().find((one) => one.free > 0 && waiter.wants(one.id));
        return place === undefined ? [] : [{ waiter, place }];
      })[0];
      if (found === undefined) return;
      found.waiter.grant(take(found.place.id));
    }
  }

  return {
    calls,
    speeds,
    listPlaces,
    request: (wants, grant) => {
      const waiter = { wants, grant };
      waiting.add(waiter);
      // As the runner does, later.
      queueMicrotask(wake);
      return { wake: () => queueMicrotask(wake), close: () => void waiting.delete(waiter) };
    },
    run: async <Output extends JobOutput>(placeId: string, call: PieceCall): Promise<Output> => {
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
    drain: (placeId) => {
      drained.add(placeId);
    },
    wake,
    held: () => [...taken.values()].reduce((sum, count) => sum + count, 0),
  };
}
