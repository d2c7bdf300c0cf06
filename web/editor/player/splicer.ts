/**
 * Plays a cut that was never rendered: appends pieces of the preview to the buffers of one video element at their
 * position in the cut, so that the browser plays a continuous stream.
 */
import { toSeconds } from "../model/plan";
import type { CleanMode, Engine, EngineReport, PlayableMedia, Variant } from "./engine";
import { isStreaming, type OpenedSource, openSource, removeMedia } from "./media-source";
import { PieceLoads, requireVideo } from "./piece-loads";
import { Seeker } from "./seeker";
import {
  compareCuts,
  findPieceIndex,
  getLength,
  isCovered,
  type Landing,
  type Piece,
  toCutTime,
  toLanding,
} from "./timeline";
import {
  AHEAD,
  appendToAll,
  BufferFullError,
  DECODED,
  KEPT_AHEAD,
  LANDING,
  MAX_BEHIND,
  MAX_PREPARED_DISTANCE,
  MIN_BEHIND,
  MIN_BEHIND_WHEN_FULL,
  MIN_LANDING,
  replaceAudio,
  type Track,
} from "./track-buffer";

const MAX_STALLS = 2;
const MIN_DURATION_SECONDS = 0.1;

export class Splicer implements Engine {
  pieces: readonly Piece[] = [];
  /** Index of the first piece that is not appended. Those before it are, back to a position behind the playhead. */
  private next = 0;
  /** The first part of that piece, which is loaded before the rest after a jump. */
  private landing: Landing | null = null;
  private readonly loads: PieceLoads;
  private readonly variants: Record<Track, Variant>;
  private stalls = 0;
  /** Whether the video has played since the last seek. */
  private isFlowing = false;
  private readonly opened: Promise<OpenedSource>;
  private readonly seeker: Seeker;
  private readonly disposed = new AbortController();
  private filling: Promise<void> | null = null;
  private changes: Promise<void> = Promise.resolve();
  private openChanges = 0;
  openSeeks = 0;
  private halt = new AbortController();
  private audioLoad = new AbortController();
  private cleanChanges = 0;

  constructor(
    private readonly video: HTMLVideoElement,
    media: PlayableMedia,
    private readonly report: EngineReport,
  ) {
    const { signal } = this.disposed;
    const choose = (track: Track): Variant => (media.sourceTypes[track] === null ? "preview" : "source");
    // Decoders of audio are reset when they change, so it stays as it is.
    this.variants = {
      video: media.isPreviewReady ? "preview" : choose("video"),
      audio: media.isPreviewReady ? "preview" : choose("audio"),
    };
    this.loads = new PieceLoads(media, this.variants, report.onDelay);
    this.opened = openSource(video, media, this.variants, signal, () => this.fill());
    this.seeker = new Seeker(video, signal);
    const check = () => this.onPlaceChanged();
    video.addEventListener("seeking", check, { signal });
    video.addEventListener("waiting", check, { signal });
    video.addEventListener("waiting", () => this.countStall(), { signal });
    const setFlowing = ({ type }: Event) => {
      this.isFlowing = type === "playing";
    };
    video.addEventListener("playing", setFlowing, { signal });
    video.addEventListener("seeking", setFlowing, { signal });
    video.addEventListener("timeupdate", () => this.fill(), { signal });
  }

  get cutTime(): number {
    return this.seeker.place;
  }

  seek(sourceTime: number): void {
    const goTo = (): number => this.goTo(toCutTime(this.pieces, sourceTime));
    if (this.openChanges > 0) this.change(true, (opened) => this.moveTo(opened, goTo()));
    else this.onPlaceChanged(goTo());
  }

  prepare(pieces: readonly Piece[]): void {
    const { after, at, first } = this.compare(pieces, undefined);
    // Preloads the piece that plays after the edit, and the next one.
    if (Math.abs(at - this.cutTime) < MAX_PREPARED_DISTANCE) this.loads.prepare(after.slice(first, first + 2));
  }

  preload(pieces: readonly Piece[]): void {
    this.loads.prepare(pieces);
  }

  show(pieces: readonly Piece[], sourceTime?: number): void {
    const expected = this.compare(pieces, sourceTime);
    if (expected.isUnderPlayhead && expected.target >= expected.at) this.prepareJump(expected.after, expected.target);
    this.change(sourceTime !== undefined, async (opened) => {
      const { after, from, first, target, isUnderPlayhead } = this.compare(pieces, sourceTime);
      await removeMedia(opened, from);
      this.pieces = after;
      this.next = Math.min(this.next, first);
      const duration = Math.max(MIN_DURATION_SECONDS, toSeconds(getLength(after)));
      const isShorter = duration < opened.source.duration;
      // Otherwise the browser would move a position beyond the end of the stream to the end.
      if (!isShorter) opened.source.duration = duration;
      if (isUnderPlayhead) this.goTo(target);
      if (isShorter) opened.source.duration = duration;
      if (isUnderPlayhead) await this.moveTo(opened, target);
    });
  }

