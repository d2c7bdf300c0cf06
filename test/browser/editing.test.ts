/** A real browser: editing with the keyboard after the pointer, and its feedback. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { readPlan } from "../../web/editor/model/plan";
import { isWordKept, readWords } from "../../web/editor/model/words";
import type { Client } from "../http/client";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { tabTo } from "./keys";
import { createStudioAsset, type StudioAsset } from "./studio";

const { address, browse, open, server } = useDashboard();

let user: Client;
let asset: StudioAsset;
beforeAll(async () => {
  user = await server().user();
  asset = await createStudioAsset(user);
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const struck = (page: Page) => page.getByRole("group", { name: "Words" }).locator("s").allTextContents();
const feedback = (page: Page, text: string | RegExp) => page.locator(".feedback").getByText(text).waitFor();
const readHighlight = (page: Page, name: string) =>
  page.evaluate((key) => {
    const [range] = CSS.highlights.get(key) ?? [];
    return range?.toString() ?? null;
  }, `transcript-${name}`);
const untilSelected = (page: Page, text: string) =>
  until(`"${text}" to be selected`, async () => (await readHighlight(page, "selected")) === text);

/** Returns the luma of the darkest pixel of the selected words, from 0 to 255. */
async function findDarkestPixel(page: Page): Promise<number> {
  const clip = await page.evaluate(() => {
    const { x, y, width, height } = document.getSelection()!.getRangeAt(0).getBoundingClientRect();
    return { x, y, width, height };
  });
  const picture = [...(await page.screenshot({ clip }))];
  return page.evaluate(async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(bytes)], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d")!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const lumas = Array.from({ length: data.length / 4 }, (_, n) => {
      const [r, g, b] = [data[n * 4]!, data[n * 4 + 1]!, data[n * 4 + 2]!];
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    });
    return Math.min(...lumas);
  }, picture);
}

async function openStudio(cutId: string): Promise<Page> {
  const page = await open(`/assets/${asset.id}?cut=${cutId}`, user);
  await button(page, "Save").waitFor();
  return page;
}
const untilPlaying = (page: Page, isPlaying: boolean) =>
  until(isPlaying ? "playback" : "a pause", async () => (await button(page, isPlaying ? "Pause" : "Play").count()) > 0);

test("Space, J, K and L belong to playback wherever the focus is, and text fields keep them", async () => {
  const page = await openStudio(asset.takesCutId);
  const { keyboard } = page;
  await page
    .locator(".transport")
    .getByRole("button", { name: /^(Play|Pause)$/ })
    .click();
  await untilPlaying(page, true);
  await keyboard.press("k");
  await untilPlaying(page, false);
  await page.getByLabel("Find words").fill("alpha");
  await button(page, "Close the search").click();
  await button(page, "Hide removed").click();
  await keyboard.press("Space");
  await untilPlaying(page, true);
  expect(await page.locator(".hides-removed").count()).toBe(1);
  await keyboard.press("Space");
  await untilPlaying(page, false);

  const speed = page.getByRole("button", { name: /^Speed/ });
  await speed.click();
  await keyboard.press("Escape");
  await keyboard.press("l");
  await untilPlaying(page, true);
  await keyboard.press("l");
  await until("the speed", async () => (await speed.textContent()) === "1.5×");
  await keyboard.press("k");
  await untilPlaying(page, false);
  await page.getByRole("tab", { name: "Takes" }).click();
  // The take plays in place.
  await page.getByRole("radio", { name: "Take 1" }).click();
  await untilPlaying(page, true);
  await keyboard.press("k");
  await untilPlaying(page, false);
  await page.getByRole("tab", { name: "Transcript" }).click();

  await tabTo(page, "Hide removed", "Shift+Tab");
  await keyboard.press("Space");
  await untilPlaying(page, true);
  expect(await page.locator(".hides-removed").count()).toBe(1);
  await keyboard.press("k");
  await untilPlaying(page, false);
  await keyboard.press("Enter");
  expect(await page.locator(".hides-removed").count()).toBe(0);
  await tabTo(page, "Find words", "Shift+Tab");
  await keyboard.type("jkl c");
  expect(await page.getByLabel("Find words").inputValue()).toBe("jkl c");
  await keyboard.press("Escape");
  expect(await button(page, "Pause").count()).toBe(0);
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  // A choice keeps the arrows, not the letters of its options.
  await tabTo(page, "Compare with");
  await keyboard.press("l");
  await untilPlaying(page, true);
  expect(await page.getByLabel("Compare with").inputValue()).toBe("");
  await keyboard.press("ArrowDown");
  expect(await page.getByLabel("Compare with").inputValue()).toBe(asset.reviewCutId);
});

