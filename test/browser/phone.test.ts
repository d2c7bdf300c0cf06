/** A real browser: the editor on a phone. */
import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { wav } from "../http/media";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";
import { createFinger, longPress } from "./touch";

const { expectFailures, open, server } = useDashboard();
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
const feedback = (page: Page, text: string | RegExp) => page.locator(".feedback").getByText(text).waitFor();
/** Waits until this text is selected. */
const untilSelected = (page: Page, text: string) =>
  until(`"${text}" to be selected`, () =>
    page.evaluate((wanted) => [...(CSS.highlights.get("transcript-selected") ?? [])].join("") === wanted, text),
  );

async function expectApart(one: Locator, other: Locator): Promise<void> {
  const [a, b] = [(await one.boundingBox())!, (await other.boundingBox())!];
  const isApart = [a.x + a.width <= b.x, b.x + b.width <= a.x, a.y + a.height <= b.y, b.y + b.height <= a.y];
  expect(isApart).toContain(true);
}

test.each([
  ["a phone", 390, 640],
  ["a phone on its side", 844, 390],
])(
  "details leave their word visible on %s, and the page where it is if the timeline opened them",
  async (_, width, height) => {
    const user = await server().user();
    // More words than the window shows at once.
    const { id } = await user.ready(await wav(300));
    const cut = await user.cutEnded((await user.startCut({ asset_id: id, options: { remove_retakes: false } })).id);
    const phone = { viewport: { width, height }, hasTouch: true, isMobile: true };
    const page = await open(`/assets/${id}?cut=${cut.id}`, user, phone);
    await page.getByLabel("Find words").fill("india");
    await page.keyboard.press("Alt+Enter");
    await feedback(page, /“india” removed/);
    await page.getByLabel("Find words").fill("");
    const words = page.locator(".transcript-text s");
    const details = page.locator(".word-popover");
    await until("all words", async () => (await words.count()) > 9);

    // The page is scrolled already, and the word is the last one above the dock.
    await page.evaluate(() => scrollTo(0, 700));
    const tapLast = async () => {
      const dock = (await page.locator(".dock").boundingBox())!.y;
      const bottoms = await words.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
      const word = words.nth(bottoms.findLastIndex((bottom) => bottom < dock - 8));
      await word.tap();
      await details.getByRole("button", { name: "As cut" }).waitFor();
      return word;
    };
    const expectVisible = (word: Locator) =>
      until("the word above the dock, below what stays and apart from its details", async () => {
        const box = (await word.boundingBox())!;
        const covers = await page
          .locator(".view, .work-bar, .word-popover, .dock")
          .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
        return covers.every(
          ({ left, right, top, bottom }) =>
            box.x + box.width <= left || right <= box.x || box.y + box.height <= top || bottom <= box.y,
        );
      });
    await expectVisible(await tapLast());
    // The same for the next word, while details are open.
    await page.keyboard.press("Escape");
    await page.evaluate(() => scrollTo(0, 900));
    await expectVisible(await tapLast());
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
  },
);

