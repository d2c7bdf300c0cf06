/**
 * The chunks of a render while they are encoded: which wait, which run where, and which a place gets next. It starts
 * nothing itself.
 */
import { chooseChunk, chooseDuplicate, type PlaceSpeed } from "../../domain/chunk-sizes";

/** A chunk to encode. `frames` is its work, also for audio, in frames of the output. */
export type Chunk = { name: string; frames: number };

/**
 * A place with the speed of one of its slots, in frames of this output per second; null when it has not been measured.
 */
export type ChunkPlace = { id: string; slots: number; free: number; framesPerSecond: number | null };

/** One run of a chunk at a place. `share` of it is done. */
export type ChunkRun<C extends Chunk> = {
  chunk: C;
  placeId: string;
  startedMs: number;
  share: number;
  controller: AbortController;
};

/** Failures of a chunk after which the render fails. */
const MAX_FAILURES = 3;
/** Number of failures after which a place gets no more chunks of this render while other places exist. */
const MAX_PLACE_FAILURES = 3;

export function createChunkBoard<C extends Chunk>(options: {
  chunks: readonly C[];
  /** Names of the chunks that are done already. */
  done: ReadonlySet<string>;
  listPlaces(): ChunkPlace[];
  /** Speed of a place that was not measured. */
  fallbackSpeed: number;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
}) {
  const { chunks, fallbackSpeed, clock } = options;
  const done = new Set(chunks.map(({ name }) => name).filter((name) => options.done.has(name)));
  let doneFrames = sumFrames(chunks.filter(({ name }) => done.has(name)));
  const waiting = new Set(chunks.filter(({ name }) => !done.has(name)));
  const runs = new Set<ChunkRun<C>>();
  const failures = new Map<string, string[]>();
  const total = Math.max(1, sumFrames(chunks));

  const getFailures = (chunk: C) => failures.get(chunk.name) ?? [];
  const countPlaceFailures = (place: string) => [...failures.values()].flat().filter((id) => id === place).length;
  const isGood = (place: string) => countPlaceFailures(place) < MAX_PLACE_FAILURES;
  const getSpeed = (place: ChunkPlace) => place.framesPerSecond ?? fallbackSpeed;

  /** A place does not get a chunk again that failed there, while another place may take it. */
  const mayRun = (chunk: C, place: string, others: readonly ChunkPlace[]) =>
    !getFailures(chunk).includes(place) || others.every(({ id }) => getFailures(chunk).includes(id));

  /** Returns the chunk that a place should run now; null when it should run none. */
  function choose(placeId: string): C | null {
    const places = options.listPlaces();
    const good = places.filter(({ id }) => isGood(id));
    const trusted = good.length > 0 ? good : places;
    const place = trusted.find(({ id }) => id === placeId);
    if (place === undefined) return null;
    const others = trusted.filter(({ id }) => id !== placeId);
    const speed = getSpeed(place);
    const candidates = [...waiting].filter((chunk) => mayRun(chunk, placeId, others));
    if (candidates.length === 0) return waiting.size === 0 ? chooseRunning(places, place, others) : null;
    const isActive = ({ id, free }: ChunkPlace) => free > 0 || [...runs].some((run) => run.placeId === id);
    const rivals: PlaceSpeed[] = others.filter(isActive);
    if (place.slots > 1) rivals.push({ ...place, slots: place.slots - 1 });
    const elsewhere = [...runs].filter((run) => run.placeId !== placeId);
    const chosen = chooseChunk(
      candidates.map(({ frames }) => frames),
      {
        speed,
        others: rivals,
        othersRunningFrames: elsewhere.reduce((sum, run) => sum + run.chunk.frames * (1 - run.share), 0),
        fallbackSpeed,
      },
    );
    return chosen === null ? null : candidates[chosen]!;
  }

  /** Returns a running chunk that this place would end much earlier. */
  function chooseRunning(places: ChunkPlace[], place: ChunkPlace, others: ChunkPlace[]): C | null {
    const single = [...runs].filter(
      (run) =>
        run.placeId !== place.id &&
        !done.has(run.chunk.name) &&
        mayRun(run.chunk, place.id, others) &&
        ![...runs].some((other) => other !== run && other.chunk === run.chunk),
    );
    const chosen = chooseDuplicate(
      single.map((run) => {
        const at = places.find(({ id }) => id === run.placeId);
        return {
          frames: run.chunk.frames,
          speed: at === undefined ? fallbackSpeed : getSpeed(at),
          elapsedSeconds: (clock() - run.startedMs) / 1000,
          share: run.share,
        };
      }),
      getSpeed(place),
    );
    return chosen === null ? null : single[chosen]!.chunk;
  }

  /** Ends a run without a result, so that the chunk waits again. */
  const lose = (run: ChunkRun<C>) => {
    runs.delete(run);
    const runsElsewhere = [...runs].some(({ chunk }) => chunk === run.chunk);
    if (!done.has(run.chunk.name) && !runsElsewhere) waiting.add(run.chunk);
  };

  return {
    choose,
    start: (chunk: C, placeId: string): ChunkRun<C> => {
      const run = { chunk, placeId, startedMs: clock(), share: 0, controller: new AbortController() };
      waiting.delete(chunk);
      runs.add(run);
      return run;
    },
    /** Ends a run, its chunk done, and aborts the other run of the chunk. */
    complete: (run: ChunkRun<C>): void => {
      const { chunk } = run;
      runs.delete(run);
      if (done.has(chunk.name)) return;
      done.add(chunk.name);
      doneFrames += chunk.frames;
      waiting.delete(chunk);
      for (const other of runs) if (other.chunk === chunk) other.controller.abort(new Error("another place was first"));
    },
    lose,
    /** As `lose`, and counts it against the place. Returns whether the chunk has failed too often. */
    fail: (run: ChunkRun<C>): boolean => {
      failures.set(run.chunk.name, [...getFailures(run.chunk), run.placeId]);
      lose(run);
      return getFailures(run.chunk).length >= MAX_FAILURES;
    },
    isDone: ({ name }: C): boolean => done.has(name),
    isComplete: (): boolean => done.size === chunks.length,
    /** Share of the frames that are done, those of running chunks included, 0 to 1. */
    progress: (): number => {
      const best = new Map<C, number>();
      for (const { chunk, share } of runs)
        if (!done.has(chunk.name)) best.set(chunk, Math.max(best.get(chunk) ?? 0, share));
      return (doneFrames + [...best].reduce((sum, [{ frames }, share]) => sum + frames * share, 0)) / total;
    },
  };
}

const sumFrames = (chunks: readonly Chunk[]): number => chunks.reduce((sum, { frames }) => sum + frames, 0);
