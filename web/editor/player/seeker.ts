/** Moves a video element to places, and says where it is. Times are in microseconds. */
import { fromSeconds, toSeconds } from "../model/plan";
import { FRAME_TOLERANCE } from "./timeline";

/**
 * A seek lands this long after its place, which may be slightly before its frame: the edges of pieces are only near
 * frames, times are rounded, and the first frame of a stream begins late. Frames that are decoded but not shown may
 * also precede the first one of a piece.
 */
const INSIDE = FRAME_TOLERANCE + 200;
/** Distance between the time that an element was given and the one that it reports. */
const ROUNDING = 5;

export class Seeker {
  /** The place of the last seek, and the time that the element was given for it. */
  private last = { place: 0, given: 0 };
  /** Whether the element has yet to reach that time. */
  private isOpen = false;

  constructor(
    private readonly video: HTMLVideoElement,
    signal: AbortSignal,
  ) {
    // An element without data begins at 0 by itself, and rounds other times.
    const onMetadata = () => {
      if (this.isOpen) this.send();
    };
    video.addEventListener("loadedmetadata", onMetadata, { signal });
    // When the stream gets shorter during a jump, Firefox moves the element to the end instead.
    const onSeeking = () => {
      const { duration, currentTime } = video;
      if (this.isOpen && toSeconds(this.last.given) < duration && currentTime >= duration) this.send();
    };
    const onSeeked = () => {
      if (!video.seeking) this.isOpen = false;
    };
    video.addEventListener("seeking", onSeeking, { signal });
    video.addEventListener("seeked", onSeeked, { signal });
  }

  /**
   * The position of the element: the exact place of the last seek until it moves on. When it has paused since, the
   * place to which a seek would not move it, so that steps of a frame start from the frame that it shows.
   */
  get place(): number {
    const { last, video } = this;
    const now = fromSeconds(video.currentTime);
    if (Math.abs(now - last.given) <= ROUNDING) return last.place;
    return video.paused && !video.ended ? Math.max(0, now - INSIDE) : now;
  }

  seek(place: number): void {
    this.last = { place, given: place + INSIDE };
    this.isOpen = true;
    this.send();
  }

  private send(): void {
    this.video.currentTime = toSeconds(this.last.given);
  }
}
