/** The states of the editor for pictures, and how a page is brought into them. */
import type { Page } from "playwright-core";
import type { Drive } from "./action-driver";

/** A page, the recordings and cuts by name, and a second browser of the same user. */
export type Stage = Drive & {
  shown: Page;
  ids: Record<string, string>;
  openOther(): Promise<Page>;
  readMedia(): Promise<object>;
};

/** `of`: the name of a recording, and of a cut of it. `open` brings the page into the state. */
export type PictureState = { name: string; of?: string; open?: (stage: Stage) => Promise<unknown>; keepsHints?: true };

const openTab = (name: string) => async (drive: Drive) => {
  await drive.click("[role=tab]", name);
  await drive.locate(`#panel-${name.toLowerCase()}`);
};
const openMenuItem =
  (name: string) =>
  async ({ locate, click, shown }: Stage) => {
    const button = shown.locator(".work-bar").getByRole("button", { name, exact: true });
    if (await button.isVisible()) await button.click();
    else {
      await shown.locator(".work-bar").getByRole("button", { name: "More" }).click();
      await click("[role=menuitem]", name);
    }
    await locate("dialog[open]");
  };
const select = async ({ focusWords, press, shows }: Drive) => {
  await focusWords();
  for (let n = 0; n < 12; n++) await press("Control+ArrowRight");
  await press("Control+Shift+ArrowRight", "Control+Shift+ArrowRight", "Control+Shift+ArrowRight");
  await shows("words", ({ selected }) => selected.split(" ").length > 2);
};
export const PICTURE_STATES: PictureState[] = [
  { name: "cut" },
  { name: "hints", keepsHints: true },
  { name: "selection", open: select },
  {
    name: "removed-word",
    open: async ({ click, locate }) => {
      await click(".transcript-text s");
      await locate(".word-popover");
    },
  },
  {
    name: "pause",
    open: async ({ click, locate }) => {
      await click(".pause-chip");
      await locate(".word-popover");
    },
  },
  {
    name: "corrects",
    open: async (drive) => {
      await select(drive);
      await drive.press("F2");
      await drive.locate("[aria-label='Correct words']");
    },
  },
  {
    name: "removed",
    open: async (drive) => {
      await select(drive);
      await drive.press("Delete");
      await drive.says(/removed/);
    },
  },
  {
    name: "nothing-selected",
    open: async ({ press, says }) => {
      await press("Delete");
      await says("Nothing selected");
    },
  },
  {
    name: "review-card",
    open: async ({ press, locate }) => {
      await press("n");
      await locate(".review-card");
      await press("k");
    },
  },
  {
    name: "review-second",
    open: async ({ press, locate, shown }) => {
      await press("n");
      await locate(".review-card");
      await press("Enter");
      await shown.waitForTimeout(600);
      await press("k");
    },
  },
  { name: "review-tab", open: openTab("Review") },
  {
    name: "review-end",
    open: async ({ press, locate, shown }) => {
      await press("n");
      for (let n = 0; n < 20 && (await shown.locator(".review-card").count()) > 0; n++) {
        await press("Enter");
        await shown.waitForTimeout(250);
      }
      await locate(".review-end");
    },
  },
  { name: "takes", open: openTab("Takes") },
  { name: "nothing-to-review", of: "audio byHand", open: openTab("Review") },
  { name: "takes-none", of: "german", open: openTab("Takes") },
  { name: "script", open: openTab("Script") },
  {
    name: "compare",
    open: async (drive) => {
      await openTab("Script")(drive);
      await drive.shown.getByLabel("Compare with").selectOption(drive.ids.checked!);
      await drive.shown.getByRole("list", { name: "Differences" }).scrollIntoViewIfNeeded();
    },
  },
  { name: "renders-none", of: "portrait", open: openTab("Renders") },
  { name: "renders", open: openTab("Renders") },
  {
    name: "pacing",
    open: async ({ press, locate }) => {
      await press("p");
      await locate(".pacing");
    },
  },
  {
    name: "find",
    open: async ({ press, type, locate }) => {
      await press("Control+h");
      await type("the");
      await locate("button", "Next match");
    },
  },
  { name: "filter", open: ({ press }) => press("Alt+2") },
  { name: "hidden", open: ({ press }) => press("h") },
  {
    name: "collapsed",
    open: async ({ shown, click }) => {
      const more = shown.locator(".work-bar").getByRole("button", { name: "More" });
      if (!(await more.isVisible())) return shown.getByLabel("Collapse removed").first().dispatchEvent("click");
      await more.click();
      return click("[role=menuitemcheckbox]", "Collapse removed");
    },
  },
  {
    name: "cut-menu",
    open: async ({ click, locate }) => {
      await click(".cut-name");
      await locate("[role=menu]");
    },
  },
  {
    name: "more-menu",
    open: async ({ shown }) => {
      const more = shown.locator(".work-bar").getByRole("button", { name: "More" });
      if (await more.isVisible()) await more.click();
    },
  },
  { name: "render", open: openMenuItem("Render") },
  { name: "export", open: openMenuItem("Export") },
  { name: "share", open: openMenuItem("Share") },
  {
    name: "context-menu",
    open: async ({ clickWord, locate }) => {
      await clickWord("actually", "right");
      await locate(".context-menu");
    },
  },
  {
    name: "palette",
    open: async ({ press, type, locate }) => {
      await press("Control+k");
      await locate("dialog[open]");
      await type("re");
    },
  },
  {
    name: "keys",
    open: async ({ press, locate }) => {
      await press("?");
      await locate("dialog[open]");
    },
  },
  {
    name: "offline",
    open: async (drive) => {
      await drive.shown.context().setOffline(true);
      await drive.shown.getByText("Reconnecting").waitFor();
      await select(drive);
      await drive.press("Delete");
      await drive.shown.locator(".save-state").getByText("Offline, kept").waitFor();
    },
  },
  {
    name: "conflict",
    open: async ({ shown, ...drive }) => {
      const correct = async (page: Page, text: string) => {
        await page.getByRole("group", { name: "Words" }).focus();
        for (const key of ["Home", "Control+Shift+ArrowRight", "F2"]) await page.keyboard.press(key);
        await page.getByRole("form", { name: "Correct words" }).waitFor();
        await page.keyboard.type(text);
        await page.keyboard.press("Enter");
        await page.locator(".transcript-text").getByText(text).first().waitFor();
      };
      await shown.context().setOffline(true);
      await correct(shown, `Well ${Math.random()}`);
      const page = await drive.openOther();
      await correct(page, `Now ${Math.random()}`);
      await page.locator(".save-state [data-draft]").waitFor();
      await page.context().close();
      await shown.context().setOffline(false);
      await drive.locate("button", "Use the other edits");
    },
  },
  {
    name: "no-preview",
    open: async ({ shown, readMedia }) => {
      const media = await readMedia();
      const waits = { is_preview_ready: false, is_playable: false, wait: { position: 3, seconds: 120 } };
      await shown.route("**/media", (route) => route.fulfill({ json: { ...media, ...waits } }));
      await shown.reload();
      await shown
        .getByText(/Playback is ready in about 2 minutes \(3rd in line\)/)
        .first()
        .waitFor({ timeout: 5_000 });
    },
  },
  { name: "audio", of: "audio" },
  { name: "portrait", of: "portrait" },
  { name: "no-cut", of: "uncut" },
  { name: "german", of: "german" },
  { name: "no-audio", of: "silent" },
  { name: "no-speech", of: "quiet" },
  { name: "no-model", of: "unknown" },
  {
    name: "deleted-cut",
    open: async ({ shown }) => {
      await shown.goto(`${shown.url().split("?")[0]}?cut=${crypto.randomUUID()}`);
      await shown.getByRole("group", { name: "Words" }).waitFor();
    },
  },
  {
    name: "loading",
    open: async ({ shown }) => {
      await shown.route("**/api/v1/cuts?*", () => {});
      await shown.reload();
      await shown.locator(".is-loading").waitFor();
    },
  },
];
