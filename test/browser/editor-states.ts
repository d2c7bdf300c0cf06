/**
 * The states of the editor in which axe-core finds nothing, on the page of a cut with takes. Chromium and Firefox pass
 * through the same.
 */
import { expect } from "bun:test";
import { type Drive, driveRows, findBox, type RowPage } from "./action-driver";
import { findBrokenRules } from "./axe";

type EditorState = [name: string, open: (drive: Drive) => Promise<unknown>];

const openTab =
  (name: string) =>
  async ({ click, locate }: Drive) => {
    await click("[role=tab]", name);
    await locate(`#panel-${name.toLowerCase()}`);
  };
const openDialog =
  (keys: string | null, name = "") =>
  async ({ page, press, click, locate }: Drive) => {
    if (keys !== null) await press(keys);
    else if (await page.evaluate(findBox, { selector: ".work-bar > .button", name }))
      await click(".work-bar > .button", name);
    else {
      // A narrow bar has it in its menu.
      await click(".work-bar button", "More");
      await click("[role=menuitem]", name);
    }
    await locate("dialog[open]");
  };

const STATES: readonly EditorState[] = [
  ["a cut", async () => {}],
  [
    "selected words",
    async ({ focusWords, press, shows }) => {
      await focusWords();
      await press("Shift+ArrowRight", "Shift+ArrowRight");
      await shows("two words", ({ selected }) => selected.split(" ").length === 2);
    },
  ],
  [
    "the details of removed words",
    async ({ clickWord, locate }) => {
      // In a low window, the feedback covers the first words for a while.
      await clickWord("delta");
      await locate(".word-popover");
    },
  ],
  [
    "a review",
    async ({ press, locate }) => {
      await press("n");
      await locate(".review-card");
    },
  ],
  ["the takes", openTab("Takes")],
  ["the script", openTab("Script")],
  ["the renders", openTab("Renders")],
  [
    "the pacing",
    async ({ press, locate }) => {
      await press("p");
      await locate(".pacing");
    },
  ],
  [
    "a search",
    async ({ press, type, locate }) => {
      await press("Control+f");
      await type("alpha");
      await locate("button", "Next match");
    },
  ],
  [
    "the menu of the cut",
    async ({ click, locate }) => {
      await click(".cut-name");
      await locate("[role=menu]");
    },
  ],
  ["the settings of a render", openDialog(null, "Render")],
  ["the exports", openDialog(null, "Export")],
  ["the search", openDialog("Control+k")],
  ["the keys", openDialog("?")],
];

/** Opens each state, and examines it. `examine` returns what is wrong. */
async function examineStates(page: RowPage, examine: () => Promise<string[]>): Promise<void> {
  const drive = driveRows(page);
  await drive.locate(".transcript-text s");
  for (const [name, open] of STATES) {
    await drive.reset();
    await open(drive);
    expect([name, ...(await examine())]).toEqual([name]);
  }
}

/** Examines each state with axe-core, in both themes. */
export const expectAccessibleStates = (page: RowPage): Promise<void> =>
  examineStates(page, () => findBrokenRules(page));

/** Lists elements that change gradually, and the width of a page that scrolls sideways. */
function findMovingOrWide(): string[] {
  // The styles leave a millisecond, so that the events of its end come.
  const isLong = (durations: string) => durations.split(", ").some((one) => Number.parseFloat(one) > 0.001);
  const found: string[] = [];
  for (const element of document.querySelectorAll("body *"))
    for (const part of [null, "::before", "::after"]) {
      const { transitionDuration, animationName, animationDuration } = getComputedStyle(element, part);
      if (isLong(transitionDuration) || (animationName !== "none" && isLong(animationDuration)))
        found.push(`moves: ${element.tagName}.${element.className}${part ?? ""}`);
    }
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`${scrollWidth} px wide in a window of ${clientWidth} px`);
  return [...new Set(found)];
}

/** Fails for a state in which something moves, or which scrolls sideways. */
export const expectStillStates = (page: RowPage): Promise<void> =>
  examineStates(page, () => page.evaluate(findMovingOrWide));
