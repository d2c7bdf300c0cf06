/** Jumps on a video element whose stream gets shorter meanwhile. */
import { expect, test } from "bun:test";
import { createSeek } from "../../../web/editor/player/media-source";

/** An element without data, so that jumps do not end by themselves. */
class Video extends EventTarget {
  currentTime = 3;
  duration = 6;
  seeking = false;
}

function createVideo() {
  const video = new Video();
  const report = (name: string) => video.dispatchEvent(new Event(name));
  const seekTo = createSeek(video as unknown as HTMLVideoElement, new AbortController().signal);
  /** Shortens the stream as Firefox does, which moves an element that is still at its last place. */
  const shorten = (duration: number) => {
    Object.assign(video, { duration, currentTime: duration, seeking: true });
    report("seeking");
    return video.currentTime;
  };
  const arrive = (isSeeking: boolean) => {
    video.seeking = isSeeking;
    report("seeked");
  };
  return { video, seekTo, shorten, arrive };
}

test("a jump reaches its place although the stream gets shorter", () => {
  const { seekTo, shorten, arrive } = createVideo();
  seekTo(0.001);
  expect(shorten(2)).toBe(0.001);
  // The end of an earlier jump is reported late.
  arrive(true);
  expect(shorten(1)).toBe(0.001);
});

test("an element stays at the end if it has arrived at its place, or if its place is gone", () => {
  const { seekTo, shorten, arrive } = createVideo();
  expect(shorten(5)).toBe(5);
  seekTo(0.001);
  arrive(false);
  expect(shorten(4)).toBe(4);
  seekTo(3.5);
  expect(shorten(3)).toBe(3);
});
