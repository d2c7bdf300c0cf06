/** Preloads pieces. */
import { type Delay, loadPiece, type PieceAttempt, readPiece, type Section } from "./load-piece";

type EarlyLoad = { attempt: Promise<PieceAttempt | null>; stop: AbortController; isLoaded: boolean };

export class EarlyLoads {
  private readonly loads = new Map<string, EarlyLoad>();

  constructor(private readonly onDelay: (delay: Delay | null) => void) {}

  /** Starts to load each of these pieces once. Aborts earlier preloads that are not in the list. */
  prepare(urls: readonly string[]): void {
    for (const [url, { stop }] of this.loads) {
      if (urls.includes(url)) continue;
      stop.abort();
      this.loads.delete(url);
    }
    for (const url of urls) {
      if (this.loads.has(url)) continue;
      const stop = new AbortController();
      const attempt = readPiece(url, stop.signal).catch(() => null);
      const load = { attempt, stop, isLoaded: false };
      void attempt.then((answer) => {
        load.isLoaded = answer?.kind === "loaded";
      });
      this.loads.set(url, load);
    }
  }

  /** Returns whether these pieces have been loaded. */
  has(urls: readonly string[]): boolean {
    return urls.every((url) => this.loads.get(url)?.isLoaded === true);
  }

  /** Returns the sections of a piece. Behaves like `loadPiece`. */
  async load(url: string, signal: AbortSignal): Promise<Section[]> {
    const early = this.loads.get(url);
    if (early !== undefined) {
      const answer = await Promise.race([early.attempt, whenAborted(signal)]);
      signal.throwIfAborted();
      if (answer?.kind === "loaded") return answer.sections;
    }
    return await loadPiece(url, signal, this.onDelay);
  }
}

const whenAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });
