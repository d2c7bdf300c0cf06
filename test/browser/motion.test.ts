/** A real browser: changes that are shown gradually, and at once for users who prefer less motion. */
import { expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { expectFailures, open, server } = useDashboard();

type Shown = { lengths: string[]; flags: string[] };

/** Records in the page which lengths of the cut and which places of the flag the frames show. */
function watchFrames(): void {
  const shown: Shown = { lengths: [], flags: [] };
  Object.assign(window, { shown });
  const add = (list: string[], text: string) => {
    if (list.at(-1) !== text) list.push(text);
  };
  const read = () => {
    add(shown.lengths, document.querySelector(".result-times strong")?.textContent ?? "");
    add(shown.flags, document.querySelector<HTMLElement>(".timeline-flag")?.style.transform ?? "");
    requestAnimationFrame(read);
  };
  read();
}

/** Removes the first eight seconds with removed spans collapsed, and returns what the frames have shown. */
async function removeStart(options: BrowserContextOptions): Promise<Shown> {
  // A busy server may refuse playback that is stopped immediately.
  expectFailures(503);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page: Page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user, {
    viewport: { width: 1360, height: 850 },
    ...options,
  });
  await page.locator(".transport .play-button:enabled").waitFor();
  await page.getByLabel("Collapse removed").check();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press("Shift+Z", "Home", "i", ...Array<string>(8).fill("Shift+ArrowRight"), "o");
  await press(...Array<string>(6).fill("Shift+ArrowRight"));
  await page.locator(".timeline-flag[aria-valuenow='14']").waitFor();
  await page.evaluate(watchFrames);
  await press("Delete");
  await page
    .locator(".feedback")
    .getByText(/^Marked range removed/)
    .waitFor();
  const read = () => page.evaluate(() => (window as unknown as { shown: Shown }).shown);
  await until("the new length", async () => (await read()).lengths.length > 1);
  // Time enough for the motion to end.
  await page.evaluate(async () => {
    for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame);
  });
  return read();
}

test("digits and collapsing spans move in a few frames", async () => {
  const { lengths, flags } = await removeStart({});
  expect(lengths.length).toBeGreaterThan(2);
  expect(flags.length).toBeGreaterThan(1);
});

test("with less motion, both change at once", async () => {
  const { lengths, flags } = await removeStart({ reducedMotion: "reduce" });
  expect(lengths).toHaveLength(2);
  expect(flags.length).toBeLessThanOrEqual(2);
});
