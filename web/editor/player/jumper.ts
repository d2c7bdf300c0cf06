/** Plays a cut in browsers without Media Source Extensions: plays the preview and seeks at each join. */
import { fromSeconds } from "../model/plan";
import type { Engine, PlayableMedia } from "./engine";
import { Seeker } from "./seeker";
import { findPieceIndex, getLength, type Piece, toCutTime, toSourceTime } from "./timeline";

export class Jumper implements Engine {
  pieces: readonly Piece[] = [];
  readonly openSeeks = 0;
  private frame = 0;
  private readonly seeker: Seeker;
  private readonly disposed = new AbortController();

  constructor(
    private readonly video: HTMLVideoElement,
    media: PlayableMedia,
  ) {
    const { signal } = this.disposed;
    this.seeker = new Seeker(video, signal);
    video.src = media.previewUrl;
    const follow = () => {
      this.follow();
      this.frame = requestAnimationFrame(follow);
    };
    const start = () => {
      // Browsers also restart at the end of a video.
      if (this.cutTime >= getLength(this.pieces)) this.seek(0);
      follow();
    };
    video.addEventListener("play", start, { signal });
    video.addEventListener("pause", () => cancelAnimationFrame(this.frame), { signal });
    video.addEventListener("timeupdate", () => this.follow(), { signal });
  }

  get cutTime(): number {
    return toCutTime(this.pieces, this.seeker.place);
  }

  seek(sourceTime: number): void {
    this.seeker.seek(toSourceTime(this.pieces, toCutTime(this.pieces, sourceTime)));
  }

  show(pieces: readonly Piece[], sourceTime = this.seeker.place): void {
    this.pieces = pieces;
    this.seek(sourceTime);
  }

  /** The browser loads the data it needs. */
  prepare(): void {}

  preload(): void {}

  usePreview(): void {}

  setClean(): void {}

  dispose(): void {
    this.disposed.abort();
    cancelAnimationFrame(this.frame);
    this.video.removeAttribute("src");
    this.video.load();
  }

  private follow(): void {
    const { video, pieces } = this;
    if (video.paused || video.seeking) return;
    const now = fromSeconds(video.currentTime);
    const cutTime = toCutTime(pieces, now);
    if (cutTime >= getLength(pieces)) {
      video.pause();
      video.dispatchEvent(new Event("ended"));
    } else if (now < pieces[findPieceIndex(pieces, cutTime)]!.start) this.seek(now);
  }
}
