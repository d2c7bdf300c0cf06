/**
 * The effect of each action of the editor, by keyboard and by pointer, on the cut with takes of `createStudioAsset`.
 * The same rows run in Chromium and in Firefox.
 */
import { expect } from "bun:test";
import { until } from "../until";
import { CUT_ROWS } from "./action-cut-rows";
import { type ActionRow, countStarts, driveRows, findBox, isPaused, isPlaying, type RowPage } from "./action-driver";
import { EDIT_ROWS } from "./action-edit-rows";
import { REVIEW_ROWS } from "./action-review-rows";

const PLACE_ROWS: readonly ActionRow[] = [
  [
    "play, pause",
    async ({ press, click, shows }) => {
      await press("Space");
      await shows("playback", isPlaying);
      await press("k");
      await shows("a pause", isPaused);
      await click(".transport .play-button");
      await shows("playback", isPlaying);
      await click(".picture video");
      await shows("a pause", isPaused);
    },
  ],
  [
    "the cut or the source",
    async ({ press, click, shows, says }) => {
      await press("c");
      await says("Playing the source");
      await shows("the source", ({ mode }) => mode === "Source");
      await click(".transport .segments button", "Cut");
      await shows("the cut", ({ mode }) => mode === "Cut");
    },
  ],
  [
    "faster, slower, back",
    async ({ press, click, shows, read, halt }) => {
      await press("l");
      await shows("playback", isPlaying);
      await press("l");
      await shows("the speed", ({ speed }) => speed === "1.5×");
      await press("k");
      await shows("the usual speed", ({ speed }) => speed === "1×");
      await press("End");
      const end = (await read()).time;
      await press("j");
      await shows("playback back", ({ time }) => time < end);
      await halt();
      await click(".transport .speed");
      await click("[role=menuitemradio]", "1.25×");
      await shows("the speed", ({ speed }) => speed === "1.25×");
      await press("l");
      await halt();
      await shows("the usual speed", ({ speed }) => speed === "1×");
    },
  ],
  [
    "a frame, a second",
    async ({ press, shows, drag, locate, timeline, read }) => {
      await press("ArrowRight");
      await shows("one frame", ({ time }) => time.endsWith("00:00:00:01"));
      await press(",");
      await shows("the start", ({ time }) => time.endsWith("00:00:00:00"));
      await press(".", "ArrowLeft", "Shift+ArrowRight");
      await shows("one second", ({ time }) => time.endsWith("00:00:01:00"));
      await press("Shift+ArrowLeft");
      const { x, y, width, height } = await locate("[role=slider]", "Playhead");
      await drag([x + width / 2, y + height / 2], [(await timeline(18))[0], y + height / 2]);
      await shows("the flag's place", ({ time }) => /00:00:1[78]:/.test(time));
      expect(isPaused(await read())).toBe(true);
    },
  ],
  [
    "the join before, after",
    async ({ press, click, says, shows, read }) => {
      const { time: start } = await read();
      await press("ArrowDown");
      await says(/^(Pause|Retake|By hand), /);
      await shows("the first join", (state) => state.time !== start);
      const { time } = await read();
      await press("Backspace");
      await says(/s restored/);
      await press("Control+z");
      await click(".transport button", "Next join");
      await shows("the next join", (state) => state.time > time);
      await click(".transport button", "Previous join");
      await shows("the join before", (state) => state.time === time);
      await press("ArrowUp", "ArrowUp", "ArrowUp");
      await says("No removal before the playhead");
    },
  ],
  [
    "go to a timecode",
    async ({ press, type, click, shows }) => {
      await press("g");
      await shows("the field", ({ focus }) => focus.startsWith("Timecode") || focus.startsWith("Time"));
      await press("Control+a");
      await type("2");
      await press("Enter");
      await shows("the time", ({ time }) => !time.endsWith("00:00:00:00"));
      await click(".timecode");
      await shows("the field", ({ focus }) => focus.startsWith("Time"));
      await press("Escape");
    },
  ],
  [
    "select words",
    async ({ press, halt, focusWords, shows, clickWord, word, click, drag, timeline, pressAt, page }) => {
      await focusWords();
      await press("Shift+ArrowRight", "Shift+ArrowRight");
      await shows(
        "two words and their popover",
        ({ selected, popover, focus }) =>
          selected.split(" ").length === 2 && popover === "Selected text" && focus === "Words",
      );
      await press("Delete");
      await shows("no popover", ({ popover }) => popover === "");
      await press("Control+z", "Escape");
      await shows("no selection", ({ selected }) => selected === "");
      await clickWord("charlie.", "left", 2);
      await shows(
        "the popover",
        ({ selected, popover }) => selected.trim() === "charlie." && popover === "Selected text",
      );
      for (const name of ["Correct", "Loop"])
        await until(name, () => page.evaluate(findBox, { selector: ".word-popover button", name }));
      await click(".word-popover button", "Loop");
      await halt();
      // It may cover the next words.
      await press("Escape");
      const { x, y, width, height } = await word("zulu.");
      await page.keyboard.down("Shift");
      await pressAt(x + width - 2, y + height / 2);
      await page.keyboard.up("Shift");
      await shows("more words", ({ selected }) => selected.startsWith("charlie.") && selected.endsWith("zulu."));
      await press("Escape", "Escape");
      await drag(await timeline(0.05), await timeline(1.2));
      await shows(
        "a selection in text",
        ({ selected, popover }) => selected === "alpha" && popover === "Selected text",
      );
    },
  ],
  [
    "mark in, out, clear",
    async ({ press, shows, says, drag, timeline, locate }) => {
      await press("i");
      await says("Range starts here");
      await press("Shift+ArrowRight", "o");
      await says("Range ends here");
      await shows("the word", ({ selected }) => selected === "alpha");
      const { width } = await locate(".timeline-canvas canvas");
      const [x, y] = await timeline(1);
      await drag([x, y], [x + width * 0.2, y]);
      await shows("more words", ({ selected }) => selected.length > 5);
      await press("x");
      await says("Selection cleared");
      await press("x");
      await says("Nothing selected");
    },
  ],
];

/** On the page of a cut with takes. */
export const ROWS: readonly ActionRow[] = [...PLACE_ROWS, ...EDIT_ROWS, ...REVIEW_ROWS, ...CUT_ROWS];

/** Runs rows on an open page. An error names its row. */
export async function runRows(page: RowPage, rows: readonly ActionRow[]): Promise<void> {
  const drive = driveRows(page);
  await until("playback to be ready", () =>
    page.evaluate(() => document.querySelector(".transport .play-button:enabled") !== null),
  );
  await page.evaluate(countStarts);
  for (const [name, run] of rows) {
    try {
      await drive.reset();
      await run(drive);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
}
