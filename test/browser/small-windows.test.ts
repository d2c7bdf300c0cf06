/** A real browser: low windows, as at 200% zoom, phones and tablets. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { makeMedia, wav } from "../http/media";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { expectFailures, open, server } = useDashboard();
const LOW = { viewport: { width: 680, height: 425 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const TABLET = { viewport: { width: 820, height: 1180 }, hasTouch: true, isMobile: true };

const measure = async (page: Page, selector: string) => {
  const { x, y, width, height } = (await page.locator(selector).first().boundingBox())!;
  return { left: x, top: y, right: x + width, bottom: y + height };
};

/** A recording with more words than a window shows. */
async function createLongAsset() {
  const user = await server().user();
  const { id } = await user.ready(await wav(300));
  const cut = await user.cutEnded((await user.startCut({ asset_id: id, options: { remove_retakes: false } })).id);
  return { user, path: `/assets/${id}?cut=${cut.id}` };
}

test("a low window opens with words, the playback and the state of the edits, and explains words beside them", async () => {
  const { user, path } = await createLongAsset();
  const page = await open(path, user, LOW);
  await page.locator(".transcript-text").getByText("bravo").first().waitFor();
  const [words, dock] = [
    await measure(page, ".transcript-paragraph, .transcript-section > p"),
    await measure(page, ".dock"),
  ];
  expect(dock.top - words.top).toBeGreaterThan(100);
  expect(await page.locator(".save-state").textContent()).toMatch(/^Saved /);
  const timeline = await measure(page, ".timeline-canvas");
  expect(timeline.bottom).toBeLessThanOrEqual(dock.top + 8);
  expect(timeline.right).toBeLessThanOrEqual(words.left);
  // Captions have two lines of 21 pixels.
  const [envelope, caption] = [await measure(page, ".envelope"), await measure(page, ".caption")];
  expect(envelope.bottom).toBeLessThanOrEqual(caption.bottom - 2 * 21);

  // The picture and the timeline stay while the page scrolls.
  await page.evaluate(() => scrollTo(0, 600));
  const [view, shown] = [await measure(page, ".view"), await measure(page, ".timeline-canvas")];
  expect([view.top, shown.top > view.bottom, shown.bottom <= dock.top]).toEqual([48, true, true]);

  await page.getByLabel("Find words").fill("alpha");
  await page.keyboard.press("Alt+Enter");
  await page.getByRole("button", { name: "Close the search" }).click();
  await page.locator(".transcript-text s").nth(1).click();
  const details = await measure(page, ".word-popover");
  expect([details.top >= 48, details.bottom <= dock.top, details.right <= words.left]).toEqual([true, true, true]);
  await page.keyboard.press("Escape");

  await page.keyboard.press("F2");
  const form = page.getByRole("form", { name: "Correct words" });
  await form.waitFor();
  const field = await measure(page, "form.word-popover");
  expect([field.top >= 48, field.bottom <= dock.top]).toEqual([true, true]);
  await page.keyboard.press("Escape");
  await expectAccessible(page);

  // 400%.
  await page.setViewportSize({ width: 340, height: 212 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(340);
});

test("on a phone, the transcript scrolls with the page, which follows playback and stays at the timeline", async () => {
  const { user, path } = await createLongAsset();
  const page = await open(path, user, PHONE);
  await page.locator(".transcript-text").getByText("bravo").first().waitFor();
  const scrollers = () =>
    page.evaluate(
      () =>
        [...document.querySelectorAll(".side, .side *")].filter(
          (one) => one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY),
        ).length,
    );
  expect(await scrollers()).toBe(0);

  const scrolled = () => page.evaluate(() => scrollY);
  await page.locator(".dock").getByRole("button", { name: "Play", exact: true }).tap();
  const playhead = page.getByRole("slider", { name: "Playhead" });
  await playhead.focus();
  // 10 s each, which is almost a line.
  for (let line = 0; line < 6; line++) await page.keyboard.press("PageUp");
  await until("the page to follow the words", async () => (await scrolled()) > 100);
  await page.locator(".dock").getByRole("button", { name: "Pause" }).tap();

  // A press on the timeline goes to a far word. The page stays.
  await until("the head of the page, once scrolling has ended", async () => {
    await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
    return (await scrolled()) === 0;
  });
  const timeline = await measure(page, ".timeline-canvas");
  const before = Number(await playhead.getAttribute("aria-valuenow"));
  await page.touchscreen.tap(timeline.right - 20, timeline.bottom - 10);
  await until("the playhead to move", async () => Number(await playhead.getAttribute("aria-valuenow")) !== before);
  expect(await scrolled()).toBeLessThan(20);

  // The search stays below the picture, and the match is below it.
  await page.getByLabel("Find words").fill("india");
  const next = page.getByRole("button", { name: "Next match" });
  const findPlace = () =>
    page.evaluate(() => {
      const [range] = CSS.highlights.get("transcript-selected") ?? [];
      return range ? (range as Range).getBoundingClientRect().top : null;
    });
  for (let n = 0; n < 5; n++) await next.tap();
  await until("the match below the search", async () => {
    const [place, bar, view] = [await findPlace(), await measure(page, ".find-bar"), await measure(page, ".view")];
    const isBelow = place !== null && place >= bar.bottom && place < 844 - 64;
    return (await scrolled()) > 300 && Math.abs(bar.top - view.bottom) < 1 && isBelow;
  });

  // Another tab is below the picture, and the text is where it was.
  await page.getByRole("button", { name: "Close the search" }).tap();
  const read = await scrolled();
  await page.getByRole("tab", { name: "Takes" }).dispatchEvent("click");
  await page.locator(".of-takes").waitFor();
  await page.getByRole("tab", { name: "Transcript" }).dispatchEvent("click");
  await until("the place in the text", async () => Math.abs((await scrolled()) - read) < 2);
});

test.each([
  ["a phone", PHONE],
  ["a tablet", TABLET],
  ["a low tablet", { viewport: { width: 768, height: 900 } }],
  ["a low window", LOW],
] as const)("the pacing leaves the new length and the first words visible on %s", async (name, options) => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user, options);
  await page.getByRole("button", { name: "Pacing" }).click();
  await page.getByRole("slider", { name: "Cut pauses longer than" }).waitFor();
  const [panel, words] = [
    await measure(page, ".pacing"),
    await measure(page, ".transcript-paragraph, .transcript-section > p"),
  ];
  const result = await measure(page, ".headline .result");
  expect(result.bottom).toBeLessThanOrEqual(panel.top);
  const isBeside = name === "a low window";
  const isTablet = name.endsWith("tablet");
  if (isBeside) expect(panel.right).toBeLessThanOrEqual(words.left);
  else if (name === "a phone") expect(words.top + 29).toBeLessThan(panel.top);
  else expect(words.top).toBeGreaterThan(panel.bottom);
  expect(words.top + 29).toBeLessThan(options.viewport.height - (isTablet ? 0 : 64));
  const foot = await measure(page, ".pacing-foot");
  for (const slider of ["Cut pauses longer than", ...(isTablet ? ["Leave before and after words"] : [])]) {
    const { y, height } = (await page.getByRole("slider", { name: slider }).boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(foot.top);
  }
  expect(await page.getByRole("checkbox", { name: "Collapse removed" }).isVisible()).toBe(isTablet);
  await expectAccessible(page);
});

