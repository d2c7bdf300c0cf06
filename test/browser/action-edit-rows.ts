/** Actions that change the cut, and those that review it, for the cut with takes of `createStudioAsset`. */
import { expect } from "bun:test";
import { until } from "../until";
import { type ActionRow, findBox } from "./action-driver";

export const EDIT_ROWS: readonly ActionRow[] = [
  [
    "remove or restore the selection",
    async ({ press, click, clickWord, says, shows, read }) => {
      const before = (await read()).struck;
      await press("Delete");
      await says("Nothing selected. Select words first.");
      await clickWord("charlie.");
      await press("Shift+ArrowRight", "Delete");
      await says(/^1 word removed, [\d.]+ s/);
      await press("Delete");
      await says(/^1 word restored/);
      await press("Escape");
      await clickWord("charlie.", "left", 2);
      await click(".word-popover button", "Remove");
      await says(/^1 word removed/);
      await press("Control+z");
      await clickWord("charlie.", "right");
      await click("[role=menuitem]", "Remove");
      await says(/^1 word removed/);
      await click(".feedback button", "Undo");
      await shows("the text as before", ({ struck }) => struck === before);
    },
  ],
  [
    "open a removed word or a pause",
    async ({ press, click, clickWord, focusWords, shows, read, says, page }) => {
      await clickWord("delta");
      await shows("the popover", ({ popover }) => popover === "Removed words");
      for (const name of ["As cut", "With it", "Restore", "Restore all"])
        await until(name, () => page.evaluate(findBox, { selector: ".word-popover button", name }));
      await press("Escape");
      await shows("no popover", ({ popover }) => popover === "");
      await focusWords();
      await press("Enter");
      await shows("the popover", ({ popover, focus }) => popover === "Removed words" && focus !== "Words");
      await press("Escape");
      await shows("the words", ({ popover, focus }) => popover === "" && focus === "Words");
      await click(".pause-chip");
      // A pause in a removed passage opens the passage.
      await shows("the pause", ({ popover }) => /^(Pause|Removed words)$/.test(popover));
      await until("its ring", () => page.evaluate(() => document.querySelectorAll(".pause-chip.is-open").length === 1));
      await press("Escape");
      await press("Escape", "Home");
      await click("button", "All pauses");
      await focusWords();
      await press("Control+ArrowRight", "Control+ArrowRight");
      await says(/^Pause of/);
      await press("Enter");
      await shows("the details of the pause", ({ popover, focus }) => popover !== "" && focus !== "Words");
      await press("Escape");
      await click("button", "All pauses");
      expect((await read()).popover).toBe("");
    },
  ],
  [
    "restore one, or all like it",
    async ({ press, click, clickWord, says, shows, read }) => {
      const before = (await read()).struck;
      await clickWord("delta");
      await press("Backspace");
      await says(/s restored/);
      await press("Control+z");
      await clickWord("delta");
      await press("Shift+Backspace");
      await says(/^\d+ retakes? restored, [\d:.]+( s)? longer/);
      await press("Control+z");
      await clickWord("delta");
      await click(".word-popover button", "Restore all");
      await says(/^\d+ retakes? restored/);
      await press("Control+z");
      await shows("the text as before", ({ struck }) => struck === before);
    },
  ],
  [
    "filter by reason",
    async ({ press, click, shows, says }) => {
      await press("Alt+3");
      await shows("the filter", ({ filter }) => filter === "Retake");
      await press("Alt+3");
      await shows("no filter", ({ filter }) => filter === "");
      await click(".chip", "Retake");
      await shows("the filter", ({ filter }) => filter === "Retake");
      await press("ArrowDown");
      await says("Retake, ");
      await click(".chips button", "Restore all");
      await says(/^\d+ retakes? restored/);
      await press("Control+z", "Escape", "Escape");
      await shows("no filter", ({ filter }) => filter === "");
    },
  ],
  [
    "hide removed words",
    async ({ press, click, shows, says }) => {
      await press("h");
      await says("Removed words are hidden");
      await click("button", "Hide removed");
      await shows("the removed words", ({ isHiding }) => !isHiding);
    },
  ],
  [
    "review: next, previous, keep, remove",
    async ({ press, click, shows, says, read }) => {
      await press("n");
      await shows("a card", ({ card, focus }) => card !== "" && focus === "H3");
      const first = (await read()).card;
      await press("n");
      await shows("the next card", ({ card }) => card !== "" && card !== first);
      await press("Shift+n");
      await shows("the card before", ({ card }) => card === first);
      await press("Enter");
      await says(/ kept/);
      await shows("a decision", ({ checked }) => checked.startsWith("1 of"));
      await press("Control+z");
      await shows("its card again", ({ card, checked }) => card === first && checked.startsWith("0 of"));
      // Playback keys leave the keys of the card to it.
      await press("m");
      await says("Audio is off");
      await press("Backspace");
      await says(/ removed/);
      await press("Control+z", "m");
      await says("Audio is on");
      await click(".review-head button", "Next");
      await shows("the next card", ({ card }) => card !== "" && card !== first);
      await click(".review-head button", "Previous");
      await shows("the card before", ({ card }) => card === first);
      await click(".review-decisions button", "Keep");
      await says(/ kept/);
      await press("Control+z");
      await click(".review-decisions button", "Remove");
      await says(/ removed/);
      await press("Control+z", "Escape");
      await shows("no card", ({ card }) => card === "");
      await click(".review-end button", "Review");
      await shows("a card", ({ card }) => card !== "");
      await press("Escape");
      await click("[role=tab]", "Transcript");
      await click(".result-actions button", "Review");
      await shows("a card", ({ card }) => card !== "");
      await press("Escape");
    },
  ],
  [
    "the next take, and listen",
    async ({ press, halt, click, clickWord, shows, says, read }) => {
      await clickWord("delta");
      await press("Escape", "Escape");
      await click("[role=tab]", "Takes");
      const { take } = await read();
      await press("t");
      await says(/^Now take \d of 2/);
      await shows("the other take", (state) => state.take !== take);
      await halt();
      await press("t");
      await shows("the first take", (state) => state.take === take);
      await halt();
      await press("Shift+t");
      await halt();
      await click(".take-choice", take === "Take 1" ? "Take 2" : "Take 1");
      await shows("the other take", (state) => state.take !== take);
      await halt();
      await press("Control+z");
      await click(".take button", "Play take 1");
      await halt();
    },
  ],
  [
    "find, replace, and remove all hits",
    async ({ press, type, click, shows, says, read }) => {
      const before = (await read()).struck;
      await press("Control+f");
      await shows("the field", ({ focus }) => focus === "Find words");
      await type("bravo");
      await press("Alt+Enter");
      await says(/^\d × “bravo” removed, [\d.]+ s shorter/);
      await click(".feedback button", "Undo");
      await shows("the text as before", ({ struck }) => struck === before);
      await click("button", "Remove all");
      await says(/^\d × “bravo” removed/);
      await press("Control+z", "Control+h");
      await shows("the field", ({ focus }) => focus === "Find words" || focus === "Replace with");
      await click("button", "Close the search");
      await click("[type=search]");
      await type("bravo");
      await click("button", "Next match");
      await shows("a match", ({ selected }) => selected.startsWith("bravo"));
      await click("button", "Close the search");
    },
  ],
  [
    "correct words",
    async ({ press, type, click, clickWord, shows, says }) => {
      await clickWord("zulu.");
      await press("Control+ArrowRight", "F2");
      await shows("the field", ({ focus }) => focus === "INPUT" || focus === "Corrected text");
      await press("Control+a");
      await type("Alfa");
      await press("Enter");
      await says(/zulu.” is now “Alfa”/);
      await press("Control+z");
      await says(/^Undone: .* is now “Alfa”/);
      await press("Escape", "Escape");
      await clickWord("zulu.", "left", 2);
      await click(".word-popover button", "Correct");
      await shows("the field", ({ focus }) => focus === "INPUT" || focus === "Corrected text");
      await press("Escape", "Escape");
    },
  ],
  [
    "trim to the playhead",
    async ({ press, halt, says, drag, timeline, shows, read }) => {
      await press("Shift+ArrowRight", "w");
      await says("Edge moved to");
      await halt();
      await press("Control+z", "End", "q");
      await says("Edge moved to");
      await press("Control+z", "Home");
      // The join after a drag plays by itself.
      const before = (await read()).struck;
      const [x, y] = await timeline(17);
      await press("ArrowDown");
      await drag([x, y], [x + 30, y]);
      await shows("a reply", ({ pill }) => pill !== "");
      await press("Escape", "Escape", "Control+z");
      expect((await read()).struck).toBe(before);
    },
  ],
  [
    "zoom, fit",
    async ({ press, click, shows, timeline, page }) => {
      await press("=", "=");
      await shows("a part of the timeline", ({ isZoomed }) => isZoomed);
      await press("-", "Shift+z");
      await shows("the whole timeline", ({ isZoomed }) => !isZoomed);
      await click(".timeline-zoom button", "Zoom in");
      await shows("a part of the timeline", ({ isZoomed }) => isZoomed);
      await click(".timeline-zoom button", "Show the whole recording");
      await shows("the whole timeline", ({ isZoomed }) => !isZoomed);
      const [x, y] = await timeline(5);
      const wheel = (ctrlKey: boolean) =>
        page.evaluate(
          ({ ctrlKey: ctrl, clientX, clientY }: { ctrlKey: boolean; clientX: number; clientY: number }) =>
            document.querySelector(".timeline-canvas canvas")!.dispatchEvent(
              new WheelEvent("wheel", {
                deltaY: -120,
                ctrlKey: ctrl,
                clientX,
                clientY,
                bubbles: true,
                cancelable: true,
              }),
            ),
          { ctrlKey, clientX: x, clientY: y },
        );
      await wheel(false);
      await shows("the whole timeline", ({ isZoomed }) => !isZoomed);
      await wheel(true);
      await shows("a part of the timeline", ({ isZoomed }) => isZoomed);
      await press("Shift+z");
    },
  ],
  [
    "undo, redo",
    async ({ press, click, clickWord, says }) => {
      await clickWord("charlie.");
      await press("Shift+ArrowRight", "Delete");
      await says(/^1 word removed/);
      await press("Control+z");
      await says("Undone: 1 word removed");
      await press("Control+Shift+z");
      await says("Redone: 1 word removed");
      await click(".work-bar button", "Undo");
      await says("Undone: 1 word removed");
      await click(".work-bar button", "Redo");
      await says("Redone: 1 word removed");
      await press("Control+z");
    },
  ],
  [
    "the list of actions, and menus at what is pressed",
    async ({ press, click, clickWord, focusWords, shows, timeline, pressAt, openMenuByKey }) => {
      await press("Control+k");
      await shows("the list", ({ focus }) => focus !== "BODY");
      await press("Escape");
      await focusWords();
      await press("Control+ArrowRight");
      await openMenuByKey();
      await shows("the menu", ({ menu }) => menu.includes("Restore") && menu.includes("Correct"));
      await press("ArrowDown", "Escape");
      await shows("no menu", ({ menu, focus }) => menu === "" && focus === "Words");
      await clickWord("delta", "right");
      await shows("the menu", ({ menu }) => menu.includes("Restore all"));
      await press("Escape", "Escape");
      await pressAt(...(await timeline(10)), "right");
      await shows("the menu", ({ menu }) => menu.includes("Mark the start of a range"));
      await press("Escape", "Escape");
      await click("[role=tab]", "Takes");
      await click(".take-choice", "Take 1", "right");
      await shows("the menu", ({ menu }) => menu.includes("Play this take in place"));
      await press("Escape");
    },
  ],
  [
    "the name of the recording",
    async ({ click, press, type, shows, says, locate, pressAt }) => {
      const { x, y, width, height } = await locate(".work-bar h1");
      await pressAt(x + width / 2, y + height / 2, "left", 2);
      await shows("the field", ({ focus }) => focus === "Name of the recording");
      await press("Control+a");
      await type("Keynote");
      await press("Enter");
      await says("Renamed");
      await locate(".work-bar h1", "Keynote");
      await click("[role=tab]", "Transcript");
    },
  ],
];
