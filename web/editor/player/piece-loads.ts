/** The requests for pieces of a cut: of what plays next, of what a jump needs first, and of what an expected edit would play. */
import { toSeconds } from "../model/plan";
import { EarlyLoads } from "./early-loads";
import type { EngineReport, PlayableMedia } from "./engine";
import { listTracks } from "./media-source";
import { findPieceIndex, type Landing, type Piece } from "./timeline";

/** The bytes of the tracks, in their order; null where a track has nothing. */
export type LoadedPiece = (ArrayBuffer | null)[];

/** Pieces that are loaded at the same time: two requests each, and browsers allow six to a server. */
const PARALLEL_LOADS = 2;

export class PieceLoads {
  private readonly early: EarlyLoads;
  private readonly loads = new Map<Piece, Promise<LoadedPiece>>();

  constructor(
    private readonly media: PlayableMedia,
    onDelay: EngineReport["onDelay"],
  ) {
    this.early = new EarlyLoads(onDelay);
  }

  /** Starts to load whole pieces before they are asked for. Of what was started early, only they go on. */
  prepare(pieces: readonly Piece[]): void {
    this.early.prepare(pieces.flatMap((piece) => this.listUrls(piece)));
  }

  /** Starts to load what a jump to a cut time needs first: `landing`, or the whole piece when it is null. */
  prepareJump(pieces: readonly Piece[], cutTime: number, landing: Landing | null): void {
    const index = findPieceIndex(pieces, cutTime);
    if (landing === null) this.prepare(pieces.slice(index, index + 1));
    else this.early.prepare(this.listLandingUrls(landing));
  }

  /** Returns whether the whole piece was loaded early. */
  has(piece: Piece): boolean {
    return this.early.has(this.listUrls(piece));
  }

  /** Returns whether the piece was asked for and not forgotten. */
  isLoading(piece: Piece): boolean {
    return this.loads.has(piece);
  }

  /** Returns the bytes of `pieces[index]`, and starts to load those after it. Throws as `loadPiece` does. */
  load(pieces: readonly Piece[], index: number, signal: AbortSignal): Promise<LoadedPiece> {
    for (const piece of pieces.slice(index, index + PARALLEL_LOADS)) {
      if (this.loads.has(piece)) continue;
      const loading = this.loadAll(this.listUrls(piece), signal);
      loading.catch(() => {});
      this.loads.set(piece, loading);
    }
    return this.loads.get(pieces[index]!)!;
  }

  /** Returns the bytes of a landing. Throws as `loadPiece` does. */
  loadLanding(landing: Landing, signal: AbortSignal): Promise<LoadedPiece> {
    return this.loadAll(this.listLandingUrls(landing), signal);
  }

  /** Forgets a piece that is in the buffers. */
  delete(piece: Piece): void {
    this.loads.delete(piece);
  }

  /** Forgets all pieces that were asked for, whose requests have been aborted. */
  clear(): void {
    this.loads.clear();
  }

  /** Stops what was started early. */
  dispose(): void {
    this.early.prepare([]);
  }

  private loadAll(urls: readonly string[], signal: AbortSignal): Promise<LoadedPiece> {
    return Promise.all(urls.map((url) => this.early.load(url, signal)));
  }

  /** Returns the addresses of a piece, in the order of the tracks. */
  private listUrls({ start, end }: Piece): string[] {
    return listTracks(this.media).map((track) => this.media.pieceUrl(track, toSeconds(start), toSeconds(end)));
  }

  private listLandingUrls(landing: Landing): string[] {
    return listTracks(this.media).map((track) => {
      const { start, end } = landing[track];
      return this.media.pieceUrl(track, toSeconds(start), toSeconds(end), toSeconds(landing.place));
    });
  }
}
