/** Playback controls beside the plain ones, for a recording with video. */
import { expect } from "bun:test";
import { until } from "../until";
import { type ActionRow, type Drive, isPaused, isPlaying } from "./action-driver";

/** Reads the video element, and whether the picture fills the screen. */
function readVideo() {
  const { playbackRate, volume, muted } = document.querySelector("video")!;
  return { playbackRate, volume, muted, isFullScreen: document.fullscreenElement?.matches(".picture") === true };
}
type Video = ReturnType<typeof readVideo>;

const untilVideo = (page: Drive["page"], what: string, isReached: (video: Video) => boolean) =>
  until(what, async () => isReached(await page.evaluate(readVideo)));

export const PLAY_ROWS: readonly ActionRow[] = [
  [
    "captions over the picture",
    async ({ press, click, shows, locate }) => {
      const isOn = ({ pressed }: { pressed: string[] }) => pressed.includes("Captions");
      await press("Shift+c");
      await shows("captions", isOn);
      const [caption, picture] = [await locate(".caption", "alpha"), await locate(".picture")];
      expect(caption.y).toBeGreaterThan(picture.y + picture.height / 2);
      expect(caption.y + caption.height).toBeLessThanOrEqual(picture.y + picture.height);
      await click(".picture-tools button", "Captions");
      await shows("no captions", (state) => !isOn(state));
    },
  ],
  [
    "full screen",
    async ({ press, click, page }) => {
      await press("f");
      await untilVideo(page, "the full screen", ({ isFullScreen }) => isFullScreen);
      await press("f");
      await untilVideo(page, "the page", ({ isFullScreen }) => !isFullScreen);
      await click(".picture-tools button", "Full screen");
      await untilVideo(page, "the full screen", ({ isFullScreen }) => isFullScreen);
      await click(".picture-tools button", "Full screen");
      await untilVideo(page, "the page", ({ isFullScreen }) => !isFullScreen);
    },
  ],
  [
    "mute and volume",
    async ({ press, click, says, shows, page, locate, pressAt }) => {
      await press("m");
      await says("Audio is off");
      await shows("a pressed button", ({ pressed }) => pressed.includes("Mute"));
      await untilVideo(page, "silence", ({ muted }) => muted);
      await click(".volume button", "Mute");
      await says("Audio is on");
      await untilVideo(page, "sound", ({ muted }) => !muted);
      const { x, y, width, height } = await locate(".volume input");
      await pressAt(x + width / 2, y + height / 2);
      await untilVideo(page, "half the volume", ({ volume }) => Math.abs(volume - 0.5) < 0.1);
      await page.evaluate(() => document.querySelector<HTMLElement>(".volume input")!.blur());
      await press("m");
      await untilVideo(page, "silence", ({ muted }) => muted);
      // A change of the volume ends the silence.
      await page.evaluate(() => document.querySelector<HTMLElement>(".volume input")!.focus());
      await press("Shift+Tab", "Tab", "End");
      await untilVideo(page, "the whole volume", ({ muted, volume }) => !muted && volume === 1);
    },
  ],
  [
    "all speeds, forward and back",
    async ({ press, click, shows, page, halt, read }) => {
      for (const rate of [0.5, 2, 3]) {
        await click(".transport .speed");
        await click("[role=menuitemradio]", `${rate}×`);
        await shows("the speed", ({ speed }) => speed === `${rate}×`);
        await untilVideo(page, "the speed", ({ playbackRate }) => playbackRate === rate);
      }
      for (const speed of ["1×", "1.5×", "2×", "3×", "3×"]) {
        await press("l");
        await shows(speed, (state) => isPlaying(state) && state.speed === speed);
      }
      await press("k");
      await shows("the usual speed", (state) => isPaused(state) && state.speed === "1×");
      await halt();
      await press("Home", ...Array<string>(8).fill("Shift+ArrowRight"), "l");
      await shows("playback", isPlaying);
      const { time } = await read();
      for (const speed of ["1×", "1.5×", "2×"]) {
        await press("j");
        await shows(speed, (state) => isPlaying(state) && state.speed === speed);
      }
      await shows("an earlier time", (state) => isPlaying(state) && state.time < time);
      await press("Space");
      await shows("a pause", (state) => isPaused(state) && state.speed === "1×");
      await halt();
    },
  ],
  [
    "loop of the selection",
    async ({ press, click, clickWord, says, shows, read }) => {
      const isLooping = ({ pressed }: { pressed: string[] }) => pressed.includes("Loop the selection");
      await press("Shift+l");
      await says("Nothing selected. Select what to loop first.");
      await clickWord("charlie", "left", 2);
      await shows("the selection", ({ selected }) => selected.trim() === "charlie");
      await press("Shift+l");
      await shows("the loop", (state) => isLooping(state) && isPlaying(state));
      // It plays its end, and then its start again.
      let latest = "";
      await until("the start again", async () => {
        const { time } = await read();
        const isBack = time < latest;
        latest = time;
        return isBack;
      });
      await shows("playback", isPlaying);
      await click(".transport button", "Loop the selection");
      await shows("no loop", (state) => !isLooping(state));
      await press("Space");
      await shows("a pause", isPaused);
      await click(".transport button", "Loop the selection");
      await shows("the loop", (state) => isLooping(state) && isPlaying(state));
      await press("Shift+l");
      await shows("no loop", (state) => !isLooping(state));
    },
  ],
];