test("the dock of a phone shows how far the review is, and skips places", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.reviewCutId}`, user, PHONE);
  const dock = page.locator(".dock");
  await dock.getByRole("button", { name: /^Review/ }).tap();
  const card = page.locator(".review-card");
  const first = await card.textContent();
  await dock.getByText(/^0 of \d+ checked$/).waitFor();
  await dock.getByRole("button", { name: "Skip" }).tap();
  await until("the next place", async () => (await card.textContent()) !== first);
  await card.getByRole("button", { name: "Keep" }).tap();
  await dock.getByText(/^1 of \d+ checked$/).waitFor();
  await dock.getByRole("button", { name: "Leave the review" }).tap();
  await dock.getByRole("button", { name: "Play" }).waitFor();
});

test("the buttons of an upright picture are beside it on a phone", async () => {
  const user = await server().user();
  const source = ["-f", "lavfi", "-t", "2", "-i", "testsrc=size=180x320:rate=10"];
  const bytes = await makeMedia(
    "upright.mp4",
    ...source,
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    "-pix_fmt",
    "yuv420p",
  );
  const { id } = await user.ready(bytes, { filename: "upright.mp4" });
  const page = await open(`/assets/${id}`, user, PHONE);
  await page.getByRole("button", { name: "Full screen" }).waitFor();
  const [picture, tools] = [await measure(page, ".picture"), await measure(page, ".picture-tools")];
  expect([tools.left >= picture.right, tools.right <= 390]).toEqual([true, true]);
});

test("low windows show the first action of a newcomer, and the filters of a tablet's library are in one row", async () => {
  const user = await server().user();
  const first = await open("/projects", user, LOW);
  await first.getByRole("button", { name: "Choose files" }).waitFor();
  const [action, navigation] = [await measure(first, ".first-actions"), await measure(first, ".shell-nav")];
  expect(action.bottom).toBeLessThanOrEqual(navigation.top);

  const asset = await createStudioAsset(user);
  const { project_id: projectId } = await user.asset(asset.id);
  const library = await open(`/projects/${projectId}`, user, TABLET);
  const buttons = library.locator(".library-bar").getByRole("button", { name: "List" });
  await buttons.tap();
  await library.getByRole("button", { name: "Columns" }).waitFor();
  const bar = await measure(library, ".library-bar");
  expect(bar.bottom - bar.top).toBeLessThan(64);
  const [name, length] = [await measure(library, ".name-text"), await measure(library, ".length-cell")];
  expect(length.left).toBeCloseTo(name.left, 0);
});

test("a phone shows the whole state of edits without a network, Enter chooses a take, and the timeline does not scroll", async () => {
  expectFailures(0);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user, { viewport: PHONE.viewport });
  const { right, bottom } = await measure(page, ".timeline-canvas");
  await page.mouse.move(right - 20, bottom - 10);
  await page.mouse.wheel(40, 0);
  await page.getByRole("tab", { name: "Takes" }).click();
  const other = page.getByRole("radio", { checked: false }).first();
  const label = await other.getAttribute("aria-label");
  await other.focus();
  await page.keyboard.press("Enter");
  await until("the take", () => page.getByRole("radio", { name: label! }).first().isChecked());
  await page.getByRole("tab", { name: "Transcript" }).click();
  expect(await page.getByRole("button", { name: "Follow", exact: true }).count()).toBe(0);

  await page.context().setOffline(true);
  await page.getByRole("group", { name: "Words", exact: true }).focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  const state = page.locator(".save-state");
  await state.getByText("here", { exact: true }).waitFor();
  expect(await state.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
});
