/** A real browser: the bell, its newest notifications, and the page of all of them. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { isFullSize } from "../full-size";
import { wav } from "../http/media";
import { sample, send } from "../http/notification-samples";
import { useDashboard, withholdEvents } from "./dashboard";

const { address, browse, open, server, expectFailures } = useDashboard();

const bell = (page: Page, count: number) =>
  page.getByRole("button", { name: count === 0 ? "Notifications" : `Notifications ${count} unread`, exact: true });

test("the bell counts live in all tabs, and a notification read in one is read in the other", async () => {
  expectFailures(404);
  const user = await server().user();
  // The popover covers their tiles.
  for (const name of ["One", "Two", "Three", "Four", "Five", "Six"]) await user.project(name);
  const context = await browse(user);
  const [page, other] = [await context.newPage(), await context.newPage()];
  await page.goto(address("/projects"));
  await other.goto(address("/projects"));
  await bell(page, 0).click();
  await page.getByText("You have no notifications.").waitFor();
  await send(server(), user, sample("pipeline_failed"));
  await send(server(), user, sample("webhook_disabled"));
  await Promise.all([bell(page, 2).waitFor(), bell(other, 2).waitFor()]);
  expect(await page.getByRole("status").filter({ hasText: "2 unread notifications" }).count()).toBe(1);

  await page.getByRole("link", { name: "Render of “talk.mp4” failed" }).click();
  await page.getByRole("heading", { level: 1, name: "Job not found" }).waitFor();
  expect(page.url()).toContain("/jobs/");
  await Promise.all([bell(page, 1).waitFor(), bell(other, 1).waitFor()]);

  await bell(other, 1).click();
  await other.getByRole("button", { name: "Mark all as read" }).click();
  await Promise.all([bell(page, 0).waitFor(), bell(other, 0).waitFor()]);
  await other.keyboard.press("Escape");
  expect(await other.evaluate(() => document.activeElement?.textContent)).toBe("Notifications");
});

test("the popover is the same in the side bar and in the rail of a recording", async () => {
  // A busy server may refuse playback that is stopped immediately.
  expectFailures(404, 503);
  const user = await server().user();
  const { id } = await user.ready(await wav(2));
  await send(server(), user, sample("pipeline_failed"));
  const page = await open("/projects", user);
  const popover = page.getByRole("region", { name: "Newest notifications" });
  for (const path of ["/projects", `/assets/${id}`]) {
    await page.goto(address(path));
    await bell(page, 1).click();
    const left = async (text: string) => (await popover.getByText(text).boundingBox())!.x;
    expect(await left("Render of “talk.mp4” failed")).toBeCloseTo(await left("The render failed."), 0);
    for (const name of ["Mark all as read", "All notifications"])
      expect(await popover.getByText(name).evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  }
});

test("the page lists all types, filters the unread ones and marks them as read", async () => {
  const user = await server().user();
  const page = await open("/notifications", user);
  await page.getByRole("heading", { name: "No notifications" }).waitFor();
  const types = [
    "pipeline_completed",
    "asset_pending_payment",
    "subscription_payment_failed",
    "data_export_ready",
  ] as const;
  for (const type of types) await send(server(), user, sample(type));
  await page.getByRole("link", { name: "Your data export is in progress" }).waitFor();
  const titles = await page.locator(".notification-title a").allTextContents();
  expect(titles).toEqual([
    "Your data export is in progress",
    "The payment for Studio failed",
    "“talk.mp4” is waiting for 3 credits",
    "Cut and render of “talk.mp4” completed",
  ]);
  await page.getByRole("button", { name: "Unread", exact: true }).click();
  await page.getByRole("button", { name: "Mark as read" }).first().click();
  await page.getByRole("link", { name: "Your data export is in progress" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await page.getByRole("heading", { name: "No unread notifications" }).waitFor();
});

test.if(isFullSize)("an error of the list can be tried again", async () => {
  expectFailures(500);
  const page = await open("/projects", await server().user());
  let isBroken = true;
  await page.route("**/api/v1/notifications?**", (route) =>
    isBroken
      ? route.fulfill({ status: 500, json: { detail: "Internal error.", code: "internal_error" } })
      : route.continue(),
  );
  await withholdEvents(page);
  await page.goto(address("/notifications"));
  await page.getByRole("alert").first().waitFor();
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "No notifications" }).waitFor();
});
