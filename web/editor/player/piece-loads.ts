/**
 * Requests for pieces of a cut: pieces that play next, the first data after a jump, and pieces that a likely edit would
 * play.
 */
import { toSeconds } from "../model/plan";
import type { CleanMode, EngineReport, PlayableMedia, Variant } from "./engine";
import { type Delay, loadPiece, type PieceAttempt, readPiece, type Section } from "./load-piece";
import { listTracks, type OpenedSource } from "./media-source";
import { findPieceIndex, type Landing, type Piece } from "./timeline";
import type { Track } from "./track-buffer";

/** The sections of each track, in order. */
export type LoadedPiece = Section[][];

/**
 * Maximum number of pieces that are loaded at the same time. Each needs two requests, and browsers allow six per
 * server.
 */
const PARALLEL_LOADS = 2;

export class PieceLoads {
  private readonly early: EarlyLoads;
  private readonly loads = new Map<Piece, Promise<LoadedPiece>>();
  /** Noise reduction of audio that is requested from now on. */
  clean: CleanMode | null = null;

  constructor(
    private readonly media: PlayableMedia,
    private readonly variants: Readonly<Record<Track, Variant>>,
    onDelay: EngineReport["onDelay"],
  ) {
    this.early = new EarlyLoads(onDelay);
  }

  /** Preloads whole pieces. Aborts earlier preloads of other pieces. */
  prepare(pieces: readonly Piece[]): void {
    this.early.prepare(pieces.flatMap((piece) => this.listUrls(piece)));
  }

  /** Preloads the first data for a jump to a cut time: `landing`, or the whole piece if it is null. */
  prepareJump(pieces: readonly Piece[], cutTime: number, landing: Landing | null): void {
    const index = findPieceIndex(pieces, cutTime);
    if (landing === null) this.prepare(pieces.slice(index, index + 1));
    else this.early.prepare(this.listLandingUrls(landing));
  }

  /** Returns whether the whole piece has been preloaded. */
  has(piece: Piece): boolean {
    return this.early.has(this.listUrls(piece));
  }

  /** Returns whether the piece was requested and not deleted since. */
  isLoading(piece: Piece): boolean {
    return this.loads.has(piece);
  }

  /**
   * Returns the sections of `pieces[index]`, and starts to load the pieces after it. Throws the same errors as
   * `loadPiece`.
   */
  load(pieces: readonly Piece[], index: number, signal: AbortSignal): Promise<LoadedPiece> {
    for (const piece of pieces.slice(index, index + PARALLEL_LOADS)) {
      if (this.loads.has(piece)) continue;
      const loading = this.loadAll(this.listUrls(piece), signal);
      loading.catch(() => {});
      this.loads.set(piece, loading);
    }
    return this.loads.get(pieces[index]!)!;
  }

  /** Returns the audio of a piece. Throws the same errors as `loadPiece`. */
  loadAudio({ start, end }: Piece, signal: AbortSignal): Promise<Section[]> {
    return this.early.load(this.getUrl("audio", start, end), signal);
  }

  /** Returns the sections of a landing. Throws the same errors as `loadPiece`. */
  loadLanding(landing: Landing, signal: AbortSignal): Promise<LoadedPiece> {
    return this.loadAll(this.listLandingUrls(landing), signal);
  }

  /** Deletes a piece that is in the buffers. */
  delete(piece: Piece): void {
    this.loads.delete(piece);
  }

  /** Deletes all requested pieces, after their requests have been aborted. */
  clear(): void {
    this.loads.clear();
  }

  /** Aborts all preloads. */
  dispose(): void {
    this.early.prepare([]);
  }

  private loadAll(urls: readonly string[], signal: AbortSignal): Promise<LoadedPiece> {
    return Promise.all(urls.map((url) => this.early.load(url, signal)));
  }

  /** Returns the addresses of a piece, in track order. */
  private listUrls({ start, end }: Piece): string[] {
    return listTracks(this.media).map((track) => this.getUrl(track, start, end));
  }

  private listLandingUrls(landing: Landing): string[] {
    return listTracks(this.media).map((track) => {
      const { start, end } = landing[track];
      return this.getUrl(track, start, end, toSeconds(landing.place));
    });
  }

  private getUrl(track: Track, start: number, end: number, seek?: number): string {
    const clean = track === "audio" ? this.clean : null;
    return this.media.pieceUrl(track, this.variants[track], toSeconds(start), toSeconds(end), {
      ...(seek !== undefined && { seek }),
      ...(clean !== null && { clean }),
    });
  }
}

/**
 * Throws if the browser has dropped the frames of a source without an error, as it does after a keyframe that it does
 * not accept as one. Without this, playback would wait for the frames forever.
 */
export function requireVideo({ tracks }: OpenedSource, piece: Piece, loaded: LoadedPiece): void {
  const index = tracks.findIndex(({ track }) => track === "video");
  if (index < 0 || loaded[index]?.length === 0 || tracks[index]!.hasEnd(piece)) return;
  throw new Error("This browser cannot play the recording before its preview is ready.");
}

type EarlyLoad = { attempt: Promise<PieceAttempt | null>; stop: AbortController; isLoaded: boolean };

class EarlyLoads {
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