test("where fingers are the pointer, no keys are shown, and the name of the recording has room on a tablet", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const name = "A talk with a longer name";
  await user.must("PATCH", `/api/v1/assets/${asset.id}`, { json: { name } });
  const path = `/assets/${asset.id}?cut=${asset.takesCutId}`;
  for (const [width, height] of [
    [390, 844],
    [820, 1180],
  ] as const) {
    const page = await open(path, user, { viewport: { width, height }, hasTouch: true, isMobile: true });
    await page.locator(".transcript-text s").first().tap();
    await page.locator(".word-popover").waitFor();
    await page.keyboard.press("Escape");
    await button(page, /^Cut /).tap();
    await page.getByRole("menuitem", { name: "Save as new version" }).waitFor();
    const shown = page.locator(".key, kbd").filter({ visible: true });
    expect(await shown.count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    const command = (label: string) => page.getByRole("option", { name: label });
    expect(await command("Find words").textContent()).toBe("Find words");
    expect(await command("Show keyboard shortcuts").count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    if (width === 390) continue;
    const heading = page.getByRole("heading", { level: 1, name });
    expect(await heading.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    for (const label of ["Share", "Export"]) expect((await button(page, label).boundingBox())!.width).toBeLessThan(60);
  }
});

test("a question about edits of two people is seen on a phone wherever the page is scrolled to", async () => {
  expectFailures(0, 409);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const path = `/assets/${asset.id}?cut=${asset.takesCutId}`;
  const page = await open(path, user, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const other = await open(path, user);
  const correct = async (page: Page, text: string) => {
    await page.getByRole("group", { name: "Words" }).focus();
    for (const key of ["Home", "Control+Shift+ArrowRight", "F2"]) await page.keyboard.press(key);
    await page.getByRole("form", { name: "Correct words" }).waitFor();
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await page.locator(".transcript-text").getByText(text).waitFor();
  };
  await page.context().setOffline(true);
  await correct(page, "Mine");
  await correct(other, "Theirs");
  await other.locator(".save-state [data-draft]").waitFor();
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.context().setOffline(false);
  await button(page, "Use the other edits").waitFor();
  const note = (await page.locator(".headline-note").boundingBox())!;
  expect([note.x, note.y, note.width]).toEqual([0, 48, 390]);
  expect(note.height).toBeLessThan(200);
  // Its buttons are not above an open menu.
  await button(page, "More").first().tap();
  const item = page.locator(".work-bar .menu-item").first();
  await item.click({ trial: true });
  await page.keyboard.press("Escape");
  await button(page, "Use the other edits").tap();
  await page.locator(".transcript-text").getByText("Theirs").waitFor();
});

test("feedback and messages fit on a phone, and words are removed by touch", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const page = await open(`/assets/${asset.id}?cut=${asset.reviewCutId}`, user, phone);
  await button(page, "Undo").first().waitFor();
  await page.keyboard.press("Delete");
  await feedback(page, /^Nothing selected/);
  const box = (await page.locator(".feedback").boundingBox())!;
  expect([box.x >= 0, box.width > 200, box.x + box.width <= 390]).toEqual([true, true, true]);

  await longPress(page, "bravo");
  await untilSelected(page, "bravo");
  expect(await page.locator(".context-menu, .word-popover").count()).toBe(0);
  await button(page, "Remove").tap();
  await feedback(page, "1 word removed");
  await expectApart(page.locator(".feedback .toast"), button(page, "Restore"));
  await button(page, "Restore").tap();
  await feedback(page, "1 word restored");
  await page.getByLabel("Find words").fill("bravo");
  await button(page, "Next match").tap();
  await untilSelected(page, "bravo");
  await button(page, "Remove").tap();
  await feedback(page, "1 word removed");
  await page.getByLabel("Find words").fill("");
  await button(page, "Hide removed").waitFor();

  // A finger takes the flag of the playhead below the ruler, too.
  const flag = page.getByRole("slider", { name: "Playhead" });
  await flag.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await flag.boundingBox())!;
  expect(height).toBe(44);
  const before = Number(await flag.getAttribute("aria-valuenow"));
  const finger = await createFinger(page);
  await finger.down(x + width / 2, y + 40);
  await finger.move([x + width / 2 + 40, y + 40], [x + width / 2 + 160, y + 40]);
  await finger.up();
  await until("the playhead to follow", async () => Number(await flag.getAttribute("aria-valuenow")) > before + 5);

  // Beside its middle too, it moves with the finger, and not before.
  const place = async () => (await flag.boundingBox())!.x;
  const from = await place();
  await finger.down(from + width / 2 + 30, y + 40);
  await finger.move([from + width / 2 + 32, y + 40]);
  expect(await place()).toBeCloseTo(from, 0);
  await finger.move([from + width / 2 + 60, y + 40], [from + width / 2 + 80, y + 40]);
  await finger.up();
  await until("the playhead to move as far as the finger", async () => Math.abs((await place()) - from - 50) < 3);

  // The field for a correction is at the word, where a keyboard on the screen leaves it.
  await longPress(page, "echo");
  await untilSelected(page, "echo");
  await page.keyboard.press("F2");
  const field = page.getByRole("form", { name: "Correct words" });
  const distance = () =>
    field.evaluate((form) => {
      const [range] = CSS.highlights.get("transcript-selected")!;
      return form.getBoundingClientRect().top - (range as Range).getBoundingClientRect().bottom;
    });
  expect(await distance()).toBeWithin(0, 12);
  const form = (await field.boundingBox())!;
  expect([form.y > 48, form.y + form.height <= 844 - 64]).toEqual([true, true]);
});

test.each([
  ["a phone", 390, 844],
  ["a tablet", 820, 1180],
])("a part of the timeline is selected, removed and trimmed by touch on %s", async (_, width, height) => {
  const user = await server().user();
  const { id } = await user.ready(await wav(26));
  const cut = await user.cutEnded((await user.startCut({ asset_id: id, options: { mode: "manual" } })).id);
  const screen = { viewport: { width, height }, hasTouch: true, isMobile: true };
  const page = await open(`/assets/${id}?cut=${cut.id}`, user, screen);
  const tools = page.getByRole("group", { name: "Selection" });
  const canvas = page.getByRole("img", { name: "Audio and removed spans" });
  const measure = async () => {
    const box = (await canvas.boundingBox())!;
    return [box.y + box.height - 12, box.x + width] as const;
  };
  let [y, end] = await measure();
  const finger = await createFinger(page);
  await page.locator(".transcript-text").getByText("alpha").first().waitFor();

  // The selection starts where the finger rests, and follows it.
  await finger.down(end - 160, y);
  await tools.waitFor();
  const length = page.locator(".selection-length").filter({ visible: true });
  const shortest = await length.textContent();
  await finger.move([end - 130, y + 8], [end - 100, y + 30]);
  await until("a longer selection", async () => (await length.textContent()) !== shortest);
  await finger.up();
  const selected = await length.textContent();
  await tools.getByRole("button", { name: "Remove" }).tap();
  await feedback(page, /^Marked range removed/);
  await expectApart(page.locator(".feedback .toast"), tools);
  await expectAccessible(page);

  // The row of reasons has appeared above it.
  [y, end] = await measure();

  // Its grip moves the edge, which is selected instead of the range.
  await finger.down(end - 92, y);
  await finger.move([end - 80, y], [end - 60, y]);
  await finger.up();
  await until("another selection", async () => (await length.textContent()) !== selected);
  await tools.getByRole("button", { name: "Edge back one frame" }).waitFor();
  expect(await tools.getByRole("button", { name: "Restore" }).count()).toBe(0);

  // Another selection has its own tools.
  await finger.down(end - 240, y);
  await tools.getByRole("button", { name: "Remove" }).waitFor();
  await finger.up();
  expect(await tools.getByRole("button", { name: "Edge back one frame" }).count()).toBe(0);
  await tools.getByRole("button", { name: "Clear the selection" }).tap();
  await tools.waitFor({ state: "detached" });

  // A swipe selects nothing and moves no edge.
  await Promise.all([finger.down(end - 100, y), finger.move([end - 110, y], [end - 140, y])]);
  await finger.up();
  expect(await tools.count()).toBe(0);

  // A removed span is selected as a whole, and its edges then move.
  await finger.down(end - 130, y);
  await tools.getByRole("button", { name: "Restore" }).waitFor();
  await finger.up();
  await finger.down(end - 92, y);
  await finger.move([end - 84, y], [end - 60, y]);
  await finger.up();
  await feedback(page, /^Edge moved to/);
  const edge = await length.textContent();
  await tools.getByRole("button", { name: "Edge back one frame" }).tap();
  await until("the edge to move by a frame", async () => (await length.textContent()) !== edge);
});

test("details on a phone close when the timeline selects something else", async () => {
  const user = await server().user();
  const { id } = await user.ready(await wav(26));
  const cut = await user.cutEnded((await user.startCut({ asset_id: id, options: { mode: "manual" } })).id);
  const screen = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const page = await open(`/assets/${id}?cut=${cut.id}`, user, screen);
  const tools = page.getByRole("group", { name: "Selection" });
  await page.getByLabel("Find words").fill("alpha");
  await page.keyboard.press("Alt+Enter");
  await feedback(page, /“alpha” removed/);
  await page.getByLabel("Find words").fill("");
  await page.locator(".transcript-text s").first().tap();
  const details = page.locator(".word-popover");
  await details.getByRole("button", { name: "As cut" }).waitFor();

  const canvas = page.getByRole("img", { name: "Audio and removed spans" });
  await canvas.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const box = (await canvas.boundingBox())!;
  const finger = await createFinger(page);
  await finger.down(box.x + box.width - 60, box.y + box.height - 12);
  await details.waitFor({ state: "detached" });
  await finger.up();
  const clear = tools.getByRole("button", { name: "Clear the selection" });
  await clear.waitFor();

  // The focus stays among the controls that take each other's place.
  const untilFocused = (selector: string) =>
    until(`the focus in ${selector}`, () =>
      page.evaluate((wanted) => document.activeElement?.closest(wanted) != null, selector),
    );
  await clear.focus();
  await page.keyboard.press("Enter");
  await tools.waitFor({ state: "detached" });
  await untilFocused(".dock");
  await button(page, "Undo").last().focus();
  await page.keyboard.press("i");
  await untilFocused(".dock .selection-tools");
});
