/** The pieces of a split render while they are encoded: which wait, which run where, and which a place gets next. It starts nothing itself. */
import { chooseChunk, chooseDuplicate, type PlaceSpeed } from "../../domain/chunk-sizes";

/** A piece to encode. `frames` is its work, also for audio, in frames of the output. */
export type BoardPiece = { name: string; frames: number };

/** A place with the speed of one of its slots, in frames of this output per second. */
export type BoardPlace = { id: string; slots: number; free: number; framesPerSecond: number | null };

/** One run of a piece at a place. `share` of it is done. */
export type PieceRun = {
  piece: BoardPiece;
  place: string;
  startedMs: number;
  share: number;
  controller: AbortController;
};

/** Number of failures of a piece after which the render fails. */
const MAX_FAILURES = 3;
/** Number of failures after which a place gets no more pieces of this render, if there are other places. */
const MAX_PLACE_FAILURES = 3;

export type ChunkBoard = {
  /** Returns the piece that a place should run now; null when it should run none. */
  choose(placeId: string): BoardPiece | null;
  start(piece: BoardPiece, place: string): PieceRun;
  /** Ends a run, its piece done, and aborts the other run of the piece. Returns false when the piece was done before. */
  complete(run: PieceRun): boolean;
  /** Ends a run without a result, so that its piece waits again. */
  lose(run: PieceRun): void;
  /** As `lose`, and counts it against the place. Returns whether the piece has failed too often. */
  fail(run: PieceRun): boolean;
  isDone(piece: BoardPiece): boolean;
  waiting(): number;
  running(): PieceRun[];
  isComplete(): boolean;
  /** Share of the frames that are done, those of running pieces included, 0 to 1. */
  progress(): number;
};

export function createChunkBoard(options: {
  pieces: readonly BoardPiece[];
  /** Names of the pieces that are done already. */
  done: ReadonlySet<string>;
  listPlaces(): BoardPlace[];
  fallbackSpeed: number;
  /** Milliseconds on a monotonic clock. */
  clock(): number;
}): ChunkBoard {
  const { pieces, fallbackSpeed, clock } = options;
  const done = new Set(pieces.map(({ name }) => name).filter((name) => options.done.has(name)));
  const waiting = new Set(pieces.filter(({ name }) => !done.has(name)));
  const runs = new Set<PieceRun>();
  const failures = new Map<string, string[]>();
  const total = Math.max(1, sumFrames(pieces));

  const getFailures = (piece: BoardPiece) => failures.get(piece.name) ?? [];
  const countPlaceFailures = (place: string) => [...failures.values()].flat().filter((id) => id === place).length;
  const isGood = (place: string) => countPlaceFailures(place) < MAX_PLACE_FAILURES;
  const getSpeed = (place: BoardPlace) => place.framesPerSecond ?? fallbackSpeed;
  const remove = (run: PieceRun) => runs.delete(run);

  /** A place does not get a piece again that failed there, while another place may take it. */
  const mayRun = (piece: BoardPiece, place: string, others: readonly BoardPlace[]) =>
    !getFailures(piece).includes(place) || others.every(({ id }) => getFailures(piece).includes(id));

  function choose(placeId: string): BoardPiece | null {
    const places = options.listPlaces();
    const good = places.filter(({ id }) => isGood(id));
    const trusted = good.length > 0 ? good : places;
    const place = trusted.find(({ id }) => id === placeId);
    if (place === undefined) return null;
    const others = trusted.filter(({ id }) => id !== placeId);
    const speed = getSpeed(place);
    const candidates = [...waiting].filter((piece) => mayRun(piece, placeId, others));
    if (candidates.length === 0) return waiting.size === 0 ? chooseRunning(places, place, others) : null;
    const isActive = ({ id, free }: BoardPlace) => free > 0 || [...runs].some((run) => run.place === id);
    const rivals: PlaceSpeed[] = others.filter(isActive);
    if (place.slots > 1) rivals.push({ ...place, slots: place.slots - 1 });
    const elsewhere = [...runs].filter((run) => run.place !== placeId);
    const chosen = chooseChunk(
      candidates.map(({ frames }) => frames),
      {
        speed,
        others: rivals,
        othersRunningFrames: elsewhere.reduce((sum, run) => sum + run.piece.frames * (1 - run.share), 0),
        fallbackSpeed,
      },
    );
    return chosen === null ? null : candidates[chosen]!;
  }

  /** Returns a running piece that this place would end much earlier. */
  function chooseRunning(places: BoardPlace[], place: BoardPlace, others: BoardPlace[]): BoardPiece | null {
    const single = [...runs].filter(
      (run) =>
        run.place !== place.id &&
        mayRun(run.piece, place.id, others) &&
        ![...runs].some((other) => other !== run && other.piece === run.piece),
    );
    const chosen = chooseDuplicate(
      single.map((run) => {
        const at = places.find(({ id }) => id === run.place);
        return {
          frames: run.piece.frames,
          speed: at === undefined ? fallbackSpeed : getSpeed(at),
          elapsedSeconds: (clock() - run.startedMs) / 1000,
          share: run.share,
        };
      }),
      getSpeed(place),
    );
    return chosen === null ? null : single[chosen]!.piece;
  }

  const lose = (run: PieceRun) => {
    remove(run);
    const runsElsewhere = [...runs].some(({ piece }) => piece === run.piece);
    if (!done.has(run.piece.name) && !runsElsewhere) waiting.add(run.piece);
  };

  return {
    choose,
    start: (piece, place) => {
      const run = { piece, place, startedMs: clock(), share: 0, controller: new AbortController() };
      waiting.delete(piece);
      runs.add(run);
      return run;
    },
    complete: (run) => {
      remove(run);
      if (done.has(run.piece.name)) return false;
      done.add(run.piece.name);
      waiting.delete(run.piece);
      for (const other of runs)
        if (other.piece === run.piece) other.controller.abort(new Error("another place was first"));
      return true;
    },
    lose,
    fail: (run) => {
      failures.set(run.piece.name, [...getFailures(run.piece), run.place]);
      lose(run);
      return getFailures(run.piece).length >= MAX_FAILURES;
    },
    isDone: ({ name }) => done.has(name),
    waiting: () => waiting.size,
    running: () => [...runs],
    isComplete: () => done.size === pieces.length,
    progress: () => {
      const finished = sumFrames(pieces.filter(({ name }) => done.has(name)));
      const best = new Map<BoardPiece, number>();
      for (const { piece, share } of runs)
        if (!done.has(piece.name)) best.set(piece, Math.max(best.get(piece) ?? 0, share));
      const partial = [...best].reduce((sum, [piece, share]) => sum + piece.frames * share, 0);
      return (finished + partial) / total;
    },
  };
}

const sumFrames = (pieces: readonly BoardPiece[]): number => pieces.reduce((sum, { frames }) => sum + frames, 0);
