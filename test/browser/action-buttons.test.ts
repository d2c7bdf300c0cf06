/** A real browser: the buttons of the editor are actions of the registry, which Ctrl+K lists too. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { openStudio } from "./studio";

const dashboard = useDashboard();

/** Performs a command that Ctrl+K finds. */
async function command(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill(text);
  const option = page.getByRole("option").filter({ has: page.getByText(text, { exact: true }) });
  await option.click();
}

test("buttons name their keys, answer in the same words, and have a command", async () => {
  const page = await openStudio(dashboard);
  const title = (name: string) => page.getByRole("button", { name, exact: true }).first().getAttribute("title");
  expect(await title("Save")).toBe("Save (Ctrl + S)");
  expect(await title("Hide removed")).toBe("Hide removed (H)");
  expect(await title("Zoom in")).toBe("Zoom in (=)");
  expect(await page.locator(".transport .segments").getAttribute("title")).toBe("Cut or source (C)");
  const says = (text: string) => page.locator(".feedback").getByText(text).waitFor();

  await page.getByRole("button", { name: "Hide removed" }).click();
  await says("Removed words are hidden");
  await command(page, "Hide or show removed words");
  await says("Removed words are shown");
  await page.locator(".transport").getByRole("button", { name: "Source" }).click();
  await says("Playing the source");

  await command(page, "Show all pauses in the text, or only removed ones");
  await page.getByRole("button", { name: "All pauses", pressed: true }).waitFor();
  for (const name of ["Render", "Export"]) {
    await command(page, name);
    await page.getByRole("dialog").getByRole("heading", { name }).waitFor();
    await page.keyboard.press("Escape");
    await until("the closed dialog", async () => (await page.getByRole("dialog").count()) === 0);
  }
});

test("buttons in the details of words do the same as their keys", async () => {
  const page = await openStudio(dashboard);
  const struck = page.locator(".transcript-text s");
  const before = await struck.count();
  await struck.first().click();
  const details = page.getByRole("group", { name: "Removed words" });
  const restore = details.getByRole("button", { name: "Restore ⌫" });
  expect(await restore.getAttribute("title")).toBe("Restore (⌫)");
  await restore.click();
  await until("the restored words", async () => (await struck.count()) < before);
  expect(await details.count()).toBe(0);
  await page.getByRole("button", { name: /^Undo/ }).first().click();
  await until("the removed words", async () => (await struck.count()) === before);
});
