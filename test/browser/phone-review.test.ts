/** A real browser: a review on a phone. */
import { expect, test } from "bun:test";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";
import { createFinger, pinch } from "./touch";

const { expectFailures, open, server } = useDashboard();
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test("a part that is selected during a review has its tools on a phone", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.reviewCutId}`, user, PHONE);
  await page.getByRole("button", { name: "Undo", exact: true }).first().waitFor();
  await page.keyboard.press("n");
  await page.locator(".review-card").waitFor();
  const tools = page.getByRole("group", { name: "Selection" });
  expect(await tools.count()).toBe(0);
  await page.keyboard.press("i");
  await tools.getByRole("button", { name: "Remove" }).waitFor();
  await tools.getByRole("button", { name: "Clear the selection" }).tap();
  await page.getByRole("button", { name: "Undo", exact: true }).first().waitFor();
  await page.locator(".review-card").waitFor();
});

test("a swipe decides about a place on a phone, and two fingers zoom the timeline", async () => {
  expectFailures(503);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.reviewCutId}`, user, PHONE);
  await page
    .locator(".dock")
    .getByRole("button", { name: /^Review/ })
    .tap();
  const card = page.locator(".review-card");
  const checked = page.getByRole("heading", { name: /checked$/ });
  const finger = await createFinger(page);
  const swipe = async (by: number, down = 0) => {
    await card.locator("h3").waitFor();
    const { x, y, width } = (await card.boundingBox())!;
    const from = [x + width / 2, y + 20] as const;
    await finger.down(...from);
    const steps = [0.3, 0.6, 1].map((share) => [from[0] + share * by, from[1] + share * down]);
    await finger.move(...steps);
    const shown = await card.getAttribute("data-swipe");
    await finger.up();
    return shown;
  };
  expect(await checked.textContent()).toMatch(/^0 of \d+ checked$/);
  const first = await card.textContent();
  // Neither a short swipe nor one that scrolls decides.
  expect(await swipe(60)).toBeNull();
  expect(await swipe(20, -60)).toBeNull();
  expect(await card.textContent()).toBe(first!);

  expect(await swipe(150)).toBe("keep");
  await page
    .locator(".feedback")
    .getByText(/ kept$/)
    .waitFor();
  await until("the next card", async () => (await checked.textContent())?.startsWith("1 of"));
  expect(await swipe(-150)).toBe("remove");
  await page
    .locator(".feedback")
    .getByText(/ removed$/)
    .waitFor();
  const stored = () =>
    user.must<{ items: { start: number; state: string }[] }>("GET", `/api/v1/cuts/${asset.reviewCutId}/review`);
  const states = await until("both decisions on the server", async () => {
    const decided = (await stored()).items.filter(({ state }) => state !== "open");
    return decided.length === 2 && decided.map(({ state }) => state);
  });
  expect(states.toSorted()).toEqual(["kept", "removed"]);

  await page.keyboard.press("Escape");
  const canvas = page.getByRole("img", { name: "Audio and removed spans" });
  await canvas.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const { x, y, width, height } = (await canvas.boundingBox())!;
  const overview = page.locator(".timeline-overview");
  expect(await overview.count()).toBe(0);
  await pinch(page, [x + width / 2, y + height - 12], 60, 240);
  await overview.waitFor({ state: "attached" });
  await pinch(page, [x + width / 2, y + height - 12], 300, 30);
  await overview.waitFor({ state: "detached" });
});
