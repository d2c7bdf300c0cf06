/** The built-in recognizer: one in this thread, and a second one in another thread. */
import { type AudioTask, type Decode, loadRecognizer, type OnStep, type ScoredAudio } from "./recognizer";
import type { SecondRecognizer } from "./second-recognizer";

/**
 * Loads the recognizer. A second one starts in another thread with the first task, so that it does not load while
 * others wait for a core. Without it, everything runs in this thread.
 */
export async function loadMoonshine(folder: string, startSecond: () => SecondRecognizer | null = () => null) {
  const first = await loadRecognizer(folder);
  let started: { second: SecondRecognizer | null } | null = null;
  const openSecond = (): SecondRecognizer | null => {
    started ??= { second: startSecond() };
    return started.second;
  };
  return {
    encode: first.encode,
    decode: first.decode,
    /** Reads and processes all tasks. Yields each when it is ready, in any order. */
    async *scoreAll(
      count: number,
      read: (index: number) => Promise<AudioTask>,
      onStep?: OnStep,
    ): AsyncGenerator<ScoredAudio & { index: number }> {
      const second = count > 1 ? openSecond() : null;
      if (second !== null) return yield* second.share(count, read, first, onStep);
      for (let index = 0; index < count; index++) yield { index, ...(await first.score(await read(index), onStep)) };
    },
    /** Returns the decoder of each thread, starting with this one. They take the memory of their rows. */
    listDecoders(): Decode[] {
      const second = openSecond();
      return second === null ? [first.decode] : [first.decode, second.decode];
    },
    /** Starts the second recognizer, unless it has been started. Returns its encoder, or null. */
    startSecond: () => openSecond()?.encode ?? null,
  };
}

export type Moonshine = Awaited<ReturnType<typeof loadMoonshine>>;
