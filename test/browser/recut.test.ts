/** A real browser: versions that are opened while another cut is requested. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { open, server } = useDashboard();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a re-cut takes over the history of the version that it is made from, and of no other one", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  const undo = page.locator(".work-bar").getByTitle(/^Undo: /);
  const recut = async (mode: string) => {
    await page.getByRole("tab", { name: "Script", exact: true }).click();
    await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: mode }).click();
    await button(page, "Re-cut (keeps your edits)").click();
  };
  await button(page, "Save").waitFor();
  await recut("Loose");
  await button(page, "Cut Loose").waitFor();
  await undo.waitFor();

  // Whoever opens another version meanwhile does not undo into the re-cut.
  const held = Promise.withResolvers<void>();
  await page.route("**/api/v1/cuts", async (route) => {
    if (route.request().method() === "POST") await held.promise;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/v1/cuts"));
  const made = page.waitForResponse((response) => response.request().method() === "POST" && response.status() < 300);
  await recut("Tight");
  await asked;
  const kept = page.url();
  await button(page, "Cut Loose").click();
  await page
    .getByRole("menuitemradio")
    .getByText(/^Natural/)
    .last()
    .click();
  await page.waitForURL((url) => url.href !== kept);
  await button(page, "Cut Loose").waitFor({ state: "detached" });
  held.resolve();
  const { id } = (await (await made).json()) as { id: string };
  await page.waitForURL((url) => url.search.includes(id));
  await page.locator(`[data-cut="${id}"]`).waitFor();
  await until(
    "the re-cut",
    async () => (await user.must<{ state: string }>("GET", `/api/v1/cuts/${id}`)).state === "completed",
  );
  await page.getByRole("group", { name: "Words" }).locator("s").first().waitFor();
  expect(await undo.count()).toBe(0);
});