  usePreview(): void {
    if (this.variants.video === "preview") return;
    this.variants.video = "preview";
    this.change(false, async (opened) => {
      // The piece that is playing, and what the decoder already has, stay.
      const index = findPieceIndex(this.pieces, this.cutTime + KEPT_AHEAD) + 1;
      const piece = this.pieces[index];
      if (piece === undefined || index >= this.next) return;
      await removeMedia(opened, piece.at);
      this.next = index;
    });
  }

  setClean(mode: CleanMode | null): void {
    if (mode === this.loads.clean) return;
    this.loads.clean = mode;
    this.replaceAudio(++this.cleanChanges);
  }

  /** Replaces the audio that is buffered. Tasks that are added meanwhile run first. */
  private replaceAudio(change: number): void {
    this.change(false, async (opened) => {
      const audio = opened.tracks.find(({ track }) => track === "audio");
      if (audio === undefined || change !== this.cleanChanges) return;
      if (this.openChanges > 1) return this.replaceAudio(change);
      this.audioLoad = new AbortController();
      const { signal } = this.audioLoad;
      await replaceAudio({
        ...{ audio, pieces: this.pieces, next: this.next, duration: opened.source.duration },
        getStart: () => this.cutTime + DECODED * this.video.playbackRate,
        load: (piece) => this.loads.loadAudio(piece, signal),
        dropFrom: async (piece, at) => {
          await removeMedia(opened, at);
          this.next = piece;
        },
      }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        this.replaceAudio(change);
      });
    });
  }

  /** A link that is too slow for the source is fast enough for the preview. */
  private countStall(): void {
    // Firefox also reports that it waits just before the end.
    if (this.next >= this.pieces.length) return;
    if (!this.isFlowing || this.video.paused || this.openChanges > 0 || this.variants.video === "preview") return;
    if (++this.stalls >= MAX_STALLS) this.usePreview();
  }

  dispose(): void {
    this.halt.abort();
    this.audioLoad.abort();
    this.loads.dispose();
    this.disposed.abort();
    this.video.removeAttribute("src");
    this.video.load();
  }

  private compare(pieces: readonly Piece[], sourceTime: number | undefined) {
    const reach = DECODED * this.video.playbackRate;
    return compareCuts(this.pieces, pieces, { now: this.cutTime, next: this.next, reach, sourceTime });
  }

  /** Returns the part to load first after a jump; null if the whole piece is loaded already or has to be. */
  private findLanding(pieces: readonly Piece[], cutTime: number): Landing | null {
    // Browsers do not seek before they have data.
    if (this.video.readyState === HTMLMediaElement.HAVE_NOTHING) return null;
    const landing = toLanding(pieces, cutTime, LANDING * Math.max(1, this.video.playbackRate));
    if (landing === null || this.loads.has(landing.piece)) return null;
    // Otherwise each step back from a jump near the end of a piece would load a landing.
    const isEndLoaded = pieces === this.pieces && this.isCovered(toCutTime(pieces, landing.piece.end - 1));
    return isEndLoaded && landing.audio.end === landing.piece.end ? null : landing;
  }

  /** Preloads the first data for a jump. */
  private prepareJump(pieces: readonly Piece[], cutTime: number): void {
    this.loads.prepareJump(pieces, cutTime, this.findLanding(pieces, cutTime));
  }

  /** Returns the same time. */
  private goTo(cutTime: number): number {
    this.seeker.seek(cutTime);
    return cutTime;
  }

  /** Called after a jump, and when the playhead has no data. */
  private onPlaceChanged(now = this.cutTime): void {
    if (this.openChanges > 0 || this.isCovered(now) || this.isLoading(findPieceIndex(this.pieces, now))) {
      this.fill();
      return;
    }
    if (this.video.seeking) this.prepareJump(this.pieces, now);
    this.change(false, (opened) => this.moveTo(opened, this.cutTime));
  }

  /** Returns whether a piece is the next to be appended and is already loading. */
  private isLoading(index: number): boolean {
    const piece = this.pieces[index];
    return index === this.next && piece !== undefined && (this.landing !== null || this.loads.isLoading(piece));
  }

  private isCovered(cutTime: number): boolean {
    return isCovered(this.video.buffered, this.pieces, cutTime);
  }

  /** Continues at a position. Clears the buffers if the position is neither buffered nor about to be. */
  private async moveTo(opened: OpenedSource, cutTime: number): Promise<void> {
    const index = findPieceIndex(this.pieces, cutTime);
    if (index < this.next && this.isCovered(cutTime)) return;
    const isJump = this.video.seeking;
    const landing = isJump ? this.findLanding(this.pieces, cutTime) : null;
    if (index !== this.next) {
      await removeMedia(opened, 0);
      // Browsers may have evicted the data that was just buffered for this position.
      if (isJump) this.goTo(cutTime);
    }
    this.next = index;
    this.landing = landing;
  }

  /** Pauses filling, runs a task alone, and resumes filling. Tasks run one after the other. */
  private change(isSeek: boolean, task: (opened: OpenedSource) => Promise<void>): void {
    this.openChanges++;
    this.openSeeks += Number(isSeek);
    this.halt.abort();
    this.audioLoad.abort();
    this.changes = this.changes.then(async () => {
      await this.filling;
      try {
        const opened = await this.opened;
        this.landing = null;
        if (!this.disposed.signal.aborted) await task(opened);
      } catch (error) {
        await this.reportError(error);
      }
      this.openChanges--;
      this.openSeeks -= Number(isSeek);
      if (this.openChanges > 0 || this.disposed.signal.aborted) return;
      this.halt = new AbortController();
      this.loads.clear();
      this.fill();
    });
  }

  private fill(): void {
    const { signal } = this.halt;
    if (this.filling !== null || signal.aborted) return;
    this.filling = this.appendPieces(signal)
      .catch(async (error: unknown) => {
        if (signal.aborted) return;
        this.halt.abort();
        await this.reportError(error);
      })
      .finally(() => {
        this.filling = null;
      });
  }

  /** Reports an error, unless the browser closed the source and removed its buffers: the element reports why. */
  private async reportError(error: unknown): Promise<void> {
    const isClosed = await this.opened.then(
      ({ source }) => source.readyState === "closed",
      () => false,
    );
    if (!isClosed && !this.disposed.signal.aborted) this.report.onError(error);
  }

  private async appendPieces(signal: AbortSignal): Promise<void> {
    const opened = await this.opened;
    while (!signal.aborted) {
      const piece = this.pieces[this.next];
      if (piece === undefined) {
        if (opened.source.readyState === "open" && this.pieces.length > 0) opened.source.endOfStream();
        return;
      }
      const now = this.cutTime;
      if (piece.at > now + AHEAD || !isStreaming(opened.source)) return;
      const start = opened.tracks[0]?.start ?? null;
      if (start !== null && start < now - MAX_BEHIND) await removeMedia(opened, 0, now - MIN_BEHIND);
      const landed = this.landing === null ? null : await this.appendLanding(opened, this.landing, signal);
      if (signal.aborted) return;
      const loaded = landed ?? (await this.loads.load(this.pieces, this.next, signal));
      if (signal.aborted) return;
      try {
        if (landed === null) await appendToAll(opened.tracks, { video: piece, audio: piece }, loaded);
      } catch (error) {
        if (!(error instanceof BufferFullError)) throw error;
        // The next `timeupdate` retries.
        return await removeMedia(opened, 0, this.cutTime - MIN_BEHIND_WHEN_FULL);
      }
      if (this.variants.video === "source") requireVideo(opened, piece, loaded);
      this.loads.delete(piece);
      this.next++;
    }
  }

  /**
   * Appends the first part after a jump. Returns what was loaded if the piece ends with it: if its end was appended
   * again, Firefox would wait at the end of the stream. Otherwise returns null, and the whole piece replaces it later.
   */
  private async appendLanding({ tracks }: OpenedSource, landing: Landing, signal: AbortSignal) {
    const { piece, audio } = landing;
    const isEnd = audio.end === piece.end;
    if (!isEnd && audio.end - audio.start < MIN_LANDING * this.video.playbackRate)
      void this.loads.load(this.pieces, this.next, signal);
    const loaded = await this.loads.loadLanding(landing, signal);
    if (signal.aborted) return null;
    let isAppended = true;
    try {
      await appendToAll(tracks, landing, loaded);
    } catch (error) {
      // Appending the whole piece later makes room if necessary.
      if (!(error instanceof BufferFullError)) throw error;
      isAppended = false;
    }
    this.landing = null;
    return isEnd && isAppended ? loaded : null;
  }
}
