/** Pacing, saved versions, edges and the list of actions, for the cut with takes of `createStudioAsset`. */
import { expect } from "bun:test";
import { until } from "../until";
import { type ActionRow, toSeconds } from "./action-driver";

/** The slider of what stays before and after words. */
const PADDING = ".slider-field + .slider-field input[type=range]";

export const CUT_ROWS: readonly ActionRow[] = [
  [
    "pacing",
    async ({ press, click, locate, page, shows, says, read, isShown, focus }) => {
      const { result, kept } = await read();
      await press("p");
      const { x, y, width, height } = await locate(PADDING);
      // The result changes before the slider is released, and one drag is one step.
      await page.mouse.move(x + width / 4, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + height / 2, { steps: 3 });
      await shows("another duration", (state) => state.kept !== kept);
      await page.mouse.move(x + width + 20, y + height / 2, { steps: 3 });
      await shows("another result", (state) => state.result !== result && !state.pill.includes("beside words"));
      await page.mouse.up();
      await says(/^0.6 s left beside words, [\d.]+ s longer/);
      const { kept: longest } = await read();
      await click(".pacing button", "Done");
      await isShown(".pacing", false);
      expect((await read()).kept).toBe(longest);
      await press("Control+z");
      await shows("the result as before", (state) => state.kept === kept);

      await click(".pacing-button");
      await locate(PADDING);
      await focus(PADDING);
      // The keys of a control that the pointer has chosen belong to the page.
      await press("Shift+Tab", "Tab", "End");
      await says(/^0.6 s left beside words, [\d.]+ s longer/);
      await shows("a longer cut", (state) => state.kept === longest);
      await press("Escape");
      await says("Pacing unchanged");
      expect((await read()).pill).not.toContain("Undo");
      await isShown(".pacing", false);
      await shows("the result as before", (state) => state.kept === kept);
      await press("Control+z");
      await says(/^Undone: (?!Pacing)/);
      await press("Control+Shift+z");
      await shows("the result as before", (state) => state.kept === kept);
      await press("p");
      await click(".mode-cards button", "Loose");
      await says(/^Loose, [\d.]+ s longer/);
      await click(".pacing button", "Close");
      await isShown(".pacing", false);
      await press("Control+z");
      await shows("the result as before", (state) => state.kept === kept);

      // An edit after the pacing stays.
      await press("p");
      await click(".mode-cards button", "Loose");
      await says(/^Loose, [\d.]+ s longer/);
      await press("Home", "ArrowDown", "Backspace");
      await says(/ s restored/);
      await press("Escape");
      await says(/^Pacing restored/);
      await isShown(".pacing", false);
      expect((await read()).kept).not.toBe(kept);
      await press("Control+z", "Control+z", "Control+z");
      await shows("the result as before", (state) => state.kept === kept);
    },
  ],
  [
    "an edge that was dragged, trimmed to the playhead",
    async ({ press, drag, timeline, says, shows, read, halt }) => {
      const { kept, time } = await read();
      await press("ArrowDown");
      await shows("the join", (state) => state.time !== time);
      const [x, y] = await timeline(toSeconds((await read()).time));
      await drag([x, y], [x + 12, y]);
      await says("Edge moved to");
      await halt();
      const { kept: dragged } = await read();
      expect(dragged).not.toBe(kept);
      for (const [place, key] of [
        [["Home", "ArrowDown", "Shift+ArrowRight", "ArrowLeft"], "q"],
        [["Home", "Shift+ArrowRight"], "w"],
      ] as const) {
        await press(...place);
        const before = (await read()).kept;
        await press(key);
        await says("Edge moved to");
        await shows("another duration", (state) => state.kept !== before);
        await halt();
      }
      expect((await read()).kept).not.toBe(dragged);
      await press("Control+z", "Control+z");
      await shows("the cut after the drag", (state) => state.kept === dragged);
      await press("Control+z");
      await shows("the cut as before", (state) => state.kept === kept);
    },
  ],
  [
    "actions and pages from the rail",
    async ({ press, click, type, shows, says }) => {
      const hasField = ({ focus }: { focus: string }) => focus.startsWith("Search projects");
      await press("Control+k");
      await shows("the field", hasField);
      await press("Escape");
      await shows("no list", ({ dialog }) => dialog === "");
      await click(".rail button", "Search");
      await shows("the field", hasField);
      await type("mute");
      await shows("the action with its key", ({ options }) => options.startsWith("MuteM"));
      await press("Enter");
      await says("Audio is off");
      await click(".rail button", "Search");
      await shows("the field", hasField);
      await type("mute");
      await shows("the action", ({ options }) => options.startsWith("Mute"));
      await click("dialog [role=option]", "Mute");
      await says("Audio is on");
    },
  ],
  [
    "save, and save as a new version",
    async ({ press, click, clickWord, says, shows, read, type, locate }) => {
      // Rows before this one may leave edits.
      await until("everything to be saved", async () => {
        await press("Control+s");
        return (await read()).pill.startsWith("Everything is saved");
      });
      const before = await read();
      const removeWord = async (word: string) => {
        await clickWord(word);
        await press("Shift+ArrowRight", "Delete");
        await says(/^1 word removed/);
        await press("Escape", "Escape");
      };
      const untilSaved = (version: RegExp, cutId: string) =>
        shows("a saved version", (state) => {
          const isSaved = !state.isDraft && /^Saved \d/.test(state.saved);
          return isSaved && version.test(state.version) && state.cutId !== cutId;
        });
      await removeWord("charlie.");
      await press("Control+s");
      await untilSaved(/^Cut Natural \d$/, before.cutId);
      const first = await read();
      // Undo goes on across the save, and the next save keeps the version.
      await press("Control+z");
      await says("Undone: 1 word removed");
      await shows("the text as before", ({ struck }) => struck === before.struck);
      await click(".cut-name");
      await click("[role=menuitem]", "Save");
      await untilSaved(new RegExp(`^${first.version}$`), first.cutId);
      const second = await read();
      expect(second.struck).toBe(before.struck);

      await press("Control+Shift+s");
      await shows("the question for a name", ({ dialog }) => dialog === "Save as new version");
      await press("Control+a");
      await type("Trailer");
      await press("Enter");
      await untilSaved(/^Cut Trailer$/, second.cutId);
      const third = await read();
      await removeWord("charlie.");
      await click(".cut-name");
      await click("[role=menuitem]", "Save as new version");
      await locate("dialog[open] input");
      await press("Control+a");
      await type("Teaser");
      await click("dialog[open] button", "Save");
      await untilSaved(/^Cut Teaser$/, third.cutId);
      await click(".cut-name");
      for (const name of ["Teaser", "Trailer", first.version.slice("Cut ".length)])
        await locate("[role=menuitemradio]", name);
      await press("Escape");
    },
  ],
];
