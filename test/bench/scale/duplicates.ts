/**
 * Measures the time that second runs of the last chunks save: `bun test/bench/scale/duplicates.ts`. Three places encode
 * a render on a simulated clock, with the rules of real ones (`media/chunks/board.ts`), with and without second runs.
 * One of the places is slow, or becomes so at some time of the render.
 */
import { chooseChunkSizes, updateSpeed } from "../../../src/domain/chunk-sizes";
import { type Chunk, type ChunkRun, createChunkBoard } from "../../../src/media/chunks/board";

const FRAME_RATE = 30;
const PLACES = 3;
/** Frames per second of a place, and the time that a chunk costs besides its encoding. */
const SPEED = 50;
const OVERHEAD_SECONDS = 0.5;
const STEP_SECONDS = 0.1;
const ONSETS = 20;

type Place = { id: string; speedAt(seconds: number): number };
type Running = { run: ChunkRun<Chunk>; framesLeft: number; overhead: number };

/** Returns the seconds until the render is complete. */
function simulate(frames: number, places: Place[], withDuplicates: boolean): number {
  let now = 0;
  const speeds = new Map<string, number | null>(places.map((place) => [place.id, place.speedAt(0)]));
  const listPlaces = () =>
    places.map(({ id }) => ({ id, slots: 1, free: busy.has(id) ? 0 : 1, framesPerSecond: speeds.get(id) ?? null }));
  const busy = new Map<string, Running>();
  const sizes = chooseChunkSizes(frames, listPlaces(), SPEED);
  const chunks = sizes.map((size, n) => ({ name: `chunk ${n}`, frames: size }));
  const started = new Set<Chunk>();
  const clock = () => now * 1000;
  const board = createChunkBoard({ chunks, done: new Set(), listPlaces, fallbackSpeed: SPEED, clock });
  while (!board.isComplete()) {
    for (const { id } of places) {
      const chunk = busy.has(id) ? null : board.choose(id);
      if (chunk === null || (!withDuplicates && started.has(chunk))) continue;
      started.add(chunk);
      busy.set(id, { run: board.start(chunk, id), framesLeft: chunk.frames, overhead: OVERHEAD_SECONDS });
    }
    now += STEP_SECONDS;
    for (const { id, speedAt } of places) {
      const one = busy.get(id);
      if (one === undefined) continue;
      const { run } = one;
      if (run.controller.signal.aborted) board.lose(run);
      else if (one.overhead > 0) {
        one.overhead -= STEP_SECONDS;
        continue;
      } else {
        one.framesLeft -= speedAt(now) * STEP_SECONDS;
        run.share = 1 - Math.max(0, one.framesLeft) / run.chunk.frames;
        if (one.framesLeft > 0) continue;
        board.complete(run);
        speeds.set(id, updateSpeed(speeds.get(id) ?? null, run.chunk.frames / (now - run.startedMs / 1000)));
      }
      busy.delete(id);
    }
  }
  return now;
}

for (const minutes of [1, 5, 20])
  for (const factor of [2, 4, 10]) {
    const frames = minutes * 60 * FRAME_RATE;
    const seconds = frames / (PLACES * SPEED);
    const savings = Array.from({ length: ONSETS }, (_, n) => {
      const slowFrom = (seconds * n) / ONSETS;
      const slow: Place = { id: "slow", speedAt: (at) => (at >= slowFrom ? SPEED / factor : SPEED) };
      const places: Place[] = [{ id: "a", speedAt: () => SPEED }, { id: "b", speedAt: () => SPEED }, slow];
      return { without: simulate(frames, places, false), with: simulate(frames, places, true) };
    });
    const sum = (of: "with" | "without") => savings.reduce((total, one) => total + one[of], 0);
    const saved = savings.map((one) => 1 - one.with / one.without);
    console.log(
      `${minutes} min, one of three places ${factor} times slower: slow from the start ${format(saved[0]!)}, from any time ${format(1 - sum("with") / sum("without"))} saved, at most ${format(Math.max(...saved))}`,
    );
  }

function format(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
