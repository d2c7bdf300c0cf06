/** A real browser: changes that are shown gradually, and at once for users who prefer less motion. */
import { expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { expectFailures, open, server } = useDashboard();

type Shown = { frames: number; lengths: string[]; flags: string[] };

/**
 * Records in the page which lengths of the cut and which places of the flag the frames show. The clock of its frames
 * runs 20 times slower from now on, so that a busy page shows some frames of each motion.
 */
function watchFrames(): void {
  const shown: Shown = { frames: 0, lengths: [], flags: [] };
  const start = performance.now();
  const toSlow = (time: number) => start + (time - start) / 20;
  const [now, request] = [performance.now.bind(performance), requestAnimationFrame.bind(window)];
  performance.now = () => toSlow(now());
  window.requestAnimationFrame = (run) => request((time) => run(toSlow(time)));
  Object.assign(window, { shown });
  const add = (list: string[], text: string) => {
    if (list.at(-1) !== text) list.push(text);
  };
  const read = () => {
    shown.frames++;
    add(shown.lengths, document.querySelector(".result-times strong")?.textContent ?? "");
    add(shown.flags, document.querySelector<HTMLElement>(".timeline-flag")?.style.transform ?? "");
    requestAnimationFrame(read);
  };
  read();
}

/** Removes 8 s with removed spans collapsed. Returns a function that reads what the frames have shown. */
async function removeStart(options: BrowserContextOptions): Promise<() => Promise<Shown>> {
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
  return () => page.evaluate(() => (window as unknown as { shown: Shown }).shown);
}

test("digits and collapsing spans move in a few frames", async () => {
  const read = await removeStart({});
  await until("frames between the first and the last", async () => {
    const { lengths, flags } = await read();
    return lengths.length > 2 && flags.length > 2;
  });
});

test("with less motion, both change at once", async () => {
  const read = await removeStart({ reducedMotion: "reduce" });
  const { frames } = await until("the new length", async () => {
    const shown = await read();
    return shown.lengths.length > 1 && shown;
  });
  await until("ten more frames", async () => (await read()).frames > frames + 10);
  const { lengths, flags } = await read();
  expect(lengths).toHaveLength(2);
  expect(flags).toHaveLength(2);
});
