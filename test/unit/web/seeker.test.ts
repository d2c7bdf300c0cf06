/** Places of a video element whose stream gets shorter or begins meanwhile. Times are in microseconds. */
import { expect, test } from "bun:test";
import { Seeker } from "../../../web/editor/player/seeker";
import { snapToFrames } from "../../../web/editor/player/timeline";

/** An element without data, so that jumps do not end by themselves. */
class Video extends EventTarget {
  currentTime = 3;
  duration = 6;
  seeking = false;
  paused = false;
  ended = false;
}

function createVideo() {
  const video = new Video();
  const report = (name: string) => video.dispatchEvent(new Event(name));
  const seeker = new Seeker(video as unknown as HTMLVideoElement, new AbortController().signal);
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
  return { video, seeker, shorten, arrive, report };
}

test("a jump reaches its place although the stream gets shorter", () => {
  const { seeker, shorten, arrive } = createVideo();
  seeker.seek(1_000);
  expect(shorten(2)).toBe(0.0022);
  // The end of an earlier jump is reported late.
  arrive(true);
  expect(shorten(1)).toBe(0.0022);
});

test("an element stays at the end if it has arrived at its place, or if its place is gone", () => {
  const { seeker, shorten, arrive } = createVideo();
  expect(shorten(5)).toBe(5);
  seeker.seek(1_000);
  arrive(false);
  expect(shorten(4)).toBe(4);
  seeker.seek(3_500_000);
  expect(shorten(3)).toBe(3);
});

test("an element lands inside a frame, and is at the exact place until it moves on", () => {
  const { video, seeker, arrive } = createVideo();
  const frame = 1e6 / 30;
  seeker.seek(7 * frame);
  // Browsers report whole microseconds.
  video.currentTime = Math.floor(video.currentTime * 1e6) / 1e6;
  arrive(false);
  expect(video.currentTime).toBeGreaterThan(7 / 30);
  expect(seeker.place).toBe(7 * frame);
  video.currentTime += 0.01;
  expect(seeker.place).toBe(Math.round(video.currentTime * 1e6));
  seeker.seek(0);
  expect([video.currentTime, seeker.place]).toEqual([0.0012, 0]);
});

test.each([24, 25, 30_000 / 1001, 30, 60])("steps from a rounded start stay in their frames at %d fps", (rate) => {
  const { video, seeker } = createVideo();
  const frame = 1e6 / rate;
  for (let first = 1; first < 100; first++)
    for (const rounded of [Math.floor, Math.round, Math.ceil])
      for (let steps = 0; steps < 3; steps++) {
        const start = rounded((first * frame) / 1_000) * 1_000;
        const [piece] = snapToFrames([{ start, end: start + 1e6 }], rate, 10e6);
        seeker.seek(piece!.start + steps * frame);
        expect(Math.floor((video.currentTime * 1e6) / frame)).toBe(first + steps);
      }
});

test("a step of a frame after a pause goes to the next frame", () => {
  const { video, seeker } = createVideo();
  const frame = 1e6 / 30;
  seeker.seek(0);
  video.currentTime = 0.0999;
  video.paused = true;
  seeker.seek(seeker.place + frame);
  expect(Math.floor((video.currentTime * 1e6) / frame)).toBe(3);
  Object.assign(video, { currentTime: 6, ended: true });
  expect(seeker.place).toBe(6e6);
});

test("an element that begins at 0 by itself is sent to its place", () => {
  const { video, seeker, arrive, report } = createVideo();
  seeker.seek(0);
  video.currentTime = 0;
  report("loadedmetadata");
  expect(video.currentTime).toBe(0.0012);
  arrive(false);
  video.currentTime = 2;
  report("loadedmetadata");
  expect(video.currentTime).toBe(2);
});
