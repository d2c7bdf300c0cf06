/** A real browser: corrections of words, and the words that they add to the vocabulary of a project. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { address, browse, open, server } = useDashboard();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
/** Returns where the button is in the field, which may still move into place. */
const readTop = (page: Page) => button(page, "Cancel").evaluate((element) => (element as HTMLElement).offsetTop);
const feedback = (page: Page, text: string | RegExp) => page.locator(".feedback").getByText(text).waitFor();

test("a correction is added to the vocabulary unless a common word became another one", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.reviewCutId}`, user);
  await button(page, "Save").waitFor();
  const paragraph = page.getByRole("group", { name: "Words" }).locator("p").first();
  await paragraph.dblclick({ position: { x: 90, y: 15 } });
  await page.getByRole("group", { name: "Selected text" }).getByRole("button", { name: "Correct" }).click();
  // The buttons stay in place when the refusal is shown.
  const field = page.getByLabel("Corrected text");
  const add = page.getByRole("checkbox", { name: "Add to the vocabulary of this project" });
  const hint = page.getByRole("form", { name: "Correct words" }).getByRole("status");
  const refusal = "“alpha” is too common for the vocabulary. Only this cut is corrected.";
  const correct = async (text: string, message: string) => {
    await field.fill(text);
    await add.check();
    await field.press("Enter");
    await feedback(page, message);
  };
  const top = await readTop(page);
  await add.check();
  for (const [text, shown] of [
    ["Alfa", refusal],
    ["Alpha", "The audio stays as it is."],
  ] as const) {
    await field.fill(text);
    await hint.getByText(shown).waitFor();
    expect(await readTop(page)).toBe(top);
  }
  await page.getByRole("checkbox", { name: "Everywhere, 2 times" }).check();
  await correct("Alfa", refusal);
  await page.keyboard.press("F2");
  await correct("ALPHA", "“ALPHA” was added to the project's vocabulary.");
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("F2");
  await page.getByText("Recognized: bravo").waitFor();
  await correct("Bravissimo", "“Bravissimo” was added to the project's vocabulary.");
  const corrected = await page.getByRole("group", { name: "Words" }).textContent();
  expect(corrected?.match(/Alfa|ALPHA/g)?.sort()).toEqual(["ALPHA", "Alfa"]);
  const { project_id } = await user.must<{ project_id: string }>("GET", `/v1/assets/${asset.id}`);
  expect(await user.must<object>("GET", `/api/v1/vocabulary?project_id=${project_id}`)).toEqual({
    entries: [
      { text: "ALPHA", spoken_as: ["alpha"] },
      { text: "Bravissimo", spoken_as: ["bravo"] },
    ],
    revision: 2,
  });
});

test("selected words are explained in the first cut of an open page, and keys give the focus back to the text", async () => {
  const user = await server().user();
  const { id } = await user.ready(await wav(26));
  const page = await open(`/assets/${id}`, user);
  await button(page, "Make cut").click();
  await button(page, "Save").waitFor();
  const words = page.getByRole("group", { name: "Words", exact: true });
  const details = page.getByRole("group", { name: "Selected text" });
  const { x, y } = (await words.getByText("alpha").first().boundingBox())!;
  await page.mouse.move(x + 72, y + 16);
  await page.mouse.down();
  await page.mouse.move(x + 160, y + 16, { steps: 4 });
  expect(await details.count()).toBe(0);
  await page.mouse.up();
  await details.waitFor();
  await words.focus();
  await page.keyboard.press("Escape");
  await details.waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  for (let press = 0; press < 2; press++) await page.keyboard.press("Shift+ArrowRight");
  await details.waitFor();
  await details.getByRole("button", { name: "Correct" }).focus();
  await page.keyboard.press("Backspace");
  await details.waitFor({ state: "hidden" });
  await until("the focus in the text", () => words.evaluate((element) => element === document.activeElement));
});

test("details of selected words stay closed when a key removes the words, or Escape closes those before, at once", async () => {
  const user = await server().user();
  const { id, takesCutId } = await createStudioAsset(user);
  const page = await open(`/assets/${id}?cut=${takesCutId}`, user);
  const words = page.getByRole("group", { name: "Words", exact: true });
  await words.getByText("alpha").first().waitFor();
  await words.focus();
  const details = page.getByRole("group", { name: "Selected text" });
  /** Selects one more word, and presses a key before the next frame, after which details open. */
  const extendAndPress = (key: string) =>
    words.evaluate(async (element, key) => {
      for (const init of [{ key: "ArrowRight", shiftKey: true }, { key }])
        element.dispatchEvent(new KeyboardEvent("keydown", { ...init, bubbles: true, cancelable: true }));
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    }, key);
  await page.keyboard.press("Shift+ArrowRight");
  // The selected word is removed. The next key also selects a word that is kept.
  await details.waitFor();
  await extendAndPress("Delete");
  await page.getByText("1 word removed").waitFor();
  expect(await details.count()).toBe(0);
  await page.keyboard.press("Shift+ArrowRight");
  await details.waitFor();
  await extendAndPress("Escape");
  expect(await details.count()).toBe(0);
});

test("all words of a phone's page are selected and corrected where they are read", async () => {
  const user = await server().user();
  const { id } = await user.ready(await wav(300));
  const cut = await user.cutEnded((await user.startCut({ asset_id: id, options: { remove_retakes: false } })).id);
  const page = await open(`/assets/${id}?cut=${cut.id}`, user, { viewport: { width: 390, height: 844 } });
  const words = page.getByRole("group", { name: "Words", exact: true });
  await words.getByText("bravo").first().waitFor();
  await words.focus();
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  await page.keyboard.press("Control+a");
  await page.getByRole("group", { name: "Selected text" }).waitFor();
  expect(await page.evaluate(() => scrollY)).toBeLessThan(844);
  await page.keyboard.press("F2");
  const field = (await page.getByRole("form", { name: "Correct words" }).boundingBox())!;
  expect([field.y > 0, field.y + field.height <= 844]).toEqual([true, true]);
});

test("the key for the next word that may be misheard opens the transcript and selects the word", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await (await browse(user)).newPage();
  const words = await user.must<{ text: string[] }>("GET", `/api/v1/assets/${asset.id}/transcript`);
  const confidence = words.text.map(() => 20);
  await page.route("**/transcript", (route) => route.fulfill({ json: { ...words, confidence } }));
  await page.goto(address(`/assets/${asset.id}?cut=${asset.reviewCutId}`));
  await page.getByRole("tab", { name: "Takes" }).click();
  await page.locator(".of-takes").waitFor();
  await page.keyboard.press("Alt+n");
  await page.getByRole("tab", { name: "Transcript", selected: true }).waitFor();
  const readSelected = () => page.evaluate(() => document.getSelection()?.toString() ?? "");
  await until("a kept word", async () => words.text.includes(await readSelected()));
  expect(await page.evaluate(() => document.getSelection()?.anchorNode?.parentElement?.closest("s"))).toBeNull();
});
