/**
 * The states of the editor in which axe-core finds nothing, on the page of a cut with takes. Chromium and Firefox pass
 * through the same.
 */
import { expect } from "bun:test";
import { type Drive, driveRows, type RowPage } from "./action-driver";
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
  async ({ press, click, locate }: Drive) => {
    await (keys === null ? click(".work-bar > .button", name) : press(keys));
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
    async ({ click, locate }) => {
      await click(".transcript-text s");
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

/** Opens each state, and examines it in both themes. */
export async function expectAccessibleStates(page: RowPage): Promise<void> {
  const drive = driveRows(page);
  await drive.locate(".transcript-text s");
  for (const [name, open] of STATES) {
    await drive.reset();
    await open(drive);
    expect([name, ...(await findBrokenRules(page))]).toEqual([name]);
  }
}