test("the effect of a key, or the reason for none, is shown", async () => {
  const page = await openStudio(asset.reviewCutId);
  const { keyboard } = page;
  await page.getByRole("heading", { level: 1 }).click();
  await keyboard.press("Delete");
  await feedback(page, "Nothing selected. Select words first.");
  const box = (await page.locator(".feedback").boundingBox())!;
  const { width, height } = page.viewportSize()!;
  expect([box.x >= 0, box.x + box.width <= width, box.y + box.height <= height]).toEqual([true, true, true]);
  await keyboard.press("t");
  await feedback(page, "This line has only one take");
  await keyboard.press("End");
  await keyboard.press("ArrowDown");
  await feedback(page, "No removal after the playhead");
  await page.getByRole("group", { name: "Words" }).focus();
  await keyboard.press("Home");
  await keyboard.press("Control+ArrowRight");
  // Selecting begins at the played word, whose text has a color for another background.
  expect(await findDarkestPixel(page)).toBeLessThan(100);
  await keyboard.press("Delete");
  await feedback(page, "1 word removed");
  await keyboard.press("Control+z");
  await feedback(page, "Undone: 1 word removed");
});

test("the search opens from anywhere, and the list of keys has those of the words", async () => {
  const page = await openStudio(asset.takesCutId);
  await page
    .locator(".transport")
    .getByRole("button", { name: /^(Play|Pause)$/ })
    .focus();
  for (const _ of ["from elsewhere", "from the field"]) {
    await page.keyboard.press("Control+f");
    await page.locator("input[type=search]:focus").waitFor();
  }
  await page.keyboard.type("alpha");
  const background = (part: string) => page.locator(part).evaluate((one) => getComputedStyle(one).backgroundColor);
  expect(await background(".find-edits [aria-pressed=true]")).not.toBe(await background(".find-bar"));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  for (const label of ["Find words", "Select a word; with Shift, more words", "Correct the selected words"])
    await help.getByText(label, { exact: true }).waitFor();
  const groups = await help.getByRole("heading", { level: 3 }).allTextContents();
  expect([groups[0], groups.at(-1)]).toEqual(["Playback", "Everywhere"]);
});

test("playback keys show that playback is not ready, and the audio is shown already", async () => {
  const page = await (await browse(user)).newPage();
  const media = await user.must<object>("GET", `/api/v1/assets/${asset.id}/media`);
  await page.route("**/api/v1/assets/*/media", (route) =>
    route.fulfill({ json: { ...media, is_preview_ready: false, is_playable: false } }),
  );
  const waveform = page.waitForResponse((response) => response.url().includes("/waveform") && response.ok());
  await page.goto(address(`/assets/${asset.id}`));
  await button(page, "Save").waitFor();
  await waveform;
  for (const key of ["Space", "l", "j"]) {
    await page.keyboard.press("c");
    await feedback(page, /^Playing the/);
    await page.keyboard.press(key);
    await feedback(page, "Playback is not ready yet");
  }
});

