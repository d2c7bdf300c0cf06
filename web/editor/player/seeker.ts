/** Moves a video element to places, and says where it is. Times are in microseconds. */
import { fromSeconds, toSeconds } from "../model/plan";

/**
 * A seek lands this far inside its frame: times are rounded, and the first frame of a stream begins slightly late, so
 * the exact time may still be in the frame before.
 */
const INSIDE = 200;
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

  /** The position of the element: the exact place of the last seek until it moves on. */
  get place(): number {
    const { last } = this;
    const now = fromSeconds(this.video.currentTime);
    return Math.abs(now - last.given) <= ROUNDING ? last.place : now;
  }

  /** `earliest`: the element gets no earlier time. */
  seek(place: number, earliest = 0): void {
    this.last = { place, given: Math.max(place + INSIDE, earliest) };
    this.isOpen = true;
    this.send();
  }

  private send(): void {
    this.video.currentTime = toSeconds(this.last.given);
  }
}
