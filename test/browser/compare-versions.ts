/** Compares two versions in an open panel: by ear, from a length on, and by restoring the other one. */
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../until";

export async function compareVersions(page: Page): Promise<void> {
  const differences = page.getByRole("list", { name: "Differences" });
  // Inaudible differences of pauses are hidden until they are requested.
  const audible = await differences.getByRole("listitem").count();
  const note = page.getByText(/^\d+ shorter differences? (is|are) hidden\.$/);
  await note.waitFor();
  const hidden = Number.parseInt((await note.textContent())!, 10);
  await page.getByLabel("Show", { exact: true }).selectOption("all");
  await until("all differences", async () => (await differences.getByRole("listitem").count()) === audible + hidden);
  expect(await note.count()).toBe(0);
  // Each difference is played in both cuts, short ones are left out, and the other cut is restored as one edit.
  const count = await differences.getByRole("listitem").count();
  const playsOf = (name: RegExp) => differences.getByRole("button", { name });
  for (const name of [/^Play this cut at/, /^Play the other cut at/]) {
    expect(await playsOf(name).count()).toBe(count);
    await playsOf(name).first().press("Enter");
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  }
  await page.getByLabel("Show", { exact: true }).selectOption("long");
  await until("fewer differences", async () => (await differences.getByRole("listitem").count()) < count);
  await page.getByRole("button", { name: "Restore this version" }).press("Enter");
  await page
    .getByRole("status")
    .getByText(/restored, .* (longer|shorter)/)
    .waitFor();
  await page.getByText("Both cuts keep the same parts.").waitFor();
  await page.keyboard.press("Control+z");
  await until("all differences", async () => {
    await page.getByLabel("Show", { exact: true }).selectOption("all");
    return (await differences.getByRole("listitem").count()) === count;
  });
}
