/** A real browser: edits that a re-cut keeps and cannot apply, and those of one that fails. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Cut } from "../http/resources";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";
import { createStudioAsset } from "./studio";

const { open, server } = useDashboard();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a re-cut keeps edits and lists those it cannot apply", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  await button(page, "Save").waitFor();
  await page.getByRole("tab", { name: /^Takes/ }).click();
  await page.getByRole("radio", { name: /^Take \d/, checked: false }).click();
  await page
    .locator(".feedback")
    .getByText(/^Now take \d of 2/)
    .waitFor();
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByLabel("Find words").fill("bravo");
  await page.keyboard.press("Alt+Enter");
  await page
    .locator(".feedback")
    .getByText(/“bravo” removed/)
    .waitFor();

  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await page.getByRole("textbox", { name: "Script" }).fill("Alpha bravo charlie.\n\nAlpha bravo.");
  await button(page, "Re-cut (keeps your edits)").click();
  await page.locator(`.workspace:not([data-cut="${asset.takesCutId}"])`).waitFor();
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  const notes = page.getByRole("region", { name: "Notes on this cut" }).locator(".message.warning");
  await notes.first().waitFor();
  expect(await notes.allTextContents()).toEqual([
    expect.stringMatching(/^Edit not kept: chosen take from [\d.]+ s to [\d.]+ s: the line is not in the new cut: /),
  ]);
  await expectAccessible(page);
  await saveScreenshots(page);
  await page.getByRole("tab", { name: "Transcript" }).click();
  const removed = page.getByRole("group", { name: "Words" }).locator("s");
  await until("the removed words", async () => (await removed.allTextContents()).join(" ").includes("bravo"));
});

test("edits that are saved for a re-cut that fails can still be undone", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  const removed = page.getByRole("group", { name: "Words" }).locator("s");
  await removed.first().waitFor();
  const before = await removed.allTextContents();
  const stored = page.waitForResponse((response) => response.url().endsWith("/draft") && response.ok());
  await page.getByRole("group", { name: "Words" }).focus();
  for (const key of ["Home", "Control+ArrowRight", "Delete"]) await page.keyboard.press(key);
  await stored;
  const undo = page.locator(".work-bar").getByTitle(/^Undo: 1 word restored/);
  await undo.waitFor();
  // The version with the edits is not loaded before the re-cut has failed.
  const isFailed = Promise.withResolvers<void>();
  let saved = "";
  page.on("response", async (response) => {
    if (response.url().endsWith("/edits")) saved = ((await response.json()) as Cut).id;
  });
  await page.route(/\/api\/v1\/cuts\/[^/]+$/, async (route) => {
    const { pathname } = new URL(route.request().url());
    const isMade = saved !== "" && ![saved, asset.takesCutId, asset.reviewCutId].some((id) => pathname.includes(id));
    if (!isMade) {
      if (pathname.includes(saved || "none")) await isFailed.promise;
      return route.continue().catch(() => {});
    }
    const json = await user.must<Cut>("GET", pathname);
    const error = { error_code: "internal_error", error_message: "The server was restarted." };
    await route.fulfill({ json: { ...json, state: "failed", plan: null, ...error } });
    isFailed.resolve();
  });
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Loose" }).click();
  await button(page, "Re-cut (keeps your edits)").click();
  await page.getByRole("alert").getByText("The server was restarted.").waitFor();
  await until("the version with the edits", async () =>
    Boolean(saved && (await page.locator(`[data-cut="${saved}"]`).count()) === 1),
  );
  await undo.click();
  await until("the words before the edit", async () => Bun.deepEquals(await removed.allTextContents(), before));
});