test("each join and each mark shows its first word as played, and the keys select from the playhead", async () => {
  const page = await openStudio(asset.reviewCutId);
  const { keyboard } = page;
  const { plan } = await user.must<{ plan: Parameters<typeof readPlan>[0] }>("GET", `/v1/cuts/${asset.reviewCutId}`);
  const words = readWords(await user.must("GET", `/api/v1/assets/${asset.id}/transcript`));
  await page.getByRole("heading", { level: 1 }).click();
  const edited = readPlan(plan);
  const kept = edited.spans.filter(({ isKept, start }) => isKept && start > 0);
  const first = kept.map(
    ({ start }) => words.text[words.start.findIndex((_, n) => isWordKept(edited, words, n) && words.end[n]! > start)],
  );
  for (const word of first) {
    await keyboard.press("ArrowDown");
    await until(`"${word}"`, async () => (await readHighlight(page, "played")) === word);
  }
  await page.getByRole("group", { name: "Words" }).focus();
  await keyboard.press("Control+ArrowRight");
  await untilSelected(page, first.at(-1)!);
  await keyboard.press("Control+Shift+ArrowRight");
  for (const _ of ["popover", "selection"]) await keyboard.press("Escape");
  await keyboard.press("Home");
  await keyboard.press("Control+ArrowLeft");
  await untilSelected(page, words.text[0]!);
});

test("each press of ↓ continues to the next join, also before the player has carried out the one before", async () => {
  const page = await (await browse(user)).newPage();
  // From then on, nothing is removed from a buffer before the end of the test.
  await page.addInitScript(() => {
    const { remove } = SourceBuffer.prototype;
    SourceBuffer.prototype.remove = function (start, end) {
      if ("isSlow" in window) Object.defineProperty(this, "updating", { value: true });
      else remove.call(this, start, end);
    };
  });
  await page.goto(address(`/assets/${asset.id}?cut=${asset.reviewCutId}`));
  await button(page, "Save").waitFor();
  const { keyboard } = page;
  const { plan } = await user.must<{ plan: Parameters<typeof readPlan>[0] }>("GET", `/v1/cuts/${asset.reviewCutId}`);
  const joins = readPlan(plan).spans.filter(({ isKept, start }) => isKept && start > 0);
  await until("data", () => page.evaluate(() => document.querySelector("video")!.readyState === 4));
  await page.getByRole("heading", { level: 1 }).click();
  // Two changes of the cut, which wait for the buffer.
  await keyboard.press("ArrowDown");
  await page.evaluate(() => Object.assign(window, { isSlow: true }));
  await keyboard.press("Delete");
  await feedback(page, /restored/);
  await keyboard.press("Control+z");
  await feedback(page, /^Undone/);
  const playhead = page.getByRole("slider", { name: "Playhead" });
  for (const { start } of joins.slice(1)) {
    await keyboard.press("ArrowDown");
    await page.evaluate(() => document.querySelector("video")!.dispatchEvent(new Event("timeupdate")));
    const expected = String(Math.round(start / 1e6));
    await until(`the join at ${expected} s`, async () => (await playhead.getAttribute("aria-valuenow")) === expected);
  }
});

