/** The frame that the cut player shows in a real browser after steps of a frame. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { fromSeconds } from "../../web/editor/model/plan";
import { openPlayer } from "./open-player";
import type { PlayerHarness } from "./player-page";

declare const harness: PlayerHarness;

setDefaultTimeout(300_000);

/** The first and the end frame of the kept spans. Neither starts at a keyframe. */
const KEPT = [
  [1, 25],
  [41, 101],
] as const;

/** Frame rate, and the microseconds to which the times of the plan are rounded. */
const PLANS = [
  ["25", 1],
  ["30000/1001", 1],
  ["30", 1_000],
] as const;

test.each(PLANS)("each step shows the next frame at %s frames per second, rounded to %d µs", async (rate, unit) => {
  const [num, den = 1] = rate.split("/").map(Number) as [number, number?];
  const toTime = (frame: number) => Math.round((frame * fromSeconds(den)) / num / unit) * unit;
  await using player = await openPlayer(6, "320:180", undefined, rate);
  const { page, address, setup } = player;
  const frame = fromSeconds(den) / num;
  const kept = KEPT.map(([start, end]) => ({ start: toTime(start), end: toTime(end) }));
  const walk = async (sourceTypes?: { video: string | null; audio: null }) => {
    await page.goto(address);
    return page.evaluate(
      async ([setup, kept, frame]) => {
        /** Returns the frame when no other one has followed for a while. */
        const read = async () => {
          await harness.settled();
          let count = -1;
          for (let painted = 0; painted < 6; painted++) {
            if (harness.shown.length !== count) painted = 0;
            count = harness.shown.length;
            await new Promise(requestAnimationFrame);
          }
          return harness.shown.at(-1)?.frame;
        };
        const step = async (...directions: number[]) => {
          const frames: unknown[] = [];
          for (const direction of directions) {
            harness.player.seekBy(direction * frame);
            frames.push(await read());
          }
          return frames;
        };
        harness.open(setup, kept);
        const first = await read();
        const forward = await step(1, 1, 1, 1, 1, 1);
        const back = await step(-1, -1, -1, -1, -1, -1);
        harness.player.seek(kept[1]!.start - 10);
        return { first, forward, back, join: [await read(), ...(await step(1, 1, -1, -1, -1))] };
      },
      [{ ...setup, ...(sourceTypes && { sourceTypes }) }, kept, frame] as const,
    );
  };
  const expected = {
    first: 1,
    forward: [2, 3, 4, 5, 6, 7],
    back: [6, 5, 4, 3, 2, 1],
    join: [41, 42, 43, 42, 41, 24],
  };
  expect(await walk()).toEqual(expected);
  expect(await walk({ video: setup.videoType, audio: null })).toEqual(expected);
  expect(player.problems).toEqual([]);
});