test("a removed word explains itself, and reasons, matches and words are changed together", async () => {
  const page = await openStudio(asset.takesCutId);
  const { keyboard } = page;
  const before = await struck(page);
  const words = page.getByRole("group", { name: "Words" });
  await words.locator("s").first().click();
  const popover = page.getByRole("group", { name: "Removed words" });
  await popover.getByRole("button", { name: "With it" }).waitFor();
  await popover.getByRole("button", { name: /^Restore ⌫/ }).click();
  await feedback(page, /restored$/);
  expect(await popover.count()).toBe(0);
  await button(page, "Undo").click();
  await until("the removed words", async () => (await struck(page)).length === before.length);

  await keyboard.press("Alt+3");
  await page.getByRole("button", { name: /^Retake/, pressed: true }).waitFor();
  await page.getByRole("button", { name: /^Restore all \d+ retake/ }).click();
  await feedback(page, /retakes? restored, .* longer$/);
  await button(page, "Remove all again").click();
  await feedback(page, /retakes? removed, .* shorter$/);
  await button(page, "Undo").click();
  await button(page, "Undo").click();
  await until("the text as before", async () => (await struck(page)).join() === before.join());
  await keyboard.press("Escape");
  await until(
    "all reasons",
    async () => (await page.getByRole("button", { name: /^Retake/, pressed: true }).count()) === 0,
  );

  await keyboard.press("Control+f");
  await keyboard.type("bravo");
  await keyboard.press("Alt+Enter");
  await feedback(page, /^\d × “bravo” removed, .* shorter$/);
  // The field has the focus, but the last change was that of the page.
  await keyboard.press("Control+z");
  await feedback(page, /^Undone: Remove \d × “bravo”$/);
  await keyboard.press("Control+y");
  await feedback(page, /^Redone: Remove \d × “bravo”$/);
  await page.getByLabel("Find words").fill("no such words");
  await keyboard.press("Alt+Enter");
  await feedback(page, /^No matches/);
  await keyboard.press("Control+z");
  expect(await button(page, "Redo").isDisabled()).toBe(true);
  await keyboard.press("Control+h");
  await keyboard.type("delta");
  await page.getByLabel("Replace with").fill("Delta-Werk");
  await keyboard.press("Enter");
  await feedback(page, /“delta” is now “Delta-Werk”$/);
  expect(await words.textContent()).not.toContain("delta");
  await keyboard.press("Control+z");
  await until("the word as before", async () => (await words.textContent())!.includes("delta"));
  await button(page, "Close the search").click();

  const other = await openStudio(asset.reviewCutId);
  const timeOf = () => other.locator(".source-time").textContent();
  const time = await timeOf();
  await other.locator(".pause-chip.removed").first().click();
  await until("the playhead at the pause", async () => (await timeOf()) !== time);
  const pause = other.getByRole("group", { name: "Pause", exact: true });
  // They would interrupt a screen reader in each line, unless they are wanted.
  const read = other.getByRole("img", { name: /^Pause of .*, removed/ });
  expect(await read.count()).toBe(0);
  for (const [name, isRead] of [
    ["All pauses", true],
    ["Hide removed", false],
  ] as const) {
    await button(other, name).click();
    await until(name, async () => (await read.count()) > 0 === isRead);
  }
  for (const name of ["Hide removed", "All pauses"]) await button(other, name).click();
  await other.locator(".pause-chip.removed").first().click();
  for (const name of ["As cut", "With it", /^Restore ⌫/, /^Restore all \d+ pauses/])
    await pause.getByRole("button", { name }).waitFor();
  await pause.getByLabel(/^Leave/).fill("0.2");
  await pause.getByRole("button", { name: "Apply" }).click();
  await feedback(other, "Pause is 0.2 s long");
});

test("a second press selects a removed word low in the text, which the details of the first do not cover", async () => {
  const page = await openStudio(asset.takesCutId);
  const word = page.getByRole("group", { name: "Words" }).locator("s").last();
  const text = (await word.textContent())!.trim().split(" ")[0]!;
  const view = (await page.locator(".transcript-scroller").boundingBox())!;
  const line = (await word.boundingBox())!;
  const space = Math.floor(view.y + view.height - line.y - line.height - 8);
  await page.locator(".transcript-text").evaluate((element: HTMLElement, size) => {
    element.style.paddingTop = `${size}px`;
  }, space);
  const { x, y } = (await word.boundingBox())!;
  await page.mouse.click(x + 10, y + 10);
  const details = page.getByRole("group", { name: "Removed words" });
  await details.waitFor();
  const box = (await details.boundingBox())!;
  expect(box.y + box.height).toBeLessThanOrEqual(y);
  expect(box.y).toBeGreaterThan(view.y);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await untilSelected(page, text);
});
